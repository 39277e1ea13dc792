import type { ByteSink } from '../../../bytes/byte-sink.ts'
import { BACKSLASH, CARRIAGE_RETURN, LINE_FEED, QUOTE, SPACE } from '../../ascii.ts'
import { fieldIndex } from '../../counting/field-values.ts'
import type { LineFormat, LineResult, RowParts } from '../../engine/record-lines.ts'
import { eventTime, NO_TIME } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { type ReaderField, type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { ByteFinder } from '../../swar.ts'
import { type Dialect, distinctNames, type TablePlan, undoubled } from './table.ts'

/** Without a header, `names` are numbers from 1. They are empty for rows. */
export interface DelimitedPlan extends TablePlan, Dialect {
  readonly format: 'csv' | 'tsv'
  /** Whether the first line names the delimiter, as in `sep=;`. It is kept. */
  readonly hasSeparatorLine: boolean
  /** The most lines of a record. */
  readonly maxRecordLines: number
  /** Columns of a record. Records with another number of columns are bad. */
  readonly width: number
  /** The column of the address, from 0. */
  readonly address: number
  /** The column of the time, from 0, or `null`. */
  readonly time: number | null
  /** The index in `fields` of the new value of each column, or -1. Empty if no column is replaced, and all are appended. */
  readonly replaced: readonly number[]
  /** Whether records are rows, which have any number of columns and no header. `width` is 0 then. */
  readonly isRows: boolean
}

/**
 * Reads records of CSV and TSV. The values of columns have no quotes, and an empty one is unknown. A usual record is one line, all
 * its quotes are closed, and it has as many columns as the header.
 */
export class DelimitedReader extends RecordReader {
  override readonly hasUsual = true
  override readonly fields: readonly ReaderField[]
  override readonly counted: readonly number[]
  override readonly starts: Int32Array
  override readonly ends: Int32Array
  readonly #plan: DelimitedPlan
  readonly #fields: RecordFields
  /** The last column that is wanted of a usual record. */
  readonly #last: number
  /** Whether usual records are read up to their line feed, and only as far as they are wanted. */
  readonly #readsLines: boolean
  #lineFeeds = new ByteFinder(LINE_FEED, this.record)

  constructor(plan: DelimitedPlan, wantsFields: boolean) {
    super()
    const { delimiter, quotes, width, names, address, time, counted = [] } = plan
    this.#plan = plan
    this.#fields = new RecordFields(delimiter, quotes, width)
    this.starts = this.#fields.starts
    this.ends = this.#fields.ends
    this.fields = distinctNames(names).map((name) => ({ name, kind: 'text' }))
    this.counted = counted.map((field) => fieldIndex(names, field))
    this.#last = Math.max(address, time ?? 0)
    // Tabs are control characters.
    this.#readsLines = !wantsFields && counted.length === 0 && delimiter > SPACE
  }

  override usual(bytes: Uint8Array, view: DataView, start: number, limit: number): number {
    const fields = this.#fields
    const { width } = this.#plan
    let end = this.#readsLines ? fields.readLine(bytes, view, start, this.#last) : -1
    if (end === -1) {
      if (this.#lineFeeds.bytes !== bytes) this.#lineFeeds = new ByteFinder(LINE_FEED, bytes)
      end = this.#lineFeeds.next(start, limit)
      if (end === start || bytes[end - 1] === CARRIAGE_RETURN) return -1
      if (!fields.read(bytes, start, end) || fields.textAfterQuote > 0) return -1
    }
    if (fields.count !== width) return -1
    this.useBytes(bytes, start, end)
    this.#findTime(bytes)
    fields.findValue(bytes, this.#plan.address)
    this.useAddress(bytes, fields.valueStart, fields.valueEnd)
    return end
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const { width } = this.#plan
    const fields = this.#fields
    if (!fields.read(bytes, start, end)) {
      this.fault = fields.fault
      return 'bad'
    }
    if (fields.count !== width) {
      this.fault = `it has ${fields.count} ${fields.count === 1 ? 'column' : 'columns'}, not ${width}`
      return 'bad'
    }
    this.doubt =
      fields.textAfterQuote > 0
        ? `text follows the closing quote of its field ${fields.textAfterQuote}: look at its quotes`
        : ''
    this.useBytes(bytes, start, end)
    this.#findTime(bytes)
    fields.findValue(bytes, this.#plan.address)
    this.addressStart = fields.valueStart
    this.addressEnd = fields.valueEnd
    return 'read'
  }

  override find(column: number): boolean {
    const { record } = this
    this.bytes = record
    this.start = this.starts[column] ?? 0
    this.end = this.ends[column] ?? 0
    const isQuoted = this.#plan.quotes && this.end - this.start >= 2 && record[this.start] === QUOTE
    if (isQuoted && record[this.end - 1] === QUOTE) {
      this.start++
      this.end--
      if (record.subarray(this.start, this.end).includes(QUOTE)) {
        this.bytes = undoubled(record, this.start, this.end)
        this.start = 0
        this.end = this.bytes.length
      }
    }
    return this.end > this.start
  }

  #findTime(bytes: Uint8Array): void {
    const { time } = this.#plan
    const fields = this.#fields
    this.instant = NO_TIME
    if (time === null) return
    fields.findValue(bytes, time)
    this.instant = eventTime(bytes, fields.valueStart, fields.valueEnd)
  }
}

const CAPITAL_N = 0x4e
const SMALL_N = 0x6e
const SMALL_R = 0x72

/** Where a row that comes in parts is: at the start of a field, in it, in quotes, or after the quote that closes them. */
type Place = 'start' | 'text' | 'quoted' | 'closed'

/**
 * Enriches the rows of a table. A row keeps its bytes, and columns are appended. It can have any number of columns; without
 * the column of the address it has no location.
 */
export class TableRows implements LineFormat, RowParts {
  readonly rewrites = false
  readonly fault = ''
  readonly rowParts = this
  readonly escapes: boolean
  readonly #plan: DelimitedPlan
  readonly #locator: LineLocator
  readonly #fields: RecordFields
  /** The columns of a row without a location. */
  readonly #nothing: Uint8Array
  /** Whether the row, as far as it is written, ends in a backslash that escapes nothing. Only without quotes. */
  #dangles = false
  /** Only with quotes, in a row that comes in parts. */
  #place: Place = 'start'

  constructor(plan: DelimitedPlan, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    const { delimiter, quotes, address, time, fields } = plan
    const escapes = !quotes
    this.escapes = escapes
    this.#fields = new RecordFields(delimiter, !escapes, Math.max(address, time ?? 0) + 1, escapes)
    const nothing = escapes ? [delimiter, BACKSLASH, CAPITAL_N] : [delimiter]
    this.#nothing = Uint8Array.from(fields.flatMap(() => nothing))
  }

  /**
   * A row with a quote that is not closed gets no columns: its field continues in the next line, which is read as a row of
   * its own.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const { address, time, delimiter } = this.#plan
    const fields = this.#fields
    this.#writeCells(bytes, start, end, out)
    if (!fields.read(bytes, start, end)) return 'unresolved'
    fields.findValue(bytes, address)
    if (!this.#locator.locate(bytes, fields.valueStart, fields.valueEnd)) {
      this.#writeNothing(out)
      return 'unresolved'
    }
    if (time !== null) {
      fields.findValue(bytes, time)
      this.#locator.instant = eventTime(bytes, fields.valueStart, fields.valueEnd)
    }
    this.#completeEscape(out)
    out.writeByte(delimiter)
    this.#locator.writeRendered(out)
    return 'resolved'
  }

  part(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    if (!this.escapes) this.#follow(bytes, start, end)
    this.#writeCells(bytes, start, end, out)
  }

  /** Ends a row that came in parts, as `line` ends one without a location. */
  end(out: ByteSink): void {
    if (this.#place !== 'quoted') this.#writeNothing(out)
    this.#place = 'start'
  }

  /** Reads the quotes of a part of a row as `RecordFields` does. Only with quotes. */
  #follow(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const isQuote = bytes[at] === QUOTE
      if (this.#place === 'quoted') {
        if (isQuote) this.#place = 'closed'
      } else if (isQuote && this.#place !== 'text') this.#place = 'quoted'
      else this.#place = bytes[at] === this.#plan.delimiter ? 'start' : 'text'
    }
  }

  /** Writes a row, or a part of one, without the added columns. */
  #writeCells(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const from = out.length
    out.write(bytes, start, end)
    if (!this.escapes) return
    // Keep the escapes of the row. Escape only line ends.
    const written = out.room(0)
    let at = from
    while (at < out.length && !isLineEnd(written[at])) at++
    out.length = at
    for (at += start - from; at < end; at++) {
      const byte = bytes[at] ?? 0
      if (!isLineEnd(byte)) out.writeByte(byte)
      else {
        if (this.#danglesAt(bytes, start, at)) out.writeByte(BACKSLASH)
        out.writeByte(BACKSLASH)
        out.writeByte(byte === LINE_FEED ? SMALL_N : SMALL_R)
      }
    }
    this.#dangles = this.#danglesAt(bytes, start, end)
  }

  /** Writes the columns of a row without a location. */
  #writeNothing(out: ByteSink): void {
    this.#completeEscape(out)
    out.write(this.#nothing)
  }

  /** Whether an odd number of backslashes is before `end`, in `bytes[start, end)` and the parts before it. */
  #danglesAt(bytes: Uint8Array, start: number, end: number): boolean {
    let at = end
    while (at > start && bytes[at - 1] === BACKSLASH) at--
    const isOdd = (end - at) % 2 === 1
    return at === start && this.#dangles ? !isOdd : isOdd
  }

  /** A backslash at the end of the row would escape the delimiter after it, and shift the columns. */
  #completeEscape(out: ByteSink): void {
    if (this.#dangles) out.writeByte(BACKSLASH)
    this.#dangles = false
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN
}
