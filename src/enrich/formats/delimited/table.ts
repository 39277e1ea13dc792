import { RecordEnds } from '../../record-ends.ts'
import { markLength } from '../../sample.ts'
import { RecordFields } from './fields.ts'

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
  const found = LINE.exec(String.fromCharCode(...sample.subarray(start, start + MAX_BYTES)))
  const [line, , separator] = found ?? []
  if (line === undefined || separator === undefined) return null
  return { delimiter: separator.charCodeAt(0), length: start + line.length }
}

export const COMMA = 0x2c
export const SEMICOLON = 0x3b
export const TAB = 0x09

/**
 * Reads a sample of CSV and finds its delimiter: commas, or the semicolons that spreadsheets write in countries with
 * decimal commas. A separator line decides. Without one, the delimiter is the one that the first record has. If that
 * has both, it is the one with fewer misfits, or, if these are equal, the one with more columns. The default is commas.
 */
export function csvTable(sample: Uint8Array, isWhole: boolean, maxBytes: number): SampleTable {
  const read = (delimiter: number): SampleTable =>
    sampleTable(sample, isWhole, { delimiter, quotes: true }, maxBytes)
  const separator = separatorLine(sample)
  if (separator !== null) return read(separator.delimiter)
  const commas = read(COMMA)
  const semicolons = read(SEMICOLON)
  if (semicolons.width < 2) return commas
  if (commas.width < 2) return semicolons
  if (commas.misfits !== semicolons.misfits) return commas.misfits < semicolons.misfits ? commas : semicolons
  return semicolons.width > commas.width ? semicolons : commas
}

/**
 * Reads a sample of TSV and finds what quotes mean. Spreadsheets quote fields as in CSV, and other programs write
 * quotes as text. Quotes are text if that gives fewer misfits, or if it gives as many misfits and more records that
 * fit, because quoted fields would then swallow line ends between these records.
 */
export function tsvTable(sample: Uint8Array, isWhole: boolean, maxBytes: number): SampleTable {
  const read = (quotes: boolean): SampleTable => {
    const dialect: Dialect = { delimiter: TAB, quotes }
    return sampleTable(sample, isWhole, dialect, maxBytes)
  }
  const quoted = read(true)
  const plain = read(false)
  const isText =
    plain.misfits === quoted.misfits ? plain.rows.length > quoted.rows.length : plain.misfits < quoted.misfits
  return isText ? plain : quoted
}

const CARRIAGE_RETURN = 0x0d
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
  /** The values of the first record. */
  readonly first: readonly string[]
  /** The values of all records with as many fields as the first one, that one included. */
  readonly rows: readonly (readonly string[])[]
  /** Records that cannot be read or have another number of fields than the first; only 1 if the first is unreadable. */
  readonly misfits: number
}

/**
 * Reads the first records of a file.
 *
 * @param isWhole whether the sample is the whole file; if not, its last record can be cut off
 * @param maxBytes bound of a record, in bytes
 */
export function sampleTable(
  sample: Uint8Array,
  isWhole: boolean,
  dialect: Dialect,
  maxBytes: number,
): SampleTable {
  const decoder = new TextDecoder()
  const ends = new RecordEnds(dialect.quotes ? dialect.delimiter : null, maxBytes)
  ends.reset(sample)
  const fields = new RecordFields(dialect.delimiter, dialect.quotes, MAX_COLUMNS)
  const records: string[][] = []
  let misfits = 0
  let width = 0
  let firstBytes = 0
  const separator = separatorLine(sample)
  let linesBefore = separator === null ? 0 : 1
  const told = () => ({ dialect, width, firstBytes, linesBefore, separatorLine: separator })
  for (
    let start = separator?.length ?? markLength(sample);
    start < sample.length && records.length + misfits < MAX_RECORDS;
  ) {
    // A first record that is cut off is read too: part of a header is a better guess than none.
    const lineFeed = ends.next(start, sample.length, isWhole || width === 0)
    if (lineFeed === -1) break
    const end = lineFeed > start && sample[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
    if (end > start) {
      if (firstBytes === 0) firstBytes = lineFeed - start
      const isRead = fields.read(sample, start, end)
      if (width === 0 && isRead) width = fields.count
      else if (width === 0) return { ...told(), first: [], rows: [], misfits: 1 }
      if (isRead && fields.count === width) records.push(valuesOf(sample, fields, decoder))
      else misfits++
    } else if (width === 0) linesBefore++
    start = lineFeed + 1
  }
  return { ...told(), first: records[0] ?? [], rows: records, misfits }
}

function valuesOf(sample: Uint8Array, fields: RecordFields, decoder: TextDecoder): string[] {
  return Array.from({ length: Math.min(fields.count, MAX_COLUMNS) }, (_, field) => {
    fields.findValue(sample, field)
    return decoder.decode(sample.subarray(fields.valueStart, fields.valueEnd)).replaceAll('""', '"')
  })
}
