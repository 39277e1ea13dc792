import { CARRIAGE_RETURN, LINE_FEED, QUOTE, SPACE } from '../../ascii.ts'
import { fieldIndex } from '../../counting/field-values.ts'
import { eventTime, NO_TIME } from '../../locating/event-time.ts'
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
