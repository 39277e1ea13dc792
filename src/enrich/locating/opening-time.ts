import { BRACKET, COLON, COMMA, DASH, DOT, EQUALS, LESS, MORE, SLASH, SPACE, ZERO } from '../ascii.ts'
import { isDigit, latin1 } from '../swar.ts'
import {
  eventTimeOf,
  midnightOf,
  millisecondsOf,
  monthAt,
  NO_TIME,
  Timestamp,
  twoDigits,
} from './event-time.ts'

const LOWER_T = 0x74
const BAR = 0x7c

const DAY_MS = 86_400_000
/** 29 February is missing in at most seven years in a row. */
const MOST_YEARS = 9
/** Digits of seconds since 1970, of all times from September 2001 to 2286. Fewer can count from the start of a computer. */
const EPOCH_DIGITS = 10
/** Stands for the year of a day without one. */
const YEARLESS = -2
/** Bytes of the shortest time: "Oct 1 14:32:52", or "1697034772.123". */
const SHORTEST = 14

/**
 * What is known about a time: an `instant`, a `local` time whose offset from UTC is unknown, a local time that is `yearless` too,
 * or nothing.
 */
export type OpeningTimeKind = 'none' | 'instant' | 'local' | 'yearless'

/**
 * Reads the time that opens a line of text, also in a bracket, after the priority of syslog, `<34>` or `<165>1 `, and after the
 * key of logfmt, `time=`:
 * - what {@link Timestamp} reads: RFC 3339, RFC 5424, access logs
 * - the same without an offset: `2023-10-11 14:32:52,123`. `UTC`, `GMT` or `Z` can follow
 * - nginx's error log: `2023/10/11 14:32:52`
 * - BIND, PHP and Django: `11-Oct-2023 14:32:52`, `[11/Oct/2023 14:32:52]`
 * - Apache's error log, uWSGI and `ctime`: `[Wed Oct 11 14:32:52.123 2023]`
 * - syslog, RFC 3164: `Oct 11 14:32:52`, also with a year: `Oct 11 2023 14:32:52`
 * - Suricata and Snort: `10/11/2023-14:32:52.123`, `10/11-14:32:52.123`
 * - seconds since 1970 with a fraction: `[1697034772.123]`
 *
 * Some programs write something else first: see {@link BEFORE} and {@link opensAccessLog}.
 */
export class OpeningTime {
  /** Milliseconds since 1970 of the last time; {@link NO_TIME} without one. A local time is read as if it were UTC. */
  instant = NO_TIME
  readonly #latest: number
  readonly #timestamp = new Timestamp()
  /** The last day of a local time, and its start. The year is `YEARLESS` if it was not written. */
  #year = -1
  #month = 0
  #day = 0
  #midnight = NO_TIME
  #isDay = false
  /** Milliseconds since midnight. */
  #clock = 0

  /**
   * @param latest the instant before which the lines were written, for times without a year. Their year is the latest in which the
   *   day begins at most a day after this instant, because of time zones. {@link NO_TIME} if it is unknown: times without a year
   *   then have no instant
   */
  constructor(latest: number) {
    this.#latest = latest
  }

  /** Reads the time that opens `bytes[line, end)`. */
  read(bytes: Uint8Array, line: number, end: number): OpeningTimeKind {
    this.instant = NO_TIME
    const kind = this.#readFirst(bytes, line, end)
    return kind === 'none' ? this.#readLater(bytes, line, end) : kind
  }

  #readFirst(bytes: Uint8Array, line: number, end: number): OpeningTimeKind {
    let start = bytes[line] === LESS ? endOfPriority(bytes, line, end) : line
    if (bytes[start] === BRACKET) start++
    else if (bytes[start] === LOWER_T) start = endOfKey(bytes, start)
    if (end - start < SHORTEST) return 'none'
    if (isDigit(bytes[start])) return this.#readNumbers(bytes, start, end)
    if (bytes[start + 3] !== SPACE) return 'none'
    const month = monthAt(bytes, start)
    if (month > 0) return this.#readDay(bytes, start + 4, end, month, false)
    // A weekday, in any language, and a month.
    const isAfterDay = bytes[start + 7] === SPACE
    return isAfterDay ? this.#readDay(bytes, start + 8, end, monthAt(bytes, start + 4), true) : 'none'
  }

  /**
   * Reads a time after other words: see {@link BEFORE} and {@link opensAccessLog}. Most lines have no such time. Their bytes
   * show that, so no text is made of them.
   */
  #readLater(bytes: Uint8Array, line: number, end: number): OpeningTimeKind {
    const limit = Math.min(end, line + MAX_HEAD_BYTES)
    const mark = nextMark(bytes, line, limit)
    if (bytes[mark] === EQUALS) {
      const head = latin1(bytes, line, limit)
      const kind = this.#readFortigate(head)
      if (kind !== 'none') return kind
      const after = line + (BEFORE.logfmt.exec(head)?.[0].length ?? 0)
      if (after > line) return this.#readAt(bytes, after, end)
    } else if (bytes[mark] === BAR && isDigit(bytes[mark + 2])) {
      if (BEFORE.compose.test(latin1(bytes, line, mark + 2))) return this.#readAt(bytes, mark + 2, end)
    }
    for (let at = mark; at < limit; at++) {
      if (bytes[at] !== BRACKET || !isDigit(bytes[at + 1])) continue
      const isTime =
        bytes[at + 3] === SLASH
          ? opensAccessLog(bytes, line, at)
          : bytes[at + 5] === DASH && BEFORE.logrus.test(latin1(bytes, line, at + 1))
      if (isTime) return this.#readAt(bytes, at + 1, end)
    }
    return 'none'
  }

  #readAt(bytes: Uint8Array, at: number, end: number): OpeningTimeKind {
    return isDigit(bytes[at]) && end - at >= SHORTEST ? this.#readNumbers(bytes, at, end) : 'none'
  }

  /** `date=2023-10-11 time=14:32:52` and what else says the instant. */
  #readFortigate(head: string): OpeningTimeKind {
    const [, date, time] = BEFORE.fortigate.exec(head) ?? []
    if (date === undefined) return 'none'
    const [, epoch] = / eventtime=(\d{10,19}) /.exec(head) ?? []
    const [, zone = ''] = / tz="([+-]\d{4})"/.exec(head) ?? []
    this.instant = eventTimeOf(epoch ?? `${date}T${time}${zone}`)
    if (!Number.isNaN(this.instant)) return 'instant'
    this.instant = eventTimeOf(`${date}T${time}Z`)
    return Number.isNaN(this.instant) ? 'none' : 'local'
  }

  /** A time that begins with a digit. */
  #readNumbers(bytes: Uint8Array, start: number, end: number): OpeningTimeKind {
    const separator = bytes[start + 4]
    if (separator === DASH || bytes[start + 2] === SLASH) {
      const after = this.#timestamp.read(bytes, start, end)
      if (after !== -1 && isDelimiter(bytes, after, end)) {
        this.instant = this.#timestamp.instant
        return 'instant'
      }
    }
    const month = monthAt(bytes, start + 3)
    if (month > 0 && bytes[start + 6] === bytes[start + 2])
      return this.#readNamedMonth(bytes, start, end, month)
    if (bytes[start + 2] === SLASH) return this.#readMonthFirst(bytes, start, end)
    if (separator !== DASH && separator !== SLASH) return this.#readSeconds(bytes, start, end)
    const isTimeNext = bytes[start + 10] === SPACE || ((bytes[start + 10] ?? 0) | 0x20) === LOWER_T
    if (bytes[start + 7] !== separator || !isTimeNext) return 'none'
    const isDay = this.#setDay(yearAt(bytes, start), twoDigits(bytes, start + 5), twoDigits(bytes, start + 8))
    return isDay ? this.#readRest(bytes, start + 11, end) : 'none'
  }

  /** `10/11/2023-14:32:52.123` or `10/11-14:32:52.123`, month and day. */
  #readMonthFirst(bytes: Uint8Array, start: number, end: number): OpeningTimeKind {
    const [month, day] = [twoDigits(bytes, start), twoDigits(bytes, start + 3)]
    const isYearless = bytes[start + 5] === DASH
    if (!isYearless && (bytes[start + 5] !== SLASH || bytes[start + 10] !== DASH)) return 'none'
    const isDay = this.#setDay(isYearless ? YEARLESS : yearAt(bytes, start + 6), month, day)
    const kind = isDay ? this.#readRest(bytes, start + (isYearless ? 6 : 11), end) : 'none'
    return isYearless && kind !== 'none' ? 'yearless' : kind
  }

  /** `11-Oct-2023 14:32:52`, `11/Oct/2023 14:32:52`, or `11/Oct/2023:14:32:52` without an offset, as HAProxy writes it. */
  #readNamedMonth(bytes: Uint8Array, start: number, end: number, month: number): OpeningTimeKind {
    const separator = bytes[start + 2]
    const isSpelt =
      (separator === DASH || separator === SLASH) &&
      (bytes[start + 11] === SPACE || (separator === SLASH && bytes[start + 11] === COLON))
    const isDay = isSpelt && this.#setDay(yearAt(bytes, start + 7), month, twoDigits(bytes, start))
    return isDay ? this.#readRest(bytes, start + 12, end) : 'none'
  }

  /** The time of the day after a day, and the zone if it is UTC. */
  #readRest(bytes: Uint8Array, start: number, end: number): OpeningTimeKind {
    const after = this.#readClock(bytes, start, end)
    if (after === -1) return 'none'
    this.instant = this.#midnight + this.#clock
    return isUtc(bytes, after, end) ? 'instant' : 'local'
  }

  /** `11 14:32:52` or `11 2023 14:32:52`; with a weekday before it `11 14:32:52 2023`. */
  #readDay(
    bytes: Uint8Array,
    start: number,
    end: number,
    month: number,
    hasWeekday: boolean,
  ): OpeningTimeKind {
    // Days below ten have a space, a zero, or nothing before them.
    const isShort = bytes[start + 1] === SPACE
    const day =
      bytes[start] === SPACE || isShort
        ? digitAt(bytes, isShort ? start : start + 1)
        : twoDigits(bytes, start)
    let clock = start + (isShort ? 2 : 3)
    if (month === 0 || bytes[clock - 1] !== SPACE) return 'none'
    const isYearFirst = !hasWeekday && bytes[clock + 2] !== COLON
    const isYearless = !hasWeekday && !isYearFirst
    let year = yearAt(bytes, clock)
    if (isYearFirst) clock += 5
    const after = this.#readClock(bytes, clock, end)
    if (after === -1) return 'none'
    if (hasWeekday) year = bytes[after] === SPACE && after + 5 <= end ? yearAt(bytes, after + 1) : -1
    if (!this.#setDay(isYearless ? YEARLESS : year, month, day)) return 'none'
    this.instant = this.#midnight + this.#clock
    return isYearless ? 'yearless' : 'local'
  }

  /** `1697034772.123`. */
  #readSeconds(bytes: Uint8Array, start: number, end: number): OpeningTimeKind {
    let at = start
    let seconds = 0
    while (at < end && at < start + EPOCH_DIGITS && isDigit(bytes[at]))
      seconds = seconds * 10 + digitAt(bytes, at++)
    if (at !== start + EPOCH_DIGITS || bytes[at] !== DOT) return 'none'
    const after = endOfFraction(bytes, at, end)
    if (after === at || !isDelimiter(bytes, after, end)) return 'none'
    this.instant = seconds * 1000 + millisecondsOf(bytes, at, after)
    return 'instant'
  }

  /** Reads `14:32:52` and a fraction. @returns where it ends, or -1 */
  #readClock(bytes: Uint8Array, start: number, end: number): number {
    // MySQL pads an hour below ten with a space.
    const isPadded = bytes[start] === SPACE && isDigit(bytes[start + 1])
    const hour = isPadded ? digitAt(bytes, start + 1) : twoDigits(bytes, start)
    const minute = twoDigits(bytes, start + 3)
    const second = twoDigits(bytes, start + 6)
    const isClock = bytes[start + 2] === COLON && bytes[start + 5] === COLON && start + 8 <= end
    // Second 60 is a leap second.
    if (!isClock || hour > 23 || minute > 59 || second > 60) return -1
    const after = endOfFraction(bytes, start + 8, end)
    this.#clock = ((hour * 60 + minute) * 60 + second) * 1000 + millisecondsOf(bytes, start + 8, after)
    return isDigit(bytes[after]) && after < end ? -1 : after
  }

  /** @param year `YEARLESS` for the latest year that is possible. @returns whether the day exists; its start can be unknown */
  #setDay(year: number, month: number, day: number): boolean {
    // Most lines of a log have the day of the line before.
    if (day === this.#day && month === this.#month && year === this.#year) return this.#isDay
    this.#year = year
    this.#month = month
    this.#day = day
    // Any leap year has all days.
    const midnight = midnightOf(year === YEARLESS ? 2000 : year, month, day)
    this.#isDay = !Number.isNaN(midnight)
    this.#midnight = year === YEARLESS ? this.#latestMidnight(month, day) : midnight
    return this.#isDay
  }

  /** The start of the day in the latest year that is possible, or {@link NO_TIME}. */
  #latestMidnight(month: number, day: number): number {
    const last = new Date(this.#latest + DAY_MS).getUTCFullYear()
    for (let year = last; year > last - MOST_YEARS; year--) {
      const midnight = midnightOf(year, month, day)
      if (midnight <= this.#latest + DAY_MS) return midnight
    }
    return NO_TIME
  }
}

/** Bytes of a line in which a time is looked for. */
const MAX_HEAD_BYTES = 320
/** What programs write before a time of digits, up to its first digit. */
const BEFORE = {
  /** Docker Compose, the name of a container: `web  | 2023-10-11 14:32:52`. */
  compose: /^[\w.-]{1,100} {0,60}\| $/,
  /** The level: `INFO[2023-10-11T14:32:52Z]`. */
  logrus: /^[A-Z]{4,7}\[$/,
  /** Other keys: `level=info ts=2023-10-11T14:32:52Z`. */
  logfmt: /^(?:[\w.]{1,40}=(?:"[^"]{0,100}"|[^" ]{0,100}) )+?(?:time|timestamp|ts|t)="?(?=\d)/,
  /** Fortinet's logs: `date=2023-10-11 time=14:32:52`, also after a priority of syslog. */
  fortigate: /^(?:<\d{1,3}>)?date=(\d{4}-\d\d-\d\d),? ?time=(\d\d:\d\d:\d\d)[ ,]/,
}

/** Keys of logfmt for the time of a line, the first one of the line. */
const KEY = /^(?:time|timestamp|ts|t)="?/
/** Bytes of the longest key, with `="`. */
const KEY_BYTES = 11

/**
 * Whether the words before a bracket are those of HAProxy, `192.0.2.1:4711 [11/Oct/2023:14:32:52.123]`, or of an access log, also
 * with a virtual host: `192.0.2.1 - - [` and `example.com 192.0.2.1 - - [`. Makes no text, because most lines of such logs come here.
 */
function opensAccessLog(bytes: Uint8Array, line: number, open: number): boolean {
  let words = 0
  let last = line
  let isDash = false
  for (let at = line; at < open; at++) {
    if (bytes[at] !== SPACE) continue
    if (at === last) return false
    // A dash must be the word before the last.
    isDash = words > 0 && isDashBefore(bytes, last, line)
    last = at + 1
    words++
  }
  return last === open && (words === 1 || ((words === 3 || words === 4) && isDash))
}

/** Whether the word that ends before `end - 1` is a dash. */
function isDashBefore(bytes: Uint8Array, end: number, line: number): boolean {
  return bytes[end - 2] === DASH && (end - 2 === line || bytes[end - 3] === SPACE)
}

/** Where the first of `[`, `=` and `|` is in `bytes[start, end)`; `end` when there is none. */
function nextMark(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== BRACKET && bytes[at] !== EQUALS && bytes[at] !== BAR) at++
  return at
}

/** Where the value of a key begins; `start` when there is none. */
function endOfKey(bytes: Uint8Array, start: number): number {
  const [key = ''] = KEY.exec(latin1(bytes, start, start + KEY_BYTES)) ?? []
  return start + key.length
}

/** `<34>`, or `<165>1 ` with the version of RFC 5424. @returns where it ends, or its start when there is none */
function endOfPriority(bytes: Uint8Array, start: number, end: number): number {
  let at = start + 1
  while (at < start + 4 && at < end && isDigit(bytes[at])) at++
  if (at === start + 1 || bytes[at] !== MORE) return start
  return bytes[at + 1] === ZERO + 1 && bytes[at + 2] === SPACE ? at + 3 : at + 1
}

/** Whether a time can end here: no letter or digit follows. */
function isDelimiter(bytes: Uint8Array, at: number, end: number): boolean {
  const byte = at < end ? (bytes[at] ?? 0) : 0
  return !(isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a))
}

/** Whether ` UTC`, ` GMT` or `Z` follows a time. */
function isUtc(bytes: Uint8Array, at: number, end: number): boolean {
  const start = bytes[at] === SPACE ? at + 1 : at
  const word = latin1(bytes, start, Math.min(start + 3, end))
  if (word === 'UTC' || word === 'GMT') return isDelimiter(bytes, start + 3, end)
  return word.startsWith('Z') && isDelimiter(bytes, start + 1, end)
}

/** @param start where a dot or a comma can be. @returns where the digits after it end, or `start` when there are none */
function endOfFraction(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end || (bytes[start] !== DOT && bytes[start] !== COMMA)) return start
  let at = start + 1
  while (at < end && isDigit(bytes[at])) at++
  return at === start + 1 ? start : at
}

/** A year of four digits, from 1000, or -1. */
function yearAt(bytes: Uint8Array, at: number): number {
  const year = twoDigits(bytes, at) * 100 + twoDigits(bytes, at + 2)
  return year < 1000 ? -1 : year
}

/** `NaN`, which no day is, for another byte. */
function digitAt(bytes: Uint8Array, at: number): number {
  return isDigit(bytes[at]) ? (bytes[at] ?? 0) - ZERO : Number.NaN
}
