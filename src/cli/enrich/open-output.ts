import { constants, fstatSync, open, type Stats } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { CommandFailure, ExitStatus, type Terminal } from '../terminal.ts'
import { CompressedOutput } from './compressed-output.ts'
import { compressionOf, compressor } from './compression.ts'
import { DescriptorOutput } from './descriptor-output.ts'
import { type Input, identityOf } from './input.ts'
import type { Output } from './output.ts'
import { PartialFile } from './partial-file.ts'
import { StreamOutput } from './stream-output.ts'
import { codeOf, unwritable } from './system-error.ts'

/** A descriptor, not a `FileHandle`, which closes itself when nobody holds it. In the background: a named pipe waits. */
const openIt = promisify(open)

const STANDARD_OUTPUT = 'standard output'

/**
 * Opens a file for writing; `.gz` and `.zst` are compressed. It gets its name when it is finished, so it may be
 * one of the inputs.
 *
 * @throws CommandFailure when it cannot be written
 */
export async function openOutputFile(path: string): Promise<Output> {
  const compression = compressionOf(path)
  const transform = compression === null ? null : compressor(compression, path)
  const target = await openTarget(path)
  return transform === null ? target : new CompressedOutput(transform, target, path)
}

/** @throws CommandFailure when standard output is one of the inputs, which would never end */
export function openStandardOutput(terminal: Terminal, inputs: readonly Input[]): Output {
  const { stdout } = terminal
  const { fd } = stdout
  if (fd === undefined || stdout.isTTY) return new StreamOutput(stdout, STANDARD_OUTPUT)
  const facts = fstatSync(fd)
  const same = facts.isFile() ? inputs.find(({ identity }) => identity === identityOf(facts)) : undefined
  if (same !== undefined) {
    throw new CommandFailure(
      `${same.name} is both input and output: write -o ${same.name}, which replaces it at the end`,
      ExitStatus.output,
    )
  }
  if (facts.isFIFO() || facts.isSocket()) return new StreamOutput(stdout, STANDARD_OUTPUT)
  return new DescriptorOutput(fd, STANDARD_OUTPUT)
}

async function openTarget(path: string): Promise<Output> {
  try {
    const facts = await factsOf(path)
    if (facts === null) return new PartialFile(path)
    if (facts.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' })
    // What is protected stays: a rename would not ask.
    await access(path, constants.W_OK)
    // A link stays, and what it leads to is replaced.
    if (facts.isFile()) return new PartialFile(await realpath(path), facts)
    // A device or a named pipe cannot be replaced.
    return new DescriptorOutput(await openIt(path, 'w'), path)
  } catch (cause) {
    throw cause instanceof CommandFailure ? cause : unwritable(path, cause)
  }
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
