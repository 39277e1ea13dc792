import {
  BRACKET,
  BRACKET_END,
  CARRIAGE_RETURN,
  COLON,
  DASH,
  LINE_FEED,
  QUOTE,
  SLASH,
  SPACE,
  ZERO,
} from '../../ascii.ts'
import { fieldIndex } from '../../counting/field-values.ts'
import { asEventTime, TIMESTAMP_ROOM, Timestamp, twoDigits } from '../../locating/event-time.ts'
import { UNKNOWN } from '../../reading/record-reader.ts'
import { ByteFinder, isDigit, viewOf } from '../../swar.ts'
import { AnyLine, MAX_SIZE_DIGITS } from './any-line.ts'
import {
  AGENT,
  afterUser,
  endOfPlain,
  endOfText,
  HOST,
  IDENT,
  isMethod,
  isProtocol,
  type LineLayout,
  METHOD,
  openingBracket,
  PARTS,
  PROTOCOL,
  REFERRER,
  REQUEST_PARTS,
  SIZE,
  STATUS,
  TARGET,
  TIME,
  USER,
} from './line-syntax.ts'

/** Bytes of `10/Oct/2000:13:55:36 -0700]`. */
const LOG_TIME_BYTES = 27
/** Where the time of day begins in it. */
const CLOCK = 12

/** `2000-10-10T13:55:36-07:00`, and where the time of day begins in it. */
const ISO_BYTES = 25
const ISO_CLOCK = 11

/**
 * Reads the times of access logs that are written as most servers do, `10/Oct/2000:13:55:36 -0700]`. Compares day and offset
 * with those of the line before as words, since nearly all lines have the same.
 */
class LogTime {
  /** The time that was read last, in milliseconds since 1970. */
  instant = Number.NaN
  /** The parsed time of the last line whose day or offset was new. */
  readonly #timestamp = new Timestamp()
  /** The time of that line in ISO 8601. */
  readonly #iso = new Uint8Array(TIMESTAMP_ROOM)
  readonly #isoView = viewOf(this.#iso)
  /** Midnight of the day in its offset. */
  #midnight = Number.NaN
  #day0 = 0
  #day1 = 0
  #day2 = 0
  #offset0 = 0
  #offset1 = 0

  /** Reads the time at `at`. @returns whether it is one, in this form */
  read(bytes: Uint8Array, view: DataView, at: number): boolean {
    const isSame =
      view.getInt32(at, true) === this.#day0 &&
      view.getInt32(at + 4, true) === this.#day1 &&
      view.getInt32(at + 8, true) === this.#day2 &&
      view.getInt32(at + 20, true) === this.#offset0 &&
      view.getInt32(at + 23, true) === this.#offset1
    if (!isSame) return this.#readDay(bytes, view, at)
    const hour = twoDigits(bytes, at + CLOCK)
    const minute = twoDigits(bytes, at + CLOCK + 3)
    const second = twoDigits(bytes, at + CLOCK + 6)
    this.instant = this.#midnight + ((hour * 60 + minute) * 60 + second) * 1000
    const isSpelt = bytes[at + CLOCK + 2] === COLON && bytes[at + CLOCK + 5] === COLON
    return isSpelt && hour <= 23 && minute <= 59 && second <= 60
  }

  /** Writes the time last read, which is at `from`, in ISO 8601: {@link ISO_BYTES}, and seven more. */
  put(view: DataView, from: number, to: number): void {
    const iso = this.#isoView
    for (let at = 0; at < ISO_BYTES; at += 8) view.setFloat64(to + at, iso.getFloat64(at, true), true)
    view.setInt32(to + ISO_CLOCK, view.getInt32(from + CLOCK))
    view.setInt32(to + ISO_CLOCK + 4, view.getInt32(from + CLOCK + 4))
  }

  #readDay(bytes: Uint8Array, view: DataView, at: number): boolean {
    this.#day0 = 0
    const end = at + LOG_TIME_BYTES - 1
    // The time has no fraction if its offset has the usual place.
    const isSpelt = bytes[at + 2] === SLASH && bytes[at + 20] === SPACE && bytes[end] === BRACKET_END
    if (!isSpelt || this.#timestamp.read(bytes, at, end) !== end) return false
    const clock = at + CLOCK
    const seconds =
      (twoDigits(bytes, clock) * 60 + twoDigits(bytes, clock + 3)) * 60 + twoDigits(bytes, clock + 6)
    this.instant = this.#timestamp.instant
    this.#midnight = this.instant - seconds * 1000
    this.#timestamp.put(bytes, this.#iso, 0)
    this.#day0 = view.getInt32(at, true)
    this.#day1 = view.getInt32(at + 4, true)
    this.#day2 = view.getInt32(at + 8, true)
    this.#offset0 = view.getInt32(at + 20, true)
    this.#offset1 = view.getInt32(at + 23, true)
    return true
  }
}

/** `- - `, between the address and the time of most lines. */
const DASHES = 0x2d202d20
/** `GET `. */
const GET = 0x47455420
/** ` HTTP/1.`, as two words. */
const [HTTP, HTTP_4] = [0x20485454, 0x502f312e] as const
/** ` HTTP/1.1` and ` HTTP/2`. */
const PROTOCOL_BYTES = [9, 7] as const

/** How much `usual` reads. */
type Depth = 'address' | 'request' | 'all'

/**
 * Reads lines of access logs, in the common and the combined format of Apache and nginx:
 *
 *     host ident user [time] "request" status bytes
 *     host ident user [time] "request" status bytes "referrer" "user agent"
 *
 * If the layout says so, a virtual host comes before the host, and a quoted `X-Forwarded-For` after the user agent. Any text can
 * follow the last part. Servers write a quote in a quoted part as `\"` or `\x22`. An unescaped quote ends the part only if the
 * next part can follow.
 *
 * A usual line begins with an address, has a time in the usual form after it, and ends with a line feed alone. If its request is
 * wanted, that is `METHOD target HTTP/1.1`. If all parts are wanted, it has all of them, and no byte that JSON must escape.
 */
export class AccessLogReader extends AnyLine {
  override readonly hasUsual = true
  override readonly counted: readonly number[]
  readonly #depth: Depth
  readonly #logTime = new LogTime()
  #lineFeeds = new ByteFinder(LINE_FEED, this.record)

  /**
   * @param counted names of parts
   * @param wantsFields whether all parts are wanted
   */
  constructor(layout: LineLayout, counted: readonly string[] = [], wantsFields = false) {
    super(layout)
    this.counted = counted.map((field) => fieldIndex(PARTS, field))
    const isOfRequest = this.counted.every((part) => REQUEST_PARTS.includes(part))
    this.#depth = wantsFields || !isOfRequest ? 'all' : counted.length > 0 ? 'request' : 'address'
  }

  override usual(bytes: Uint8Array, view: DataView, start: number, limit: number): number {
    if (this.layout.hasVhost || this.layout.hasForwarded) return -1
    const host = this.addressBefore(bytes, start, SPACE)
    if (host === -1) return -1
    const isAll = this.#depth === 'all'
    let time = host + 5
    if (view.getInt32(host + 1) !== DASHES || bytes[time] !== BRACKET) {
      time = isAll ? afterUser(bytes, host) : openingBracket(bytes, host + 1)
      if (time === -1) return -1
    }
    if (!this.#logTime.read(bytes, view, time + 1)) return -1
    const request = time + 3 + LOG_TIME_BYTES
    let lineEnd: number
    if (isAll) {
      lineEnd = this.#usualParts(bytes, view, request)
      if (lineEnd === -1) return -1
      this.found(HOST, start, host)
      this.starts[IDENT] = UNKNOWN
      this.#foundKnown(bytes, USER, host + 3, time - 1)
      this.found(TIME, limit, limit + ISO_BYTES)
      this.#logTime.put(view, time + 1, limit)
    } else {
      if (this.#lineFeeds.bytes !== bytes) this.#lineFeeds = new ByteFinder(LINE_FEED, bytes)
      lineEnd = this.#lineFeeds.next(request - 2, limit)
      if (bytes[lineEnd - 1] === CARRIAGE_RETURN) return -1
      if (this.#depth === 'request' && !this.#usualRequest(bytes, view, request)) return -1
    }
    this.instant = asEventTime(this.#logTime.instant)
    this.useBytes(bytes, start, lineEnd)
    this.isPlain = isAll
    return lineEnd
  }

  /** Finds the parts from the request on, for `usual`. @returns where the line feed is, or -1 */
  #usualParts(bytes: Uint8Array, view: DataView, request: number): number {
    if (!this.#usualRequest(bytes, view, request, true)) return -1
    const sizeEnd = this.ends[SIZE] ?? 0
    if (bytes[sizeEnd] === LINE_FEED) {
      this.starts[REFERRER] = this.starts[AGENT] = UNKNOWN
      return sizeEnd
    }
    if (bytes[sizeEnd] !== SPACE || bytes[sizeEnd + 1] !== QUOTE) return -1
    const referrerEnd = endOfPlain(view, sizeEnd + 2)
    const agent = referrerEnd + 3
    if (bytes[referrerEnd] !== QUOTE || bytes[agent - 2] !== SPACE || bytes[agent - 1] !== QUOTE) return -1
    const agentEnd = endOfPlain(view, agent)
    if (bytes[agentEnd] !== QUOTE || bytes[agentEnd + 1] !== LINE_FEED) return -1
    this.#foundKnown(bytes, REFERRER, sizeEnd + 2, referrerEnd)
    this.#foundKnown(bytes, AGENT, agent, agentEnd)
    return agentEnd + 1
  }

  /**
   * Finds the parts of the request after the quote before `start`, the status and the size, for `usual`.
   *
   * @param isPlain whether no byte of it must need an escape in JSON
   * @returns whether they are usual, and the size ends as a word
   */
  #usualRequest(bytes: Uint8Array, view: DataView, start: number, isPlain = false): boolean {
    if (bytes[start - 1] !== QUOTE || bytes[start - 2] !== SPACE) return false
    let method = start
    // Most methods and protocols are found by their words.
    if (view.getInt32(start) === GET) method += 3
    else while (isMethod(bytes[method] ?? 0)) method++
    if (bytes[method] !== SPACE || method === start || (method === start + 1 && bytes[start] === DASH))
      return false
    const quote = isPlain ? endOfPlain(view, method + 1) : endOfText(bytes, view, method + 1)
    if (bytes[quote] !== QUOTE) return false
    let target = quote - PROTOCOL_BYTES[0]
    const isHttp = view.getInt32(target) === HTTP && view.getInt32(target + 4) === HTTP_4
    if (bytes[target] !== SPACE || target <= method + 1) target = quote - PROTOCOL_BYTES[1]
    if (target <= method + 1 || bytes[target] !== SPACE) return false
    if (!(isHttp && isDigit(bytes[quote - 1] ?? 0)) && !isProtocol(bytes, target + 1, quote)) return false
    if (target === method + 2 && bytes[method + 1] === DASH) return false

    const status = quote + 2
    const size = status + 4
    if (bytes[quote + 1] !== SPACE || bytes[status + 3] !== SPACE || bytes[status] === ZERO) return false
    for (let at = status; at < status + 3; at++) if (!isDigit(bytes[at] ?? 0)) return false
    let sizeEnd = size
    if (bytes[size] === DASH) sizeEnd++
    else while (isDigit(bytes[sizeEnd] ?? 0)) sizeEnd++
    if (sizeEnd === size || sizeEnd > size + MAX_SIZE_DIGITS) return false
    if (bytes[size] === ZERO && sizeEnd > size + 1) return false
    if (bytes[sizeEnd] !== SPACE && bytes[sizeEnd] !== LINE_FEED) return false
    this.forget()
    this.found(METHOD, start, method)
    this.found(TARGET, method + 1, target)
    this.found(PROTOCOL, target + 1, quote)
    this.found(STATUS, status, status + 3)
    this.#foundKnown(bytes, SIZE, size, sizeEnd)
    return true
  }

  /** Takes a part of a usual line, unless it is a dash. */
  #foundKnown(bytes: Uint8Array, part: number, start: number, end: number): void {
    this.starts[part] = bytes[start] === DASH && end === start + 1 ? UNKNOWN : start
    this.ends[part] = end
  }
}
