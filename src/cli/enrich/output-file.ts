import { constants, fstatSync, open, type Stats } from 'node:fs'
import { access, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { CommandFailure, ExitStatus, type Terminal } from '../terminal.ts'
import { compressionOf, compressor } from './compression.ts'
import { type Input, identityOf } from './input.ts'
import { AtomicFile, CompressedOutput, DescriptorOutput, type Output, StreamOutput } from './output.ts'
import { codeOf, directoryError, unwritable } from './system-error.ts'

/** Opens a descriptor. A `FileHandle` would be closed when it is garbage-collected. */
const openAsync = promisify(open)

const STANDARD_OUTPUT = 1
const STANDARD_ERROR = 2

/** What opening an output depends on. */
export interface OutputContext {
  readonly terminal: Terminal
  /** An output can replace one of these files, but not write into it. */
  readonly inputs: readonly Input[]
  /** Stops waiting for the reader of a named pipe, and destroys its stream. */
  readonly signal: AbortSignal
}

/**
 * Opens a path for writing. `.gz` and `.zst` are compressed. A file gets its name when it is finished, so it can be
 * one of the inputs. The path of an open descriptor, such as `/dev/stdout`, writes to that descriptor.
 *
 * @throws CommandFailure when it cannot be written
 */
export async function openOutputFile(path: string, context: OutputContext): Promise<Output> {
  const compression = compressionOf(path)
  const transform = compression === null ? null : compressor(compression, path)
  const target = await openTarget(path, context)
  return transform === null ? target : new CompressedOutput(transform, target, path)
}

/** @throws CommandFailure when standard output is one of the inputs: reading it would never end */
export function openStandardOutput(context: OutputContext): Promise<Output> {
  const { stdout } = context.terminal
  return openStream(stdout, 'standard output', context)
}

async function openTarget(path: string, context: OutputContext): Promise<Output> {
  const { terminal, signal } = context
  try {
    const target = await resolveOutput(path)
    if (target === STANDARD_OUTPUT) return await openStream(terminal.stdout, path, context)
    if (target === STANDARD_ERROR) return await openStream(terminal.stderr, path, context)
    if (typeof target === 'number') return await openDescriptor(target, path, null, context)
    const status = await statusOf(target)
    if (status === null && !path.endsWith('/')) return new AtomicFile(target)
    if (status === null || status.isDirectory()) throw directoryError()
    // A rename would replace a write-protected file without an error.
    await access(target, constants.W_OK)
    if (status.isFile()) return new AtomicFile(target, status)
    // Pipes and devices are written to, not replaced.
    if (status.isFIFO()) {
      const { openPipeToWrite } = await import('./pipe-stream.ts')
      return new StreamOutput(await openPipeToWrite(target, signal), path, true)
    }
    return new DescriptorOutput(await openAsync(target, 'w'), path)
  } catch (cause) {
    throw cause instanceof CommandFailure ? cause : unwritable(path, cause)
  }
}

async function openStream(
  stream: Writable & { readonly isTTY?: boolean; readonly fd?: number },
  name: string,
  context: OutputContext,
): Promise<Output> {
  const { fd } = stream
  if (fd === undefined || stream.isTTY) return new StreamOutput(stream, name)
  return openDescriptor(fd, name, stream, context)
}

/** @param stream the process's stream for the descriptor, or `null` */
async function openDescriptor(
  fd: number,
  name: string,
  stream: Writable | null,
  { inputs, signal }: OutputContext,
): Promise<Output> {
  const status = fstatSync(fd)
  const same = status.isFile() ? inputs.find(({ identity }) => identity === identityOf(status)) : undefined
  if (same !== undefined) {
    throw new CommandFailure(
      `${same.name} is both input and output: use -o ${same.name}, which replaces the file at the end`,
      ExitStatus.output,
    )
  }
  if (!status.isFIFO() && !status.isSocket()) return new DescriptorOutput(fd, name)
  if (stream !== null) return new StreamOutput(stream, name)
  const { pipeWriter } = await import('./pipe-stream.ts')
  return new StreamOutput(pipeWriter(fd, signal), name, true)
}

/** @returns `null` when the path does not exist */
async function statusOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** The most symbolic links that are followed, as in Linux. */
const MAX_LINKS = 40

const STANDARD_DESCRIPTORS: Readonly<Record<string, number>> = {
  '/dev/stdin': 0,
  '/dev/stdout': 1,
  '/dev/stderr': 2,
}

/** Paths of the process's open descriptors. */
const DESCRIPTOR_PATH = new RegExp(`^(?:/dev/fd|/proc/(?:self|thread-self|${process.pid})/fd)/(\\d{1,9})$`)

/**
 * Resolves the symbolic links of a path, which need not exist yet. Stops at the path of a descriptor: it links to
 * the descriptor's file, which must not be replaced while other processes write to it.
 *
 * @returns the descriptor's number, or a path that is not a link
 * @throws Error with the code `ELOOP` when the links form a cycle
 */
export async function resolveOutput(name: string): Promise<number | string> {
  let path = name
  for (let links = 0; links <= MAX_LINKS; links++) {
    const absolute = resolve(path)
    const descriptor = STANDARD_DESCRIPTORS[absolute] ?? DESCRIPTOR_PATH.exec(absolute)?.[1]
    if (descriptor !== undefined) return Number(descriptor)
    const link = await linkAt(path)
    if (link === null) return path
    // A relative link starts at the real folder of the link.
    path = isAbsolute(link) ? link : `${await realpath(dirname(path))}/${link}`
  }
  throw Object.assign(new Error('the symbolic links form a cycle'), { code: 'ELOOP' })
}

/** @returns `null` when the path is not a link, or cannot be read */
async function linkAt(path: string): Promise<string | null> {
  try {
    return await readlink(path)
  } catch {
    return null
  }
}
