import { CARRIAGE_RETURN, LINE_FEED, QUOTE, SPACE } from '../enrich/ascii.ts'
import { csvTable, MAX_COLUMNS, valuesOf } from '../enrich/formats/delimited/table.ts'
import { DEFAULT_RECORD_LINES } from '../enrich/options.ts'
import { LineRecordEnds } from '../enrich/reading/record-ends.ts'
import { RecordFields } from '../enrich/reading/record-fields.ts'
import { markLength, SAMPLE_BYTES } from '../enrich/reading/sample.ts'
import { InvalidOverlayError, isGeofixError, quoted } from '../errors.ts'
import {
  type OverlaidNetwork,
  type OverlayName,
  type OverlayRecord,
  readOverlays,
} from '../location/overlays.ts'
import type { ValueTable } from '../mmdb/writer/value-table.ts'
import { readUnpacked } from '../node/file-bytes.ts'
import { messageOf } from '../realm.ts'
import { countOf } from './figures.ts'
import { CommandFailure, ExitStatus } from './terminal.ts'

/** The size of a file with networks, also decompressed. Bytes. */
const MAX_CSV_BYTES = 64 * 1024 * 1024

/** The most bytes of a row. */
const MAX_ROW_BYTES = 64 * 1024

/** The columns, and the field of an overlay for each. */
const COLUMNS = {
  network: 'network',
  country_code: 'country.code',
  country_name: 'country.name',
  region_code: 'region.code',
  region_name: 'region.name',
  city: 'city',
  postal_code: 'postal_code',
  latitude: 'coordinates.latitude',
  longitude: 'coordinates.longitude',
  timezone_id: 'timezone.id',
} as const

type Column = keyof typeof COLUMNS

const COLUMN_NAMES = Object.keys(COLUMNS)

/** One row: its line in the file, from 1, and the value of each column; `null` if it is empty. */
interface Row {
  readonly line: number
  readonly values: ReadonlyMap<string, string | null>
}

/**
 * Reads networks from a CSV file with a header, for `geofix overlay`.
 *
 * @param values gets their records
 * @returns the networks, larger ones first
 * @throws InvalidOverlayError when the file cannot be read or a row is not valid; it names the line and the column
 */
export async function readOverlayFile(path: string, values: ValueTable): Promise<OverlaidNetwork[]> {
  const rows = rowsOf(await read(path), path)
  const nameOf: OverlayName = (index, field) => {
    const column = Object.entries(COLUMNS).find(([, each]) => each === field)?.[0]
    const line = `${path}, line ${rows[index]?.line}`
    return column === undefined ? line : `${line}, column ${column}`
  }
  return readOverlays(rows.map(overlayOf), (record) => values.add(record), nameOf)
}

async function read(path: string): Promise<Uint8Array> {
  try {
    // A copy: TextDecoder does not read shared memory.
    const bytes = (await readUnpacked(path, { maxBytes: MAX_CSV_BYTES })).slice()
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return bytes
  } catch (error) {
    if (isGeofixError(error)) throw error
    if (error instanceof TypeError) {
      throw new InvalidOverlayError(`${path}: it is not UTF-8: save it as CSV UTF-8`)
    }
    throw new CommandFailure(`${path}: it cannot be read: ${messageOf(error)}`, ExitStatus.input, error)
  }
}

function rowsOf(bytes: Uint8Array, path: string): Row[] {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const { dialect, separatorLine } = csvTable(sample, sample.length === bytes.length, MAX_ROW_BYTES)
  const ends = new LineRecordEnds(
    { delimiter: dialect.delimiter, maxLines: DEFAULT_RECORD_LINES },
    MAX_ROW_BYTES,
  )
  ends.reset(bytes)
  const fields = new RecordFields(dialect.delimiter, dialect.quotes, MAX_COLUMNS)
  const rows: Row[] = []
  let header: readonly string[] | null = null
  let line = separatorLine === null ? 1 : 2
  let lineFeed = 0
  for (let start = separatorLine?.length ?? markLength(bytes); start < bytes.length; start = lineFeed + 1) {
    lineFeed = ends.next(start, bytes.length, true)
    const end = lineFeed > start && bytes[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
    const refuse = (why: string): InvalidOverlayError =>
      new InvalidOverlayError(`${path}, line ${line}: ${why}`)
    if (end - start > MAX_ROW_BYTES) throw refuse(`it has more than ${MAX_ROW_BYTES} bytes: shorten it`)
    if (end > start) {
      if (!fields.read(bytes, start, end)) throw refuse(`${fields.fault}: close it`)
      const misquoted = misquotedField(bytes, fields)
      if (misquoted !== null) {
        const column = header?.[misquoted] ?? `of field ${misquoted + 1}`
        throw new InvalidOverlayError(
          `${path}, line ${line}, column ${column}: write quotes around the whole field, and two for each one in it`,
        )
      }
      const values = valuesOf(bytes, fields)
      if (header === null) header = checkedHeader(values, refuse)
      else {
        if (values.length !== header.length) {
          throw refuse(
            `it has ${countOf(values.length, 'field', 'fields')}, but the header has ${header.length}: write as many`,
          )
        }
        rows.push({ line, values: new Map(header.map((name, index) => [name, values[index] || null])) })
      }
    }
    for (let at = start; at <= lineFeed; at++) if (bytes[at] === LINE_FEED) line++
  }
  if (header === null)
    throw new InvalidOverlayError(`${path}: it is empty: write a header with a column network`)
  if (rows.length === 0) throw new InvalidOverlayError(`${path}: it has no row after the header`)
  return rows
}

/** The first field of a row that starts with a quote, maybe after spaces, and is not quoted as a whole; `null` for none. */
function misquotedField(bytes: Uint8Array, fields: RecordFields): number | null {
  for (let field = 0; field < fields.count; field++) {
    const [start, end] = [fields.start(field), fields.end(field)]
    let at = start
    while (at < end && bytes[at] === SPACE) at++
    if (at === end || bytes[at] !== QUOTE) continue
    if (!/^"(""|[^"])*"$/.test(new TextDecoder().decode(bytes.subarray(start, end)))) return field
  }
  return null
}

function checkedHeader(
  names: readonly string[],
  refuse: (why: string) => InvalidOverlayError,
): readonly string[] {
  const known = `write a header with network and any of ${COLUMN_NAMES.slice(1).join(', ')}`
  const unknown = names.find((name) => !COLUMN_NAMES.includes(name))
  if (unknown?.includes('\r')) throw refuse('its lines end with CR alone: save the file with LF or CRLF')
  if (unknown?.includes('\t')) throw refuse('it has tabs between columns: save the file with commas')
  if (unknown !== undefined) throw refuse(`${quoted(unknown)} is not the name of a column: ${known}`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw refuse(`the column ${twice} is there twice: keep one`)
  if (!names.includes('network')) throw refuse(`there is no column network: ${known}`)
  return names
}

function overlayOf({ values }: Row): { network: string; record: OverlayRecord } {
  const text = (column: Column): string | null => values.get(column) ?? null
  return {
    network: text('network') ?? '',
    record: {
      country: { code: text('country_code'), name: text('country_name') },
      region: { code: text('region_code'), name: text('region_name') },
      city: text('city'),
      postal_code: text('postal_code'),
      coordinates: { latitude: degreesOf(text('latitude')), longitude: degreesOf(text('longitude')) },
      timezone: { id: text('timezone_id') },
    },
  }
}

/** `NaN`, which no coordinate is, for other text. */
function degreesOf(text: string | null): number | null {
  if (text === null) return null
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
}
