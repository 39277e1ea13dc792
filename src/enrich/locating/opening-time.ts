import { BRACKET, COLON, COMMA, DASH, DOT, EQUALS, LESS, SLASH, SPACE, TAB, ZERO } from '../ascii.ts'
import { isDigit, latin1 } from '../swar.ts'
import {
  asEventTime,
  eventTime,
  eventTimeOf,
  midnightOf,
  millisecondsOf,
  monthAt,
  NO_TIME,
  Timestamp,
  twoDigits,
  UtcOffset,
} from './event-time.ts'

const LOWER_M = 0x6d
const LOWER_T = 0x74
const BAR = 0x7c

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
/** 29 February is missing in at most seven years in a row. */
const MOST_YEARS = 9
/** Digits of seconds since 1970, of all times from September 2001 to 2286. Fewer can count from the start of a computer. */
const EPOCH_DIGITS = 10
/** Bytes of the shortest time: "Oct 1 14:32:52", or "1697034772.123". */
const SHORTEST = 14

/** Apache's error log, uWSGI and `ctime`: `Wed Oct 11 14:32:52.123 2023`, with a weekday in any language. */
const AFTER_WEEKDAY = /^.{3} (?<month>[a-z]{3}) (?<day>[ \d]?\d) /i
/** RFC 3164: Oct 11, also Oct 11 2023. Junos writes the year after the time. Days below ten have a space, a zero, or nothing before them. */
const SYSLOG = /^(?<month>[a-z]{3}) (?<day>[ \d]?\d) (?:(?<year>[1-9]\d{3}) )?/i
/** The days before a time of the day. A day without a year is of the latest year that is possible. */
const LAYOUTS: readonly RegExp[] = [
  // 2023-10-11; 2023/10/11 in nginx's error log.
  /^(?<year>[1-9]\d{3})([-/])(?<month>\d\d)\2(?<day>\d\d)[ t]/i,
  // BIND, PHP and Django: 11-Oct-2023, 11/Oct/2023. HAProxy: 11/Oct/2023:14:32:52.
  /^(?<day>\d\d)([-/])(?<month>[a-z]{3})\2(?<year>[1-9]\d{3})(?: |(?<=\/.{4}):)/i,
  // Suricata and Snort: 10/11/2023-14:32:52, 10/11-14:32:52.
  /^(?<month>\d\d)\/(?<day>\d\d)(?:\/(?<year>[1-9]\d{3}))?-/,
  SYSLOG,
  AFTER_WEEKDAY,
]
/** After a time of the day of twelve hours. */
const HALF_DAY = /^ ?([ap])m(?![a-z\d])/i
/** Bytes of the longest of these days, at least. */
const DAY_BYTES = 16

/**
 * What is known about a time: an `instant`, a `local` time whose offset from UTC is unknown, a local time that is `yearless` too,
 * or nothing.
 */
export type OpeningTimeKind = 'none' | 'instant' | 'local' | 'yearless'

/**
 * Reads the time that opens a line of text, also in a bracket, after the priority of syslog, `<34>` or `<165>1 `, and after the
 * key of logfmt or LTSV, `time=` or `time:`:
 * - what {@link Timestamp} reads: RFC 3339, RFC 5424, access logs
 * - a day in one of the {@link LAYOUTS} and a time of the day: `2023-10-11 14:32:52,123`. An offset as {@link UtcOffset} reads it can follow
 * - seconds since 1970 with a fraction: `[1697034772.123]`
 *
 * Some programs write something else first: see {@link BEFORE}.
 */
export class OpeningTime {
  /** Milliseconds since 1970 of the last time; {@link NO_TIME} without one. A local time is read as if it were UTC. */
  instant = NO_TIME
  readonly #latest: number
  readonly #timestamp = new Timestamp()
  readonly #offset = new UtcOffset()
  /** The day of the last local time as it was written, by one of the {@link LAYOUTS}. */
  #head: Uint8Array = new Uint8Array(0)
  #month = 0
  #day = 0
  /** `null` if it was not written. */
  #year: number | null = null
  /** The year of a time that no year follows: unknown in syslog, elsewhere none. `undefined` if years are before times. */
  #absentYear: null | -1 | undefined
  /** The start of the day. */
  #midnight = NO_TIME
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
    const first = this.#readFirst(bytes, line, end)
    const kind = first === 'none' ? this.#readLater(bytes, line, end) : first
    this.instant = asEventTime(this.instant)
    return kind
  }

  #readFirst(bytes: Uint8Array, line: number, end: number): OpeningTimeKind {
    const first = bytes[line]
    const hasText = first === LESS || first === LOWER_T
    let start = hasText ? endOf(OPENING, bytes, line, Math.min(end, line + OPENING_BYTES)) : line
    if (bytes[start] === BRACKET) start++
    if (end - start < SHORTEST) return 'none'
    if (isDigit(bytes[start])) return this.#readNumbers(bytes, start, end)
    const isName = bytes[start] !== SPACE && bytes[start + 3] === SPACE
    return isName ? this.#readDay(bytes, start, end) : 'none'
  }

  /**
   * Reads a time after other words, see {@link BEFORE}. Most lines have no such time. Their bytes show that, so no text is made
   * of them.
   */
  #readLater(bytes: Uint8Array, line: number, end: number): OpeningTimeKind {
    const limit = Math.min(end, line + MAX_HEAD_BYTES)
    const mark = nextMark(bytes, line, limit)
    if (bytes[mark] === EQUALS) {
      const kind = this.#readFortigate(latin1(bytes, line, limit))
      if (kind !== 'none') return kind
    }
    const words = BEFORE_DIGIT[bytes[mark] ?? 0]
    const mayBegin = mark < limit && (bytes[mark] !== BAR || isDigit(bytes[mark + 2]))
    const after = mayBegin && words !== undefined ? endOf(words, bytes, line, limit) : line
    if (after > line) return this.#readNumbers(bytes, after, end)
    for (let at = mark; at < limit; at++) {
      if (bytes[at] !== BRACKET || !isDigit(bytes[at + 1])) continue
      const before =
        bytes[at + 3] === SLASH ? BEFORE.accessLog : bytes[at + 5] === DASH ? BEFORE.logrus : null
      if (before?.test(latin1(bytes, line, at + 1))) return this.#readNumbers(bytes, at + 1, end)
    }
    return 'none'
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
    if (!isDigit(bytes[start]) || end - start < SHORTEST) return 'none'
    const [third, fifth] = [bytes[start + 2], bytes[start + 4]]
    if (fifth === DASH || third === SLASH) {
      const after = this.#timestamp.read(bytes, start, end)
      if (after !== -1 && isDelimiter(bytes, after, end)) {
        this.instant = this.#timestamp.instant
        return 'instant'
      }
    }
    const isDay = third === DASH || third === SLASH || fifth === DASH || fifth === SLASH
    return isDay ? this.#readDay(bytes, start, end) : this.#readSeconds(bytes, start, end)
  }

  /** `1697034772.123`. */
  #readSeconds(bytes: Uint8Array, start: number, end: number): OpeningTimeKind {
    const point = start + EPOCH_DIGITS
    const after = endOfFraction(bytes, point, end)
    if (after === point || !isDelimiter(bytes, after, end)) return 'none'
    this.instant = eventTime(bytes, start, after)
    return Number.isNaN(this.instant) ? 'none' : 'instant'
  }

  /** A day, the time of the day, and the offset from UTC if it is written. */
  #readDay(bytes: Uint8Array, start: number, end: number): OpeningTimeKind {
    // Most lines of a log have the day of the line before.
    const isSame = startsWith(bytes, start, this.#head)
    let after = isSame ? this.#readClock(bytes, start + this.#head.length, end) : -1
    if (after === -1 && this.#readHead(bytes, start, end))
      after = this.#readClock(bytes, start + this.#head.length, end)
    if (after === -1) return 'none'
    if (this.#absentYear !== undefined) {
      const last = after + 5
      const written = bytes[after] === SPACE && last <= end ? yearAt(bytes, after + 1) : -1
      // After a time of syslog, it can be the start of a host's name.
      const isYear = this.#absentYear === -1 || last === end || bytes[last] === SPACE
      const year = isYear && written !== -1 ? written : this.#absentYear
      if (year !== this.#year) this.#setDay(year, this.#month, this.#day)
      if (year !== null) after = last
    }
    this.instant = this.#midnight + this.#clock
    if (this.#year === null) return 'yearless'
    if (Number.isNaN(this.instant)) return 'none'
    const zoned = this.#offset.read(bytes, after, end)
    if (zoned === -1 || !isDelimiter(bytes, zoned, end)) return 'local'
    this.instant += this.#offset.toUtc * MINUTE_MS
    return 'instant'
  }

  /** Reads a day by one of the {@link LAYOUTS}. @returns whether there is one; its start can be unknown */
  #readHead(bytes: Uint8Array, start: number, end: number): boolean {
    const text = latin1(bytes, start, Math.min(end, start + DAY_BYTES))
    for (const layout of LAYOUTS) {
      const match = layout.exec(text)
      const [head = ''] = match ?? []
      const { month: name = '', day, year } = match?.groups ?? {}
      const month = Number(name) || monthAt(bytes, start + head.indexOf(name))
      // Any leap year has all days.
      if (head === '' || Number.isNaN(midnightOf(2000, month, Number(day)))) continue
      this.#head = bytes.slice(start, start + head.length)
      const isLast = year === undefined && (layout === AFTER_WEEKDAY || layout === SYSLOG)
      this.#absentYear = isLast ? (layout === SYSLOG ? null : -1) : undefined
      this.#setDay(year === undefined ? null : Number(year), month, Number(day))
      return true
    }
    return false
  }

  #setDay(year: number | null, month: number, day: number): void {
    this.#year = year
    this.#month = month
    this.#day = day
    this.#midnight = year === null ? this.#latestMidnight(month, day) : midnightOf(year, month, day)
  }

  /** Reads `14:32:52` and a fraction, also `02:32:52 PM`. @returns where it ends, or -1 */
  #readClock(bytes: Uint8Array, start: number, end: number): number {
    // MySQL pads an hour below ten with a space.
    const isPadded = bytes[start] === SPACE && isDigit(bytes[start + 1])
    const hour = isPadded ? (bytes[start + 1] ?? 0) - ZERO : twoDigits(bytes, start)
    const minute = twoDigits(bytes, start + 3)
    const second = twoDigits(bytes, start + 6)
    const isClock = bytes[start + 2] === COLON && bytes[start + 5] === COLON && start + 8 <= end
    // Second 60 is a leap second.
    if (!isClock || hour > 23 || minute > 59 || second > 60) return -1
    const after = endOfFraction(bytes, start + 8, end)
    // Syslog has no year, and its hosts can be called pm. Most lines have no M there: no text is made of them.
    const hasM = ((bytes[after + 1] ?? 0) | 0x20) === LOWER_M || ((bytes[after + 2] ?? 0) | 0x20) === LOWER_M
    const mayBeHalf = hasM && this.#absentYear !== null && hour >= 1 && hour <= 12
    const half = mayBeHalf ? HALF_DAY.exec(latin1(bytes, after, Math.min(after + 4, end))) : null
    const hours = half === null ? hour : (hour % 12) + (half[1]?.toLowerCase() === 'p' ? 12 : 0)
    this.#clock = ((hours * 60 + minute) * 60 + second) * 1000 + millisecondsOf(bytes, start + 8, after)
    return isDigit(bytes[after]) && after < end ? -1 : after + (half?.[0].length ?? 0)
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
  /** The level: `INFO[2023-10-11T14:32:52Z]`. */
  logrus: /^[A-Z]{4,7}\[$/,
  /** HAProxy, `192.0.2.1:4711 [`, and access logs, also with a virtual host: `192.0.2.1 - - [`, `example.com 192.0.2.1 - - [`. */
  accessLog: /^[^ ]+ (?:(?:[^ ]+ )?- [^ ]+ )?\[$/,
  /** Fortinet's logs: `date=2023-10-11 time=14:32:52`, also after a priority of syslog. */
  fortigate: /^(?:<\d{1,3}>)?date=(\d{4}-\d\d-\d\d),? ?time=(\d\d:\d\d:\d\d)[ ,]/,
}

/** By the first mark in the line. */
const BEFORE_DIGIT: Readonly<Record<number, RegExp>> = {
  /** Docker Compose, the name of a container: `web  | 2023-10-11 14:32:52`. */
  [BAR]: /^[\w.-]{1,100} {0,60}\| (?=\d)/,
  /** Other keys of logfmt: `level=info ts=2023-10-11T14:32:52Z`. */
  [EQUALS]: /^(?:[\w.]{1,40}=(?:"[^"]{0,100}"|[^" ]{0,100}) )+?(?:time|timestamp|ts|t)="?(?=\d)/,
  /** Labels of LTSV: `host:192.0.2.1\ttime:[`. */
  [TAB]: /^(?:[\w.-]{1,40}:[^\t]{0,100}\t)+?time:\[?(?=\d)/,
}

/** What can be before the time of a line: the priority of syslog, with the version of RFC 5424, and a key of logfmt or LTSV. */
const OPENING = /^(?:<\d{1,3}>(?:1 )?)?(?:(?:time|timestamp|ts|t)(?:="?|:))?/
/** Bytes of the longest one. */
const OPENING_BYTES = 18

/** Where the first of `[`, `=`, `|` and a tab is in `bytes[start, end)`; `end` when there is none. */
function nextMark(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== BRACKET && bytes[at] !== EQUALS && bytes[at] !== BAR && bytes[at] !== TAB)
    at++
  return at
}

/** Where `pattern`, which begins `bytes[start, end)`, ends; `start` if it does not begin them. */
function endOf(pattern: RegExp, bytes: Uint8Array, start: number, end: number): number {
  return start + (pattern.exec(latin1(bytes, start, end))?.[0].length ?? 0)
}

/** Whether a time can end here: no letter or digit follows. */
function isDelimiter(bytes: Uint8Array, at: number, end: number): boolean {
  const byte = at < end ? (bytes[at] ?? 0) : 0
  return !(isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a))
}

/** @param start where a dot or a comma can be. @returns where the digits after it end, or `start` when there are none */
function endOfFraction(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end || (bytes[start] !== DOT && bytes[start] !== COMMA)) return start
  let at = start + 1
  while (at < end && isDigit(bytes[at])) at++
  return at === start + 1 ? start : at
}

/** Whether `head` begins `bytes[start, …)`. An empty one never does. */
function startsWith(bytes: Uint8Array, start: number, head: Uint8Array): boolean {
  let at = 0
  while (at < head.length && bytes[start + at] === head[at]) at++
  return at > 0 && at === head.length
}

/** A year of four digits, from 1000, or -1. */
function yearAt(bytes: Uint8Array, at: number): number {
  const year = twoDigits(bytes, at) * 100 + twoDigits(bytes, at + 2)
  return year < 1000 || year > 9999 ? -1 : year
}
