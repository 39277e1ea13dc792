// The commands that make a database file of another one: pack, unpack, slim and overlay.
import { extractUncompressed } from '../bytes/extract.ts'
import { type EditedDatabase, openForEdit } from '../edit/edited-database.ts'
import { overlayDatabase } from '../edit/overlay.ts'
import { type CheckedSlimOptions, checkSlimOptions, slimDatabase } from '../edit/slim.ts'
import { CARRIAGE_RETURN } from '../enrich/ascii.ts'
import { MAX_COLUMNS, tableIn, valuesOf } from '../enrich/formats/delimited/table.ts'
import { DEFAULT_RECORD_LINES } from '../enrich/options.ts'
import { LineRecordEnds, lineFeedsIn } from '../enrich/reading/layout.ts'
import { RecordFields } from '../enrich/reading/record-fields.ts'
import { markLength, SAMPLE_BYTES } from '../enrich/reading/sample.ts'
import { InvalidDatabaseError, InvalidOverlayError, quoted } from '../errors.ts'
import { type OverlaidNetwork, readOverlays } from '../location/overlays.ts'
import { Database } from '../mmdb/database.ts'
import { countNetworks } from '../mmdb/networks.ts'
import { ValueTable } from '../mmdb/writer/value-table.ts'
import { readUnpacked } from '../node/file-bytes.ts'
import { pack, unpack } from '../packed/pack.ts'
import { messageOf } from '../realm.ts'
import { checkOutputFile } from './enrich/output-file.ts'
import { writeWholeFile } from './enrich/session.ts'
import { countOf, countText } from './figures.ts'
import type { FlagsOf, OVERLAY_OPTIONS, SLIM_OPTIONS } from './options.ts'
import { CommandFailure, ExitStatus, type Terminal, UsageError, writeMessage } from './terminal.ts'

/**
 * Packs or unpacks a database: `geofix pack` and `geofix unpack`. The output file appears when it is complete.
 *
 * @throws InvalidDatabaseError when the input cannot be read or converted
 * @throws CommandFailure when the output cannot be written
 */
export function runPack(
  action: 'pack' | 'unpack',
  input: string,
  output: string,
  terminal: Terminal,
): Promise<ExitStatus> {
  return convertFile(input, output, terminal, (before) => {
    const bytes = action === 'pack' ? pack(before) : unpack(before)
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
    const { missingCountries, recordCount } = slimmed
    if (recordCount === 0)
      throw new CommandFailure(
        `${input}: no network is left: keep more fields or countries`,
        ExitStatus.failed,
      )
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
  await checkOutputFile(output, [csv])
  const values = new ValueTable()
  const networks = await readOverlayFile(csv, values)
  return convertFile(input, output, terminal, (file) => {
    const original = openForEdit(file, input)
    const made = overlayDatabase(original, networks, values)
    return edited(output, original, made, `; ${countOf(networks.length, 'network', 'networks')} in ${csv}`)
  })
}

function slimOptions(flags: Omit<FlagsOf<typeof SLIM_OPTIONS>, 'output'>): CheckedSlimOptions {
  try {
    return checkSlimOptions({ ...flags, ipv4Only: flags.ipv4Only === true })
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
    `${countOf(countNetworks(database), 'network', 'networks')}, ${countOf(recordCount, 'record', 'records')}`
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
  await checkOutputFile(output, [input])
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

/** The size of a file with networks, also decompressed. Bytes. */
const MAX_CSV_BYTES = 64 * 1024 * 1024

/** The most bytes of a row. */
const MAX_ROW_BYTES = 64 * 1024

/** The columns of a file with networks, and the field of an overlay for each. */
const COLUMNS = new Map([
  ['network', 'network'],
  ['country_code', 'country.code'],
  ['country_name', 'country.name'],
  ['region_code', 'region.code'],
  ['region_name', 'region.name'],
  ['city', 'city'],
  ['postal_code', 'postal_code'],
  ['latitude', 'coordinates.latitude'],
  ['longitude', 'coordinates.longitude'],
  ['timezone_id', 'timezone.id'],
])

/** One row: its line in the file, from 1, and what `readOverlays` takes. */
interface Row {
  readonly line: number
  readonly overlay: unknown
}

/**
 * Reads networks from a CSV file with a header.
 *
 * @param values gets their records
 * @returns the networks, larger ones first
 * @throws InvalidOverlayError when the file cannot be read or a row is not valid; it names the line and the column
 */
async function readOverlayFile(path: string, values: ValueTable): Promise<OverlaidNetwork[]> {
  const rows = rowsOf(await readText(path), path)
  return readOverlays(
    rows.map(({ overlay }) => overlay),
    (record) => values.add(record),
    (index, field) => {
      const column = [...COLUMNS].find(([, each]) => each === field)?.[0]
      return `${path}, line ${rows[index]?.line}${column === undefined ? '' : `, column ${column}`}`
    },
  )
}

async function readText(path: string): Promise<Uint8Array> {
  try {
    // A copy: TextDecoder does not read shared memory.
    const bytes = (await readUnpacked(path, { maxBytes: MAX_CSV_BYTES })).slice()
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return bytes
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new InvalidOverlayError(`${path}: it is not UTF-8: save it as CSV UTF-8`)
  }
}

function rowsOf(bytes: Uint8Array, path: string): Row[] {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const isWhole = sample.length === bytes.length
  const { dialect, separatorLine } = tableIn({ bytes: sample, isWhole }, 'csv', MAX_ROW_BYTES)
  const { delimiter, quotes } = dialect
  const ends = new LineRecordEnds({ delimiter, maxLines: DEFAULT_RECORD_LINES }, MAX_ROW_BYTES)
  ends.reset(bytes)
  const fields = new RecordFields(delimiter, quotes, MAX_COLUMNS)
  const rows: Row[] = []
  let header: readonly string[] | null = null
  let line = separatorLine === null ? 1 : 2
  let lineFeed = 0
  for (let start = separatorLine?.length ?? markLength(bytes); start < bytes.length; start = lineFeed + 1) {
    lineFeed = ends.next(start, bytes.length, true)
    const end = lineFeed > start && bytes[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
    const refuse = (why: string, column = ''): InvalidOverlayError =>
      new InvalidOverlayError(`${path}, line ${line}${column}: ${why}`)
    if (end - start > MAX_ROW_BYTES) throw refuse(`it has more than ${MAX_ROW_BYTES} bytes: shorten it`)
    if (end > start) {
      if (!fields.read(bytes, start, end)) throw refuse(`${fields.fault}: close it`)
      const misquoted = misquotedField(bytes, fields)
      if (misquoted !== -1) {
        const column = header?.[misquoted] ?? `of field ${misquoted + 1}`
        throw refuse('write quotes around the whole field, and two for each one in it', `, column ${column}`)
      }
      const values = valuesOf(bytes, fields)
      if (header === null) header = checkedHeader(values, refuse)
      else if (values.length === header.length) rows.push({ line, overlay: overlayOf(header, values) })
      else {
        const count = countOf(values.length, 'field', 'fields')
        throw refuse(`it has ${count}, but the header has ${header.length}: write as many`)
      }
    }
    line += lineFeedsIn(bytes.subarray(start, lineFeed + 1))
  }
  if (rows.length > 0) return rows
  throw new InvalidOverlayError(
    `${path}: it ${header === null ? 'is empty: write a header with a column network' : 'has no row after the header'}`,
  )
}

/** The first field of a row that starts with a quote, maybe after spaces, and is not quoted as a whole; -1 for none. */
function misquotedField(bytes: Uint8Array, fields: RecordFields): number {
  const decoder = new TextDecoder()
  return Array.from({ length: fields.count }, (_, field) =>
    decoder.decode(bytes.subarray(fields.starts[field], fields.ends[field])),
  ).findIndex((text) => /^ *"/.test(text) && !/^"(""|[^"])*"$/.test(text))
}

function checkedHeader(names: readonly string[], refuse: (why: string) => InvalidOverlayError): typeof names {
  const known = `write a header with network and any of ${[...COLUMNS.keys()].slice(1).join(', ')}`
  const unknown = names.find((name) => !COLUMNS.has(name))
  if (unknown?.includes('\r')) throw refuse('its lines end with CR alone: save the file with LF or CRLF')
  if (unknown?.includes('\t')) throw refuse('it has tabs between columns: save the file with commas')
  if (unknown !== undefined) throw refuse(`${quoted(unknown)} is not the name of a column: ${known}`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw refuse(`the column ${twice} is there twice: keep one`)
  if (!names.includes('network')) throw refuse(`there is no column network: ${known}`)
  return names
}

/** What `readOverlays` takes. It ignores empty values, and checks the others. */
function overlayOf(header: readonly string[], values: readonly string[]): unknown {
  const record: Record<string, unknown> = {}
  for (const [index, value] of values.entries()) {
    const [part = '', member] = (COLUMNS.get(header[index] ?? '') ?? '').split('.')
    const given = value === '' ? null : part === 'coordinates' ? degreesOf(value) : value
    record[part] = member === undefined ? given : { ...Object(record[part]), [member]: given }
  }
  const { network, ...parts } = record
  return { network, record: parts }
}

/** `NaN`, which no coordinate is, for other text. */
function degreesOf(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
}
