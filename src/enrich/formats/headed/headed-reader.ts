import { COLON, QUOTE } from '../../ascii.ts'
import { fieldIndex } from '../../counting/field-values.ts'
import { eventTime, eventTimeOf, NO_TIME, twoDigits } from '../../locating/event-time.ts'
import { addedMembers } from '../../options.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { type ReaderField, type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { latin1 } from '../../swar.ts'
import { distinctNames, type TablePlan, undoubled } from '../delimited/table.ts'
import { type DirectiveRules, faultOfHeader, type Header, NO_HEADER } from './header.ts'

/** `names` are those of all headers of the sample. `headerLine` is 0 if directives are headers. */
export interface HeadedPlan extends TablePlan {
  readonly format: 'w3c' | 'zeek' | 'ssv'
  /** The byte between the fields of a record. */
  readonly separator: number
  /** Whether values can be quoted. */
  readonly quotes: boolean
  /** How an unknown value is written. */
  readonly unset: string
  /** What is known before the first record: all if the first line is the header, nothing if directives are. */
  readonly header: Header
  /** The name of the field of the address, or its index. */
  readonly address: string | number
  /** The field of the time, or the fields of the day and of the time; empty if there is none. */
  readonly time: readonly (string | number)[]
  /** Whether the last of `time` is a time of the day, whose day is in the field before or in `#Date:`. */
  readonly isClock: boolean
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Bytes of a day such as 2000-10-09. */
const DAY_BYTES = 10
/** Longer texts are not times of a day. Bytes. */
const MAX_CLOCK = 20

/** Reads records whose fields a header names. A value that the header says is unknown or empty is so. */
export class HeadedReader extends RecordReader<Header> {
  override fields: readonly ReaderField[] = []
  override counted: readonly number[] = []
  readonly #plan: HeadedPlan
  readonly #rules: DirectiveRules | null
  #header: Header = NO_HEADER
  /** The fault of the header; '' without one. */
  #headerFault = ''
  /** Reads records in which values can be quoted, and records in which quotes are text. */
  #quoted: RecordFields | null = null
  #plain = new RecordFields(0, false, 0)
  /** The reader of the last record. */
  #fields = this.#plain
  #address = -1
  /** The fields of the time: one with an instant, or the one with the day and the one with the time of the day. */
  #day = -1
  #clock = -1
  /** The last day in a record, as text, and its start. */
  readonly #dayText = new Uint8Array(DAY_BYTES)
  #midnight = NO_TIME
  /** The day of `#Date:`, and its time of the day. */
  #dated = { midnight: NO_TIME, latest: NO_TIME }

  /** @param rules `null` if the first line is the header, and no line is a directive */
  constructor(plan: HeadedPlan, rules: DirectiveRules | null) {
    super()
    this.#plan = plan
    this.#rules = rules
    this.use(plan.header)
  }

  override use(header: Header): void {
    if (header === this.#header) return
    const { address, time, columns, separator, quotes, isObject } = this.#plan
    const isSame = header.names === this.#header.names
    this.#header = header
    this.#dated = { midnight: midnightOf(header.date), latest: clockOf(header.time) }
    if (isSame) return
    const { names } = header
    this.#headerFault = faultOfHeader(header, address, isObject ? addedMembers(this.#plan) : columns)
    this.fields = distinctNames(names).map((name) => ({ name, kind: 'text' }))
    const indexOf = (field: string | number | undefined): number =>
      typeof field === 'number' ? field : field === undefined ? -1 : names.indexOf(field)
    this.counted = (this.#plan.counted ?? []).map((field) => fieldIndex(names, field))
    this.#address = indexOf(address)
    const [first, second] = time
    this.#day = second === undefined ? -1 : indexOf(first)
    this.#clock = indexOf(second ?? first)
    const width = this.#headerFault === '' ? names.length : 0
    this.#plain = new RecordFields(separator, false, width)
    this.#quoted = quotes ? new RecordFields(separator, true, width) : null
  }

  override addedTo(directive: string): string {
    const { columns, fields } = this.#plan
    return this.#headerFault === '' ? (this.#rules?.added(directive, columns, fields) ?? '') : ''
  }

  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const fields = this.#read(bytes, start, end)
    if (fields === null) return 'bad'
    this.useBytes(bytes, start, end)
    this.#fields = fields
    fields.findValue(bytes, this.#address)
    const { valueStart, valueEnd } = fields
    this.addressStart = valueStart
    const { unset, empty } = this.#header
    const isMissing = isText(bytes, valueStart, valueEnd, unset) || isText(bytes, valueStart, valueEnd, empty)
    this.addressEnd = isMissing ? valueStart : valueEnd
    this.instant = this.#instant(bytes, fields)
    return 'read'
  }

  override find(field: number): boolean {
    const { record } = this
    this.#fields.findValue(record, field)
    const { valueStart, valueEnd } = this.#fields
    this.bytes = record
    this.start = valueStart
    this.end = isText(record, valueStart, valueEnd, this.#header.empty) ? valueStart : valueEnd
    if (isText(record, valueStart, valueEnd, this.#header.unset)) return false
    const isQuoted = this.#fields === this.#quoted && record[valueStart - 1] === QUOTE
    if (isQuoted && record.subarray(valueStart, this.end).includes(QUOTE)) {
      this.bytes = undoubled(record, valueStart, this.end)
      this.start = 0
      this.end = this.bytes.length
    }
    return true
  }

  /** @returns `null` if the record does not fit its header; `fault` then says why */
  #read(bytes: Uint8Array, start: number, end: number): RecordFields | null {
    this.fault = this.#headerFault
    if (this.fault !== '') return null
    const width = this.#header.names.length
    // Some programs quote values with spaces, and others write quotes as text: the number of fields tells.
    const quoted = this.#quoted
    if (quoted?.read(bytes, start, end) && quoted.count === width && quoted.textAfterQuote === 0)
      return quoted
    this.#plain.read(bytes, start, end)
    const { count } = this.#plain
    if (count === width) return this.#plain
    this.fault = `it has ${count} ${count === 1 ? 'field' : 'fields'}, and its header has ${width}`
    return null
  }

  #instant(bytes: Uint8Array, record: RecordFields): number {
    if (this.#clock === -1) return NO_TIME
    record.findValue(bytes, this.#clock)
    const { valueStart, valueEnd } = record
    const { isClock } = this.#plan
    if (!isClock) return eventTime(bytes, valueStart, valueEnd)
    if (this.#header.isLocal) return NO_TIME
    // Times are UTC (W3C working draft, "Date" and "Time").
    const clock = clockAt(bytes, valueStart, valueEnd)
    if (this.#day !== -1) return this.#midnightIn(bytes, record) + clock
    const { midnight, latest } = this.#dated
    // The records after `#Date:` are not older, except for requests that began shortly before.
    return midnight + clock + (clock < latest - HOUR_MS ? DAY_MS : 0)
  }

  /** The start of a record's day in UTC. Most records have the day of the record before. */
  #midnightIn(bytes: Uint8Array, record: RecordFields): number {
    record.findValue(bytes, this.#day)
    const { valueStart, valueEnd } = record
    if (valueEnd - valueStart !== DAY_BYTES) return NO_TIME
    for (let at = 0; at < DAY_BYTES; at++) {
      if (bytes[valueStart + at] === this.#dayText[at]) continue
      this.#dayText.set(bytes.subarray(valueStart, valueEnd))
      this.#midnight = midnightOf(latin1(this.#dayText, 0, DAY_BYTES))
      break
    }
    return this.#midnight
  }
}

/** The start of a day such as 2000-10-09, in UTC, or {@link NO_TIME}. */
function midnightOf(day: string): number {
  return eventTimeOf(`${day}T00:00Z`)
}

/** Milliseconds since midnight at a time such as 16:44:49, with a fraction or without seconds, or {@link NO_TIME}. */
function clockAt(bytes: Uint8Array, start: number, end: number): number {
  const isUsual = end === start + 8 && bytes[start + 2] === COLON && bytes[start + 5] === COLON
  const [hour, minute] = [twoDigits(bytes, start), twoDigits(bytes, start + 3)]
  const second = twoDigits(bytes, start + 6)
  if (isUsual && hour <= 23 && minute <= 59 && second <= 59)
    return ((hour * 60 + minute) * 60 + second) * 1000
  return end > start + MAX_CLOCK ? NO_TIME : clockOf(latin1(bytes, start, end))
}

function clockOf(text: string): number {
  return eventTimeOf(`1970-01-01T${text}Z`)
}

function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length || text === '') return false
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text.charCodeAt(at)) return false
  return true
}
