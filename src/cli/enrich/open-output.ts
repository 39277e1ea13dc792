import { constants, fstatSync, open, type Stats } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { CommandFailure, ExitStatus, type Terminal } from '../terminal.ts'
import { CompressedOutput } from './compressed-output.ts'
import { compressionOf, compressor } from './compression.ts'
import { DescriptorOutput } from './descriptor-output.ts'
import { type Input, identityOf } from './input.ts'
import type { Output } from './output.ts'
import { outputTarget } from './output-target.ts'
import { PartialFile } from './partial-file.ts'
import { StreamOutput } from './stream-output.ts'
import { codeOf, directoryError, unwritable } from './system-error.ts'

/** A descriptor, not a `FileHandle`, which closes itself when nobody holds it. */
const openIt = promisify(open)

const STANDARD_OUTPUT = 1
const STANDARD_ERROR = 2

/** What outputs are opened among. */
export interface Surroundings {
  readonly terminal: Terminal
  /** A file among them can be replaced, and not be written into. */
  readonly inputs: readonly Input[]
  /** Ends the wait for the reader of a named pipe. */
  readonly signal: AbortSignal
}

/**
 * Opens what has a name for writing; `.gz` and `.zst` are compressed. A file gets its name when it is finished, so it
 * may be one of the inputs. A name of an open descriptor, such as `/dev/stdout`, is that descriptor.
 *
 * @throws CommandFailure when it cannot be written
 */
export async function openOutputFile(path: string, surroundings: Surroundings): Promise<Output> {
  const compression = compressionOf(path)
  const transform = compression === null ? null : compressor(compression, path)
  const target = await openTarget(path, surroundings)
  return transform === null ? target : new CompressedOutput(transform, target, path)
}

/** @throws CommandFailure when standard output is one of the inputs, which would never end */
export function openStandardOutput(surroundings: Surroundings): Promise<Output> {
  const { stdout } = surroundings.terminal
  return openStream(stdout, 'standard output', surroundings)
}

async function openTarget(path: string, surroundings: Surroundings): Promise<Output> {
  const { terminal, signal } = surroundings
  try {
    const target = await outputTarget(path)
    if (target === STANDARD_OUTPUT) return await openStream(terminal.stdout, path, surroundings)
    if (target === STANDARD_ERROR) return await openStream(terminal.stderr, path, surroundings)
    if (typeof target === 'number') return await openDescriptor(target, path, null, surroundings)
    const facts = await factsOf(target)
    if (facts === null && !path.endsWith('/')) return new PartialFile(target)
    if (facts === null || facts.isDirectory()) throw directoryError()
    // What is protected stays: a rename would not ask.
    await access(target, constants.W_OK)
    if (facts.isFile()) return new PartialFile(target, facts)
    // A named pipe or a device cannot be replaced.
    if (facts.isFIFO()) {
      const { openPipeToWrite } = await import('./polled-file.ts')
      return new StreamOutput(await openPipeToWrite(target, signal), path, true)
    }
    return new DescriptorOutput(await openIt(target, 'w'), path)
  } catch (cause) {
    throw cause instanceof CommandFailure ? cause : unwritable(path, cause)
  }
}

async function openStream(
  stream: Writable & { readonly isTTY?: boolean; readonly fd?: number },
  name: string,
  surroundings: Surroundings,
): Promise<Output> {
  const { fd } = stream
  if (fd === undefined || stream.isTTY) return new StreamOutput(stream, name)
  return openDescriptor(fd, name, stream, surroundings)
}

/** @param stream the one that the process has for the descriptor, or `null` */
async function openDescriptor(
  fd: number,
  name: string,
  stream: Writable | null,
  { inputs, signal }: Surroundings,
): Promise<Output> {
  const facts = fstatSync(fd)
  const same = facts.isFile() ? inputs.find(({ identity }) => identity === identityOf(facts)) : undefined
  if (same !== undefined) {
    throw new CommandFailure(
      `${same.name} is both input and output: write -o ${same.name}, which replaces it at the end`,
      ExitStatus.output,
    )
  }
  if (!facts.isFIFO() && !facts.isSocket()) return new DescriptorOutput(fd, name)
  if (stream !== null) return new StreamOutput(stream, name)
  const { pipeWriter } = await import('./polled-file.ts')
  return new StreamOutput(pipeWriter(fd, signal), name, true)
}

/** @returns `null` when there is nothing under the name */
async function factsOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
