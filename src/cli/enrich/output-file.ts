import { constants, open, type Stats } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { devNull } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../../node/file-state.ts'
import { CommandFailure, directoryError, ExitStatus, type Terminal, unwritable } from '../terminal.ts'
import { checkOpen, descriptorStatus, resolveLinks, STANDARD_ERROR } from './descriptors.ts'
import { compressionOf, compressor } from './file-forms.ts'
import { type Input, identityOf } from './input.ts'
import { CompressedOutput, DescriptorOutput, type Output, StreamOutput } from './output.ts'

/** Opens a descriptor. A `FileHandle` would be closed when it is garbage-collected. */
const openAsync = promisify(open)

const STANDARD_OUTPUT = 1

/** Windows' null device, which has this name in every folder. `stat` and `access` do not know the name. */
const WINDOWS_NULL = /^(?:\\\\[.?]\\)?nul$/i

/** Settings for opening an output. */
export interface OutputContext {
  readonly terminal: Terminal
  readonly inputs?: readonly Input[]
  /** Other files that the run reads, such as databases. No output can replace one, or an input. Default: none. */
  readonly reads?: readonly string[]
  /** The files and descriptors that the run writes already. Default: none. */
  readonly targets?: Set<string | number>
  /** Tells the user something that is not an error. */
  readonly note: (text: string) => void
  /** Stops waiting for the reader of a named pipe, and destroys its stream. */
  readonly signal: AbortSignal
}

/**
 * Opens a path for writing. `.gz` and `.zst` are compressed. A file gets its name when it is finished. The path of an open descriptor, such as `/dev/stdout`, writes to that descriptor.
 *
 * @throws CommandFailure when it cannot be written, or the run reads or writes that file already
 */
export async function openOutputFile(path: string, context: OutputContext): Promise<Output> {
  const compression = compressionOf(path)
  const transform = compression === null ? null : compressor(compression, path)
  const target = await openTarget(path, context)
  return transform === null ? target : new CompressedOutput(transform, target, path)
}

/**
 * Checks an output before the work, without opening it.
 *
 * @param reads the files that the work reads
 * @throws CommandFailure when it cannot be written, or is one of these files
 */
export async function checkOutputFile(path: string, reads: readonly string[]): Promise<void> {
  const compression = compressionOf(path)
  if (compression !== null) compressor(compression, path).destroy()
  const target = await targetOf(path).catch((cause) => {
    throw unwritable(path, cause)
  })
  if (typeof target !== 'number') await refuseRead(path, target.status, { reads })
}

/** @throws CommandFailure when standard output is one of the inputs: reading it would never end */
export function openStandardOutput(context: OutputContext): Promise<Output> {
  return openDescriptor(STANDARD_OUTPUT, 'standard output', context)
}

async function openTarget(path: string, context: OutputContext): Promise<Output> {
  try {
    const target = await targetOf(path)
    const written = typeof target === 'number' ? target : await pathOf(target.file)
    if (context.targets?.has(written)) throw refused(path, 'this run writes already')
    // Two outputs can be discarded: /dev/null is a device.
    if (typeof target === 'number' || !target.status?.isCharacterDevice()) context.targets?.add(written)
    if (typeof target === 'number') return await openDescriptor(target, path, context)
    const { file, status } = target
    if (status === null || status.isFile()) {
      await refuseRead(path, status, context)
      const { AtomicFile, removeLeftovers } = await import('./atomic-file.ts')
      for (const note of removeLeftovers(file)) context.note(note)
      return new AtomicFile(file, status)
    }
    // Pipes and devices are written to, not replaced.
    if (status.isFIFO()) {
      const { openPipeToWrite } = await import('./pipe-stream.ts')
      return new StreamOutput(await openPipeToWrite(file, context.signal), path, true)
    }
    return new DescriptorOutput(await openAsync(file, 'w'), path)
  } catch (cause) {
    throw cause instanceof CommandFailure ? cause : unwritable(path, cause)
  }
}

/**
 * The open descriptor that a path leads to, or a file and its status, `null` if it does not exist.
 *
 * @throws Error when it cannot be written
 */
async function targetOf(path: string): Promise<number | { file: string; status: Stats | null }> {
  if (process.platform === 'win32' && WINDOWS_NULL.test(path)) return openAsync(devNull, 'w')
  const file = await resolveLinks(path)
  if (typeof file === 'number') return file
  const status = await stat(file).catch((error) => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  if (status === null ? path.endsWith('/') || path.endsWith(sep) : status.isDirectory())
    throw directoryError()
  // A rename would replace a write-protected file without an error.
  if (status !== null) await access(file, constants.W_OK)
  // The temporary file is in the same folder.
  if (status === null || status.isFile()) await access(dirname(file), constants.W_OK)
  return { file, status }
}

/** Opens a descriptor that is open already: for standard output and standard error, the streams of the process. */
async function openDescriptor(target: number, name: string, context: OutputContext): Promise<Output> {
  const { stdout, stderr } = context.terminal
  const stream = target === STANDARD_OUTPUT ? stdout : target === STANDARD_ERROR ? stderr : null
  const usual = (): Output =>
    stream === null ? new DescriptorOutput(target, name) : new StreamOutput(stream, name)
  const fd = stream === null ? target : stream.isTTY ? undefined : stream.fd
  if (fd === undefined) return usual()
  try {
    // A stream of the process has a standard descriptor. Other streams are open.
    if (stream === null || fd <= STANDARD_ERROR)
      checkOpen(fd, 'write > FILE, or to discard what is written > /dev/null')
  } catch (cause) {
    throw unwritable(name, cause)
  }
  const status = descriptorStatus(fd)
  if (status === null) return usual()
  await refuseRead(name, status, context)
  if (!status.isFIFO() && !status.isSocket()) return new DescriptorOutput(fd, name)
  if (stream !== null) return usual()
  const { pipeWriter } = await import('./pipe-stream.ts')
  return new StreamOutput(pipeWriter(fd, context.signal), name, true)
}

/** The same text for all paths of a file, which need not exist, but for other names of the file itself. */
async function pathOf(file: string): Promise<string> {
  return join(await realpath(dirname(file)), basename(file))
}

/** @throws CommandFailure when the run reads the file that it would write: a database, or an input, by any of its names */
async function refuseRead(
  path: string,
  status: Stats | null,
  { inputs = [], reads = [] }: Pick<OutputContext, 'inputs' | 'reads'>,
): Promise<void> {
  if (!status?.isFile()) return
  const found = await Promise.all(reads.map((each) => stat(each).catch(() => null)))
  const read = [...inputs.map(({ identity }) => identity), ...found.map((each) => each && identityOf(each))]
  if (read.includes(identityOf(status))) throw refused(path, 'this run reads')
}

function refused(path: string, why: string): CommandFailure {
  return new CommandFailure(`${path} is a file that ${why}: write to another file`, ExitStatus.output)
}
