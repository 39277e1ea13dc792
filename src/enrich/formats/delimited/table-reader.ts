import { copy } from '../../../bytes/byte-sink.ts'
import { CAPITAL_Z, CARRIAGE_RETURN, HASH, LINE_FEED, QUOTE, SPACE } from '../../ascii.ts'
import { fieldIndex } from '../../counting/field-values.ts'
import { eventTime, eventTimeOf, NO_TIME } from '../../locating/event-time.ts'
import { addedMembers, type CommonPlan, type LocationField } from '../../options.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { type ReaderField, type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { ByteFinder } from '../../swar.ts'
import { type DirectiveRules, faultOfHeader, type Header, NO_HEADER, type SampledTable } from './header.ts'
import { type Dialect, distinctNames, undoubled } from './table.ts'

/** The plan of a table, and of rows of CSV or TSV, whose `names` are empty. */
export interface TablePlan
  extends CommonPlan,
    Dialect,
    Pick<SampledTable, 'hasSeparatorLine' | 'headerLine' | 'maxRecordLines' | 'names' | 'header' | 'unset'> {
  readonly format: 'csv' | 'tsv' | 'w3c' | 'zeek' | 'ssv'
  /** The name of the column of the address, or its index. */
  readonly address: string | number
  /** The column of the time, or the columns of the day and of the time; empty if there is none. */
  readonly time: readonly (string | number)[]
  /** Whether the last of `time` is a time of the day, whose day is in the column before or in `#Date:`. */
  readonly isClock: boolean
  /** The columns with the location. */
  readonly fields: readonly LocationField[]
  /** Names of the added columns in the header. */
  readonly columns: readonly string[]
  /** The index in `fields` of the new value of each column, or -1. Empty if no column is replaced, and all are appended. */
  readonly replaced: readonly number[]
  /** Whether records become objects. */
  readonly isObject: boolean
}

/** Where a row is: at the start of a field, in it, in quotes, or after the quote that closes them. */
type Place = 'start' | 'text' | 'quoted' | 'closed'

const encoder = /* @__PURE__ */ new TextEncoder()

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Bytes of a day such as 2000-10-09. */
const DAY_BYTES = 10
/** Longer texts are not times of a day. Bytes. */
const MAX_CLOCK = 20

/**
 * Reads the records of tables, whose columns a header names. The values are found without their quotes. The header can declare
 * which texts mean an unknown or an empty value. A usual record is one line, all its quotes are closed, and it has as many columns
 * as the header. Rows have no header, and any number of columns: without that of the address, a row has no location.
 */
export class TableReader extends RecordReader<Header> {
  override readonly hasUsual = true
  override fields: readonly ReaderField[] = []
  override counted: readonly number[] = []
  readonly #plan: TablePlan
  readonly #rules: DirectiveRules | null
  #header: Header = { ...NO_HEADER, names: [] }
  /** The fault of the header; '' without one. */
  #headerFault = ''
  /** Columns of a record; -1 if the header is faulty. */
  #width = -1
  /** Reads records. */
  #first = new RecordFields(0, false, 0)
  /** Reads records with quotes as text if they do not fit otherwise; `null` if quotes are certain. */
  #second: RecordFields | null = null
  /** What has read the last record. */
  #fields = this.#first
  #address = -1
  /** The last column that is wanted of a usual record. */
  #last = 0
  /** The columns of the time: one with an instant, or the one with the day and the one with the time of the day. */
  #day = -1
  #clock = -1
  /** A day and a time of the day as one text: `2000-10-09T16:44:49Z`. The day is that of `#Date:` if records have none. */
  readonly #utc = new Uint8Array(DAY_BYTES + MAX_CLOCK + 2)
  /** The time of `#Date:`. */
  #dated = NO_TIME
  readonly #isRows: boolean
  /** Where a row that is not read is. */
  #place: Place = 'start'
  /** Whether usual records are read up to their line feed, and only as far as they are wanted. */
  readonly #readsLines: boolean
  #lineFeeds = new ByteFinder(LINE_FEED, this.record)

  /** @param rules `null` for CSV and TSV, whose names can be any, and whose quotes are certain */
  constructor(plan: TablePlan, wantsFields: boolean, rules: DirectiveRules | null = null) {
    super()
    this.#plan = plan
    this.#rules = rules
    this.#isRows = plan.isRows === true
    const wantsMore = wantsFields || this.#isRows || (plan.counted ?? []).length > 0
    // Tabs are control characters.
    this.#readsLines = !wantsMore && plan.delimiter >= SPACE
    this.use(plan.header)
  }

  override use(header: Header): void {
    if (header === this.#header) return
    const { address, time, columns, delimiter, quotes, isObject, counted = [] } = this.#plan
    const isSame = header.names === this.#header.names
    this.#header = header
    const day = `${header.date}T`
    this.#dated = eventTimeOf(`${day}${header.time}Z`)
    encoder.encodeInto(day.padStart(DAY_BYTES + 1), this.#utc)
    if (isSame) return
    const { names } = header
    const added = isObject ? addedMembers(this.#plan) : columns
    this.#headerFault = this.#rules === null ? '' : faultOfHeader(header, address, added)
    this.fields = distinctNames(names).map((name) => ({ name, kind: 'text' }))
    const indexOf = (column: string | number | undefined): number =>
      typeof column === 'number' ? column : column === undefined ? -1 : names.indexOf(column)
    this.counted = counted.map((field) => fieldIndex(names, field))
    this.#address = indexOf(address)
    const [first, second] = time
    this.#day = second === undefined ? -1 : indexOf(first)
    this.#clock = indexOf(second ?? first)
    this.#last = Math.max(this.#address, this.#day, this.#clock)
    this.#width = this.#headerFault === '' ? names.length : -1
    const most = this.#isRows ? this.#last + 1 : Math.max(this.#width, 0)
    this.#first = new RecordFields(delimiter, quotes, most, this.#isRows && !quotes)
    this.#second = quotes && this.#rules !== null ? new RecordFields(delimiter, false, most) : null
    this.starts = this.#first.starts
    this.ends = this.#first.ends
  }

  override addedTo(directive: string): string {
    const { columns, fields } = this.#plan
    return this.#headerFault === '' ? (this.#rules?.added(directive, columns, fields) ?? '') : ''
  }

  override usual(bytes: Uint8Array, view: DataView, start: number, limit: number): number {
    if (bytes[start] === HASH && this.#rules !== null) return -1
    const fields = this.#first
    let end = this.#readsLines ? fields.readLine(bytes, view, start, this.#last) : -1
    if (end === -1) {
      if (this.#lineFeeds.bytes !== bytes) this.#lineFeeds = new ByteFinder(LINE_FEED, bytes)
      end = this.#lineFeeds.next(start, limit)
      if (end === start || bytes[end - 1] === CARRIAGE_RETURN) return -1
      if (!fields.read(bytes, start, end) || fields.textAfterQuote > 0) return -1
    }
    if (fields.count !== this.#width && !this.#isRows) return -1
    this.#found(fields, bytes, start, end)
    return end
  }

  /** A row with a quote that is not closed is bad: its field continues in the next line, which is read as a row of its own. */
  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    this.fault = this.#headerFault
    if (this.fault !== '') return 'bad'
    let fields = this.#first
    let isRead = fields.read(bytes, start, end)
    const second = this.#second
    // Some programs quote values with spaces, and others write quotes as text: the number of columns tells.
    if (second !== null && !(isRead && fields.count === this.#width && fields.textAfterQuote === 0)) {
      fields = second
      isRead = second.read(bytes, start, end)
    }
    const { count, textAfterQuote } = fields
    if (!isRead || (count !== this.#width && !this.#isRows)) {
      this.fault = isRead ? this.#misfit(count) : fields.fault
      return 'bad'
    }
    this.doubt =
      textAfterQuote > 0 && !this.#isRows
        ? `text follows the closing quote of its field ${textAfterQuote}: look at its quotes`
        : ''
    this.#found(fields, bytes, start, end)
    return 'read'
  }

  override find(column: number): boolean {
    const fields = this.#fields
    const { unset, empty } = this.#header
    const { record } = this
    fields.findText(record, column)
    const isQuoted = fields.valueStart > (fields.starts[column] ?? 0)
    // In CSV and TSV, spaces around a value belong to it (RFC 4180).
    if (this.#rules !== null) fields.findValue(record, column)
    this.bytes = record
    this.start = fields.valueStart
    this.end = fields.valueEnd
    if (isText(record, this.start, this.end, unset)) return false
    if (isText(record, this.start, this.end, empty)) this.end = this.start
    if (isQuoted && record.subarray(this.start, this.end).includes(QUOTE)) {
      this.bytes = undoubled(record, this.start, this.end)
      this.start = 0
      this.end = this.bytes.length
    }
    return true
  }

  /** Reads quotes as `RecordFields` does. */
  override isOpenAfter(bytes: Uint8Array, start: number, end: number, isFirst: boolean): boolean {
    const { delimiter, quotes } = this.#plan
    if (isFirst) this.#place = 'start'
    for (let at = start; at < end && quotes; at++) {
      const isQuote = bytes[at] === QUOTE
      if (this.#place === 'quoted') {
        if (isQuote) this.#place = 'closed'
      } else if (isQuote && this.#place !== 'text') this.#place = 'quoted'
      else this.#place = bytes[at] === delimiter ? 'start' : 'text'
    }
    return this.#place === 'quoted'
  }

  #misfit(count: number): string {
    if (this.#rules === null)
      return `it has ${count} ${count === 1 ? 'column' : 'columns'}, not ${this.#width}`
    return `it has ${count} ${count === 1 ? 'field' : 'fields'}, and its header has ${this.#width}`
  }

  /** Takes the record that was read. */
  #found(fields: RecordFields, bytes: Uint8Array, start: number, end: number): void {
    this.#fields = fields
    this.useBytes(bytes, start, end)
    this.instant = this.#clock === -1 ? NO_TIME : this.#readTime(fields, bytes)
    fields.findValue(bytes, this.#address)
    const { valueStart, valueEnd } = fields
    const { unset, empty } = this.#header
    const isMissing = isText(bytes, valueStart, valueEnd, unset) || isText(bytes, valueStart, valueEnd, empty)
    this.useAddress(bytes, valueStart, isMissing ? valueStart : valueEnd)
  }

  #readTime(fields: RecordFields, bytes: Uint8Array): number {
    fields.findValue(bytes, this.#clock)
    const { valueStart, valueEnd } = fields
    if (!this.#plan.isClock) return eventTime(bytes, valueStart, valueEnd)
    if (this.#header.isLocal) return NO_TIME
    // Times are UTC (W3C working draft, "Date" and "Time").
    if (valueEnd - valueStart > MAX_CLOCK) return NO_TIME
    const end = copy(bytes, valueStart, valueEnd, this.#utc, DAY_BYTES + 1)
    this.#utc[end] = CAPITAL_Z
    if (this.#day !== -1) {
      fields.findValue(bytes, this.#day)
      if (fields.valueEnd - fields.valueStart !== DAY_BYTES) return NO_TIME
      copy(bytes, fields.valueStart, fields.valueEnd, this.#utc, 0)
    }
    const instant = eventTime(this.#utc, 0, end + 1)
    // The records after `#Date:` are not older, except for requests that began shortly before.
    return this.#day === -1 && instant < this.#dated - HOUR_MS ? instant + DAY_MS : instant
  }
}

function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text.charCodeAt(at)) return false
  return true
}
