import { markLength } from '../byte-order-mark.ts'
import { RecordEnds } from '../record-ends.ts'
import { type SeparatorLine, separatorLine } from '../separator-line.ts'
import { RecordFields } from './record-fields.ts'

const CARRIAGE_RETURN = 0x0d
/** Records looked at, at most. */
const MAX_RECORDS = 1000
/** Columns of a table that is read, at most. */
export const MAX_COLUMNS = 2 ** 18

/** How the records of a file are read. */
export interface Dialect {
  /** The byte between fields. */
  readonly delimiter: number
  /** Whether fields can be in quotes; else quotes are text, and every line is a record. */
  readonly quotes: boolean
}

/** The first records of a file. */
export interface SampleTable {
  readonly dialect: Dialect
  /** Fields of the first record; 0 when there is none, or it is a misfit. */
  readonly width: number
  /** Of the first record, its line end not counted. Bytes. */
  readonly firstBytes: number
  /** Lines before the first record: empty ones, and the one with the separator. */
  readonly linesBefore: number
  readonly separatorLine: SeparatorLine | null
  /** The values of the first record. */
  readonly first: readonly string[]
  /** The values of the other records that have as many fields, and of the first where it is no header. */
  readonly rows: readonly (readonly string[])[]
  /** Records behind the first that cannot be read, or have another number of fields. */
  readonly misfits: number
}

/**
 * Reads the first records of a file.
 *
 * @param isWhole whether the sample is all of the file: else its last record may be cut off
 * @param maxBytes bound of a record
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
    // A header that is cut off is the better guess.
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
