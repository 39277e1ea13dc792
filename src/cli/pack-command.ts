import { extractUncompressed } from '../bytes/extract.ts'
import { InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { readUnpacked } from '../node/file-bytes.ts'
import { pack, unpack } from '../packed/pack.ts'
import { messageOf } from '../realm.ts'
import { openOutputFile } from './enrich/output-file.ts'
import { ExitStatus, type Terminal, writeMessage } from './terminal.ts'

const CONVERSIONS = { pack, unpack } as const

export interface PackCommand {
  readonly action: keyof typeof CONVERSIONS
  readonly input: string
  readonly output: string
}

/**
 * Packs or unpacks a database: `geofix pack` and `geofix unpack`. The output file appears when it is complete.
 *
 * @throws InvalidDatabaseError when the input cannot be read or converted
 * @throws CommandFailure when the output cannot be written
 */
export async function runPack(
  { action, input, output }: PackCommand,
  terminal: Terminal,
): Promise<ExitStatus> {
  const file = await openOutputFile(output, { terminal, inputs: [], signal: new AbortController().signal })
  try {
    const before = await read(input)
    const after = converted(action, before, input)
    await file.write(after)
    await file.finish()
    await writeMessage(
      terminal.stderr,
      `${output}: ${after.length.toLocaleString('en')} bytes, from ${before.length.toLocaleString('en')}`,
    )
    return ExitStatus.ok
  } catch (error) {
    file.discard()
    throw error
  }
}

async function read(path: string): Promise<Uint8Array> {
  try {
    return extractUncompressed(await readUnpacked(path), path)
  } catch (error) {
    if (isGeofixError(error)) throw error
    throw new InvalidDatabaseError(`it cannot be read: ${messageOf(error)}`, { path, cause: error })
  }
}

/** Converts a file, and names it in errors. */
function converted(action: keyof typeof CONVERSIONS, bytes: Uint8Array, path: string): Uint8Array {
  try {
    return CONVERSIONS[action](bytes)
  } catch (error) {
    if (!(error instanceof InvalidDatabaseError)) throw error
    throw new InvalidDatabaseError(error.fault, { path, cause: error })
  }
}
