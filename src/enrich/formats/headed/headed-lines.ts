import type { ByteSink } from '../../../bytes/byte-sink.ts'
import { type FieldValues, fieldIndex } from '../../counting/field-values.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import { eventTime, eventTimeOf, NO_TIME, twoDigits } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { addedMembers } from '../../options.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { JsonText, jsonRoom } from '../../writing/json-text.ts'
import { type DirectiveRules, faultOfHeader, type Header, NO_HEADER } from './header.ts'
import type { HeadedPlan } from './plan.ts'

const QUOTE = 0x22
const COLON = 0x3a
const CLOSE_BRACE = 0x7d

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Bytes of a day such as 2000-10-09. */
const DAY_BYTES = 10
/** Longer texts are not times of a day. Bytes. */
const MAX_CLOCK = 20

/**
 * Enriches records whose fields a header names, and the headers themselves. A record keeps its bytes, and fields are
 * appended to it. Or it becomes an object, `null` for a value that is unknown, and the headers are left out.
 */
export class HeadedLines implements LineFormat<Header>, FieldValues {
  readonly rewrites: boolean
  readonly values = this
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  fault = ''
  readonly header: LineFormat['header']
  readonly directive: LineFormat['directive']
  readonly #plan: HeadedPlan
  readonly #locator: LineLocator
  /** The fields that are appended to a record without a location. */
  readonly #nothing: Uint8Array
  readonly #text = new JsonText()
  /** `,"name":` for each field, then for the location. */
  #names: readonly string[] = []
  #header: Header = NO_HEADER
  /** What is wrong with the header; '' if nothing is. */
  #headerFault = ''
  /** Reads records in which values can be quoted, and records in which quotes are text. */
  #quoted: RecordFields | null = null
  #plain = new RecordFields(0, false, 0)
  #address = -1
  /** The fields of the time: one with an instant, or the one with the day and the one with the time of the day. */
  #day = -1
  #clock = -1
  /** The last day in a record, as text, and its start. */
  readonly #dayText = new Uint8Array(DAY_BYTES)
  #midnight = NO_TIME
  /** The day of `#Date:`, and its time of the day. */
  #dated = { midnight: NO_TIME, latest: NO_TIME }

  /** The fields that are counted, as indexes of the header. */
  #counted: readonly number[] = []
  #record: RecordFields | null = null

  /** @param rules `null` if the first line is the header, and no line is a directive */
  constructor(plan: HeadedPlan, rules: DirectiveRules | null, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    this.rewrites = plan.isObject
    const encoder = new TextEncoder()
    const separator = String.fromCharCode(plan.separator)
    this.#nothing = encoder.encode((separator + plan.unset).repeat(plan.fields.length))
    if (plan.isObject) {
      // Neither header nor directives.
    } else if (rules === null) {
      this.header = (bytes, start, end, out) => {
        out.write(bytes, start, end)
        for (const name of plan.columns) out.write(encoder.encode(separator + name))
      }
    } else {
      this.directive = (bytes, start, end, out) => {
        out.write(bytes, start, end)
        const text = new TextDecoder().decode(bytes.subarray(start, end))
        if (this.#headerFault === '') out.write(encoder.encode(rules.added(text, plan.columns, plan.fields)))
      }
    }
    this.use(plan.header)
  }

  use(header: Header): void {
    if (header === this.#header) return
    const { address, time, columns, separator, quotes, isObject, into } = this.#plan
    const isSame = header.names === this.#header.names
    this.#header = header
    this.#dated = { midnight: midnightOf(header.date), latest: clockOf(header.time) }
    if (isSame) return
    const { names } = header
    this.#headerFault = faultOfHeader(header, address, isObject ? addedMembers(this.#plan) : columns)
    // An object has each name once.
    const distinct = names.map((name, at) => (names.indexOf(name) === at ? name : `${name}_${at + 1}`))
    this.#names = isObject ? [...distinct, into].map((name) => `,${escaped(name)}:`) : []
    const indexOf = (field: string | number | undefined): number =>
      typeof field === 'number' ? field : field === undefined ? -1 : names.indexOf(field)
    this.#counted = (this.#plan.counted ?? []).map((field) => fieldIndex(names, field))
    this.#address = indexOf(address)
    const [first, second] = time
    this.#day = second === undefined ? -1 : indexOf(first)
    this.#clock = indexOf(second ?? first)
    const width = this.#headerFault === '' ? names.length : 0
    this.#plain = new RecordFields(separator, false, width)
    this.#quoted = quotes ? new RecordFields(separator, true, width) : null
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const record = this.#read(bytes, start, end)
    if (record === null) return 'bad'
    record.findValue(bytes, this.#address)
    const { valueStart, valueEnd } = record
    const isLocated = this.#isMissing(bytes, valueStart, valueEnd)
      ? this.#locator.missing()
      : this.#locator.locate(bytes, valueStart, valueEnd)
    this.#locator.instant = this.#instant(bytes, record)
    this.bytes = bytes
    this.#record = record
    if (!this.#locator.writesLines) return isLocated ? 'resolved' : 'unresolved'
    if (this.rewrites) {
      this.#writeObject(bytes, record, out)
      return isLocated ? 'resolved' : 'unresolved'
    }
    out.write(bytes, start, end)
    if (isLocated) {
      out.writeByte(this.#plan.separator)
      this.#locator.writeRendered(out)
    } else out.write(this.#nothing)
    return isLocated ? 'resolved' : 'unresolved'
  }

  find(counted: number): boolean {
    const field = this.#counted[counted] ?? -1
    if (field === -1 || this.#record === null) return false
    this.#record.findValue(this.bytes, field)
    const { valueStart, valueEnd } = this.#record
    this.end = valueEnd
    this.start = isText(this.bytes, valueStart, valueEnd, this.#header.empty) ? valueEnd : valueStart
    return !isText(this.bytes, valueStart, valueEnd, this.#header.unset)
  }

  #writeObject(bytes: Uint8Array, record: RecordFields, out: ByteSink): void {
    const { length: width } = this.#header.names
    for (let field = 0; field < width; field++) {
      const name = this.#names[field] ?? ''
      out.writeAscii(field === 0 ? `{${name.slice(1)}` : name)
      record.findValue(bytes, field)
      const { valueStart, valueEnd } = record
      if (isText(bytes, valueStart, valueEnd, this.#header.unset)) out.writeAscii('null')
      else {
        const isEmpty = isText(bytes, valueStart, valueEnd, this.#header.empty)
        out.writeByte(QUOTE)
        if (!isEmpty) this.#writeText(bytes, valueStart, valueEnd, record === this.#quoted, out)
        out.writeByte(QUOTE)
      }
    }
    out.writeAscii(this.#names[width] ?? '')
    this.#locator.writeJson(out)
    out.writeByte(CLOSE_BRACE)
  }

  /** Writes a value as the text of a JSON string. */
  #writeText(bytes: Uint8Array, start: number, end: number, mayBeQuoted: boolean, out: ByteSink): void {
    let from = start
    // A doubled quote in quotes stands for one.
    if (mayBeQuoted && bytes[start - 1] === QUOTE) {
      for (let at = start; at < end; at++) {
        if (bytes[at] !== QUOTE || bytes[at + 1] !== QUOTE || at + 1 === end) continue
        at++
        this.#writeText(bytes, from, at, false, out)
        from = at + 1
      }
    }
    out.length = this.#text.put(bytes, from, end, out.room(jsonRoom(end - from)), out.length)
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

  #isMissing(bytes: Uint8Array, start: number, end: number): boolean {
    const { unset, empty } = this.#header
    return isText(bytes, start, end, unset) || isText(bytes, start, end, empty)
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
      this.#midnight = midnightOf(String.fromCharCode(...this.#dayText))
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
  return end > start + MAX_CLOCK ? NO_TIME : clockOf(String.fromCharCode(...bytes.subarray(start, end)))
}

function clockOf(text: string): number {
  return eventTimeOf(`1970-01-01T${text}Z`)
}

function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length || text === '') return false
  for (let at = 0; at < text.length; at++) if (bytes[start + at] !== text.charCodeAt(at)) return false
  return true
}

/** A name as JSON in ASCII. */
function escaped(name: string): string {
  return JSON.stringify(name).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
