// The commands that make a database file of another one: pack, unpack, slim and overlay.
import { realpath } from 'node:fs/promises'
import { extractUncompressed } from '../bytes/extract.ts'
import { type EditedDatabase, openForEdit } from '../edit/edited-database.ts'
import { overlayDatabase } from '../edit/overlay.ts'
import { type CheckedSlimOptions, checkSlimOptions, slimDatabase } from '../edit/slim.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { Database } from '../mmdb/database.ts'
import { ValueTable } from '../mmdb/writer/value-table.ts'
import { readUnpacked } from '../node/file-bytes.ts'
import { pack, unpack } from '../packed/pack.ts'
import { messageOf } from '../realm.ts'
import { checkOutputFile } from './enrich/output-file.ts'
import { writeWholeFile } from './enrich/session.ts'
import { countOf, countText } from './figures.ts'
import type { FlagsOf, OVERLAY_OPTIONS, SLIM_OPTIONS } from './options.ts'
import { readOverlayFile } from './overlay-csv.ts'
import { ExitStatus, type Terminal, UsageError, writeMessage } from './terminal.ts'

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
export function runPack({ action, input, output }: PackCommand, terminal: Terminal): Promise<ExitStatus> {
  return convertFile(input, output, terminal, (before) => {
    const bytes = CONVERSIONS[action](before)
    return { bytes, text: `${sizeText(output, bytes)}, from ${countText(before.length)}` }
  })
}

/**
 * Makes a smaller database: `geofix slim`. An output with the name `*.packed` is packed.
 *
 * @throws UsageError when an option is invalid; the others as {@link runPack}
 */
export function runSlim(
  input: string,
  { output, ...flags }: FlagsOf<typeof SLIM_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const options = slimOptions(flags)
  return convertFile(input, output, terminal, (file) => {
    const original = openForEdit(file, input)
    const slimmed = slimDatabase(original, options)
    const { missingCountries } = slimmed
    const missing = missingCountries.length === 0 ? '' : `; no network is in ${missingCountries.join(', ')}`
    return edited(output, original, slimmed, missing)
  })
}

/**
 * Adds a program's own networks to a database: `geofix overlay`.
 *
 * @throws InvalidOverlayError when a row of the CSV is not valid; it names the line and the column
 * @throws the others as {@link runPack}
 */
export async function runOverlay(
  input: string,
  { csv, output }: FlagsOf<typeof OVERLAY_OPTIONS>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const [read, written] = await Promise.all([csv, output].map((path) => realpath(path).catch(() => null)))
  if (read !== null && read === written) throw new UsageError(`-o ${output} is the file of --csv`)
  const values = new ValueTable()
  const networks = await readOverlayFile(csv, values)
  return convertFile(input, output, terminal, (file) => {
    const original = openForEdit(file, input)
    const made = overlayDatabase(original, networks, values)
    return edited(output, original, made, `; ${countOf(networks.length, 'network', 'networks')} in ${csv}`)
  })
}

function slimOptions({
  ipv4Only,
  ...lists
}: Omit<FlagsOf<typeof SLIM_OPTIONS>, 'output'>): CheckedSlimOptions {
  try {
    return checkSlimOptions({ ipv4Only: ipv4Only === true, ...lists })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** A file that was made of another one, and what to say about it. */
interface Converted {
  readonly bytes: Uint8Array
  readonly text: string
}

/** The bytes of an edited database in the form that the name of the output asks for, and its figures. */
function edited(output: string, original: Database, made: EditedDatabase, remark = ''): Converted {
  const figures = (database: Database, recordCount: number): string =>
    `${countOf(database.countNetworks(), 'network', 'networks')}, ${countOf(recordCount, 'record', 'records')}`
  const before = `${figures(original, made.originalRecordCount)}, ${countText(original.bytes.length)} bytes`
  const bytes = output.endsWith('.packed') ? pack(made.bytes) : made.bytes
  const after = `${figures(new Database(made.bytes), made.recordCount)}, ${sizeText(output, bytes)}`
  return { bytes, text: `${after}; from ${before}${remark}` }
}

/** The size of an output, which is compressed while it is written if its name says so. */
function sizeText(output: string, bytes: Uint8Array): string {
  return `${countText(bytes.length)} bytes${output.endsWith('.gz') ? ' before gzip' : ''}`
}

/** Writes what `convert` makes of a file to another file, which appears when it is complete, and prints its text. */
async function convertFile(
  input: string,
  output: string,
  terminal: Terminal,
  convert: (file: Uint8Array) => Converted,
): Promise<ExitStatus> {
  if (output.endsWith('.packed.gz')) {
    throw new UsageError(`-o ${output}: a packed database is compressed: leave out .gz`)
  }
  await checkOutputFile(output)
  const { bytes, text } = await convertedOf(input, convert)
  const status = await writeWholeFile(output, bytes, terminal)
  if (status === ExitStatus.ok) await writeMessage(terminal.stderr, `${output}: ${text}`)
  return status
}

/** Reads and converts a file, and names it in errors. */
async function convertedOf(path: string, convert: (file: Uint8Array) => Converted): Promise<Converted> {
  const file = await readDatabase(path)
  try {
    return convert(file)
  } catch (error) {
    if (!(error instanceof InvalidDatabaseError) || error.path !== undefined) throw error
    throw new InvalidDatabaseError(error.fault, { path, offset: error.offset, cause: error })
  }
}

/**
 * Reads a database file without its compression, packed or not.
 *
 * @throws InvalidDatabaseError when the file cannot be read
 */
export async function readDatabase(path: string): Promise<Uint8Array> {
  return extractUncompressed(await readUnpacked(path), path)
}
