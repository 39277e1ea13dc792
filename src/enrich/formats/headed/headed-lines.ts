import { ByteSink } from '../../../bytes/byte-sink.ts'
import { eventTime, NO_TIME } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { JsonText, jsonRoom } from '../../writing/json-text.ts'
import type { LineFormat, LineResult } from '../format-definition.ts'
import { type DirectiveRules, faultOfHeader, type Header, NO_HEADER } from './header.ts'
import type { HeadedPlan } from './plan.ts'

const QUOTE = 0x22
const CLOSE_BRACE = 0x7d

const HOUR_SECONDS = 3600
const DAY_MS = 86_400_000

/**
 * Enriches records whose fields a header names, and the headers themselves. A record keeps its bytes, and fields are
 * appended to it. Or it becomes an object, `null` for a value that is unknown, and the headers are left out.
 */
export class HeadedLines implements LineFormat<Header> {
  readonly rewrites: boolean
  fault = ''
  readonly header: LineFormat['header']
  readonly directive: LineFormat['directive']
  readonly #plan: HeadedPlan
  readonly #locator: LineLocator
  /** The fields that are appended to a record without a location. */
  readonly #nothing: Uint8Array
  readonly #time: ByteSink
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

  /** @param rules `null` if the first line is the header, and no line is a directive */
  constructor(plan: HeadedPlan, rules: DirectiveRules | null, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    this.#time = new ByteSink(64)
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
    if (isSame) return
    const { names } = header
    this.#headerFault = faultOfHeader(header, address, isObject ? [into] : columns)
    // An object has each name once.
    const distinct = names.map((name, at) => (names.indexOf(name) === at ? name : `${name}_${at + 1}`))
    this.#names = isObject ? [...distinct, into].map((name) => `,${escaped(name)}:`) : []
    const indexOf = (field: string | number | undefined): number =>
      typeof field === 'number' ? field : field === undefined ? -1 : names.indexOf(field)
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
        const from = isEmpty ? valueEnd : valueStart
        out.writeByte(QUOTE)
        out.length = this.#text.put(bytes, from, valueEnd, out.room(jsonRoom(valueEnd - from)), out.length)
        out.writeByte(QUOTE)
      }
    }
    out.writeAscii(this.#names[width] ?? '')
    this.#locator.writeJson(out)
    out.writeByte(CLOSE_BRACE)
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
    const scratch = this.#time
    scratch.length = 0
    if (this.#day !== -1) {
      record.findValue(bytes, this.#day)
      scratch.write(bytes, record.valueStart, record.valueEnd)
    } else scratch.writeAscii(this.#header.date)
    scratch.writeAscii('T')
    scratch.write(bytes, valueStart, valueEnd)
    // Times are UTC (W3C working draft, "Date" and "Time").
    scratch.writeAscii('Z')
    const { length } = scratch
    const instant = eventTime(scratch.room(0), 0, length)
    return this.#day !== -1 ? instant : instant + this.#daysSince(bytes, valueStart, valueEnd) * DAY_MS
  }

  /**
   * 1 if a time is of the day after the last `#Date:`, else 0: the records after `#Date:` are not older, except for requests
   * that began shortly before.
   */
  #daysSince(bytes: Uint8Array, start: number, end: number): number {
    const text = new TextDecoder().decode(bytes.subarray(start, end))
    return secondsOf(this.#header.time) - secondsOf(text) > HOUR_SECONDS ? 1 : 0
  }
}

/** Seconds of a time such as 16:44:49; `NaN` for other text. */
function secondsOf(text: string): number {
  const [hours, minutes, seconds] = text.split(':').map(Number)
  return (hours ?? Number.NaN) * 3600 + (minutes ?? Number.NaN) * 60 + (seconds ?? 0)
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
