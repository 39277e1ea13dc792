import { quoted } from '../../../errors.ts'
import { utf8Decoder } from '../../../realm.ts'
import { CARRIAGE_RETURN, COMMA, QUOTE, SEMICOLON, TAB } from '../../ascii.ts'
import { instantOf } from '../../locating/event-time.ts'
import { DEFAULT_RECORD_LINES } from '../../options.ts'
import { kindOfValue, SampleField } from '../../reading/field-guess.ts'
import { isAddressName } from '../../reading/known-names.ts'
import { LineRecordEnds } from '../../reading/layout.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { markLength, type Sample } from '../../reading/sample.ts'
import { latin1 } from '../../swar.ts'
import { opensLikeLog } from '../text/text-guess.ts'

/** A first line that tells spreadsheets the delimiter of the file: `sep=;`. */
export interface SeparatorLine {
  /** The byte between fields. */
  readonly delimiter: number
  /** Bytes up to the end of the line, a byte order mark and the line end included. */
  readonly length: number
}

/** The delimiter is a tab, or an ASCII character that names, numbers, times and quoted values do not contain. */
const LINE = /^("?)sep=(\t|[^\w\s"'+.:\x80-\xff-])\1(?:\r?\n|$)/i

/** Bytes searched: more than any separator line has. */
const MAX_BYTES = 16

/** Reads the separator line at the start of a sample, after a byte order mark; `null` when there is none. */
export function separatorLine(sample: Uint8Array): SeparatorLine | null {
  const start = markLength(sample)
  const found = LINE.exec(latin1(sample, start, start + MAX_BYTES))
  const [line, , separator] = found ?? []
  if (line === undefined || separator === undefined) return null
  return { delimiter: separator.charCodeAt(0), length: start + line.length }
}

/**
 * Reads a sample of a table and finds its dialect.
 *
 * CSV has commas, or the semicolons that spreadsheets write in countries with decimal commas. A separator line decides.
 * Without one, the delimiter is the one that the first record has. If that has both, it is the one with fewer misfits, or,
 * if these are equal, the one with more columns. The default is commas.
 *
 * Spreadsheets quote fields of TSV as in CSV, and other programs write quotes as text. Quotes are text if that gives fewer
 * misfits, or if it gives as many misfits and more records that fit, because quoted fields would then swallow line ends
 * between these records.
 */
export function tableIn(
  sample: Sample,
  format: 'csv' | 'tsv',
  maxBytes: number,
  maxLines = DEFAULT_RECORD_LINES,
): SampleTable {
  const read = (delimiter: number, quotes = true, most = MAX_RECORDS): SampleTable =>
    sampleTable(sample, { delimiter, quotes }, maxBytes, maxLines, most)
  if (format === 'tsv') {
    const [quoted, plain] = [read(TAB), read(TAB, false)]
    if (plain.misfits !== quoted.misfits) return plain.misfits < quoted.misfits ? plain : quoted
    return plain.fitting > quoted.fitting ? plain : quoted
  }
  const separator = separatorLine(sample.bytes)
  if (separator !== null) return read(separator.delimiter)
  // The first record decides for most tables.
  if (read(SEMICOLON, true, 1).width < 2) return read(COMMA)
  if (read(COMMA, true, 1).width < 2) return read(SEMICOLON)
  const [commas, semicolons] = [read(COMMA), read(SEMICOLON)]
  if (commas.misfits !== semicolons.misfits) return commas.misfits < semicolons.misfits ? commas : semicolons
  return semicolons.width > commas.width ? semicolons : commas
}

/** Records read, at most. */
const MAX_RECORDS = 1000
/** Columns of a table that is read, at most. */
export const MAX_COLUMNS = 2 ** 18

/** How the records of a file are read. */
export interface Dialect {
  /** The byte between fields. */
  readonly delimiter: number
  /** Whether fields can be quoted. If not, quotes are text and every line is a record. */
  readonly quotes: boolean
}

/** The first records of a file. */
export interface SampleTable {
  readonly dialect: Dialect
  /** Fields of the first record; 0 when there is none or it cannot be read. */
  readonly width: number
  /** Bytes of the first record up to its line feed. */
  readonly firstBytes: number
  /** Lines before the first record: empty lines and the separator line. */
  readonly linesBefore: number
  readonly separatorLine: SeparatorLine | null
  /** How many records have as many fields as the first one, which is one of them. */
  readonly fitting: number
  /** The values of the fitting record with this index. Made on demand: most sample tables only show whether a dialect fits. */
  row(index: number): string[]
  /** Records that cannot be read or have another number of fields than the first; only 1 if the first is unreadable. */
  readonly misfits: number
}

/**
 * Reads the first records of a file.
 *
 * @param maxBytes bound of a record, in bytes
 * @param maxLines bound of a record, in lines
 * @param most records that are read, at most
 */
export function sampleTable(
  { bytes, isWhole = false }: Sample,
  dialect: Dialect,
  maxBytes: number,
  maxLines: number,
  most = MAX_RECORDS,
): SampleTable {
  const { delimiter, quotes } = dialect
  const ends = new LineRecordEnds(quotes ? { delimiter, maxLines } : null, maxBytes)
  ends.reset(bytes)
  const fields = new RecordFields(dialect.delimiter, dialect.quotes, MAX_COLUMNS)
  const separator = separatorLine(bytes)
  const records: (readonly [start: number, end: number])[] = []
  const row = (index: number): string[] => {
    const [start, end] = records[index] ?? [0, 0]
    fields.read(bytes, start, end)
    return valuesOf(bytes, fields)
  }
  const linesBefore = separator === null ? 0 : 1
  const counts = { width: 0, firstBytes: 0, linesBefore, fitting: 0, misfits: 0 }
  const table = { ...counts, dialect, separatorLine: separator, row }
  let start = separator?.length ?? markLength(bytes)
  while (start < bytes.length && table.fitting + table.misfits < most) {
    // A first record that is cut off is read too: part of a header is a better guess than none.
    const lineFeed = ends.next(start, bytes.length, isWhole || table.width === 0)
    if (lineFeed === -1) break
    const end = lineFeed > start && bytes[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
    if (end > start) {
      const isRead = fields.read(bytes, start, end)
      if (table.width === 0) {
        table.firstBytes = lineFeed - start
        if (!isRead) return { ...table, misfits: 1 }
        table.width = fields.count
      }
      if (isRead && fields.count === table.width) table.fitting = records.push([start, end])
      else table.misfits++
    } else if (table.width === 0) table.linesBefore++
    start = lineFeed + 1
  }
  return table
}

const decoder = /* @__PURE__ */ utf8Decoder()

/** The values of the first record, and of all others with as many fields. */
export function rowsOf({ fitting, row }: SampleTable): string[][] {
  return Array.from({ length: fitting }, (_, index) => row(index))
}

/** The values of the record that was read last. */
export function valuesOf(sample: Uint8Array, fields: RecordFields): string[] {
  return Array.from({ length: Math.min(fields.count, MAX_COLUMNS) }, (_, field) => {
    fields.findValue(sample, field)
    return decoder.decode(sample.subarray(fields.valueStart, fields.valueEnd)).replaceAll('""', '"')
  })
}

/** The value in `bytes[start, end)` with one quote for each two. */
export function undoubled(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const plain = bytes.slice(start, end)
  let size = 0
  for (let at = 0; at < plain.length; at++) {
    plain[size++] = plain[at] ?? 0
    if (plain[at] === QUOTE && plain[at + 1] === QUOTE) at++
  }
  return plain.subarray(0, size)
}

/** Names of members, each once: a header can have one name twice, or none. */
export function distinctNames(names: readonly string[]): string[] {
  /** The first number that may be free after each name that is used. */
  const next = new Map<string, number>()
  return names.map((name, index) => {
    const base = name === '' ? `column_${index + 1}` : name
    let own = base
    let number = next.get(base) ?? 2
    while (next.has(own)) own = `${base}_${number++}`
    next.set(base, number)
    if (own !== base) next.set(own, 2)
    return own
  })
}

/** Whether most of the first records have as many fields as the first one, two or more, separated by tabs. */
export function looksLikeTsv(sample: Uint8Array): boolean {
  if (!sample.includes(TAB)) return false
  const table = tableIn({ bytes: sample }, 'tsv', sample.length)
  return isTable(table, sample) && (table.separatorLine?.delimiter ?? TAB) === TAB
}

/**
 * Whether most of the first records have as many fields as the first one, two or more, separated by commas,
 * semicolons or the delimiter of a separator line. A file of one column is CSV if the column has a usual name for
 * addresses, and it holds addresses or there is only a header.
 */
export function looksLikeCsv(sample: Uint8Array): boolean {
  const table = tableIn({ bytes: sample }, 'csv', sample.length)
  if (table.width !== 1) return isTable(table, sample)
  const [first = [], ...others] = rowsOf(table)
  const column = new SampleField([])
  for (const [value = ''] of others) column.add(value)
  return isAddressName(first[0] ?? '') && (column.isEmpty || column.holdsAddresses(false))
}

/** The start of a line of syslog, whose message can have commas: pfSense, Palo Alto. If only a year follows, the time is of a table. */
const SYSLOG = /^(?:<\d{1,3}>|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?!\d{4}$)\S)/

function isTable(table: SampleTable, sample: Uint8Array): boolean {
  if (table.width < 2 || table.fitting <= table.misfits) return false
  if (SYSLOG.test(table.row(0)[0] ?? '')) return false
  if (!opensLikeLog(sample)) return true
  // Lines of logs have commas and tabs too, but no field of them is an address.
  for (let index = 0; index < table.fitting; index++) if (table.row(index).some(isAddress)) return true
  return false
}

function isAddress(value: string): boolean {
  const kind = kindOfValue(value)
  return kind === 'address' || kind === 'list'
}

const NUMBER = /^[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$/
/** How programs write an unknown value, a boolean, a date, a UUID, a URL and a mail address. */
const DATA =
  /^(?:-|\\N|null|none|nan|n\/a|true|false|\d{4}-\d\d-\d\d.*|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}.*|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}|[a-z]+:\/\/.*|[^\s@]+@[^\s@]+\.[^\s@]+)$/i

/**
 * Finds out whether the first row of a table is data, so that its first record would be lost as a header.
 *
 * @param columns named by the values of the first row
 * @param rows the other rows of the sample
 * @returns for a message, what the first row has that a header does not have; `null` if the row looks like a header
 */
export function dataInHeader(
  columns: readonly SampleField[],
  rows: readonly (readonly string[])[],
): string | null {
  const titles = columns.map(({ name }) => name)
  // A column with addresses, or without values, has a usual name.
  const isHeader = columns.some(
    ({ name, isEmpty, seen: { kinds } }) =>
      isAddressName(name) && (isEmpty || kinds.address + kinds.list > 0),
  )
  if (isHeader || isNumbered(titles)) return null
  const shown = (column: number, what: string): string =>
    `${quoted(titles[column] ?? '')} in column ${column + 1} ${what}`
  const address = titles.findIndex(isAddress)
  const looksLikeData = (title: string): boolean =>
    NUMBER.test(title) || DATA.test(title) || !Number.isNaN(instantOf(title))
  const data = address >= 0 ? address : titles.findIndex(looksLikeData)
  if (data >= 0) return shown(data, 'is not a name')
  // A header can come again where two tables were joined.
  const others = rows.filter((row) => row.some((value, column) => value !== titles[column]))
  const repeated = titles.findIndex(
    (title, column) => title !== '' && others.some((row) => row[column] === title),
  )
  return repeated < 0 ? null : shown(repeated, 'is a value of other rows too')
}

/** Whether columns are numbered from 0 or 1, as some programs name them; the first one can have no name. */
function isNumbered(titles: readonly string[]): boolean {
  const numbers = titles[0] === '' ? titles.slice(1) : titles
  const first = Number(numbers[0])
  return (
    numbers.length > 0 &&
    (first === 0 || first === 1) &&
    numbers.every((title, index) => title === String(first + index))
  )
}
