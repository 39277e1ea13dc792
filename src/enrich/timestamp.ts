const ZERO = 0x30
const DASH = 0x2d
const SLASH = 0x2f
const COLON = 0x3a
const SPACE = 0x20
const DOT = 0x2e
const COMMA = 0x2c
const PLUS = 0x2b
const UPPER_T = 0x54
const UPPER_Z = 0x5a
/** Makes an ASCII letter small. */
const SMALL = 0x20

const DAY_MS = 86_400_000
/** Bytes of the shortest timestamp: "2000-10-10T13:55Z". */
const SHORTEST = 17
/** Bytes that `put` writes, at most: "2000-10-10T13:55:36.123456789-07:00". */
export const TIMESTAMP_ROOM = 35
/** Digits of a fraction, at most: nanoseconds. */
const MAX_FRACTION = 9

/** What {@link twoDigits} returns for anything else. Every check of an upper bound refuses it. */
const NO_NUMBER = 10_000

/**
 * Reads a date and time with an offset, in one of two forms:
 * - ISO 8601, extended format: `2000-10-10T13:55:36-07:00`. RFC 3339 allows a space instead of the `T`, and small
 *   letters. Seconds, their fraction and the minutes of the offset are optional. nginx's `$time_iso8601` is in this form.
 * - The form of access logs: `10/Oct/2000:13:55:36 -0700`, as Apache's `%t` and nginx's `$time_local`. It can have a
 *   fraction of a second, up to nanoseconds.
 */
export class Timestamp {
  /** Milliseconds since 1970, rounded down. */
  instant = 0
  #year = -1
  #month = 0
  #day = 0
  /** Milliseconds from 1970 to the day, in local time. */
  #midnight = 0
  #hour = 0
  #minute = 0
  #second = 0
  /** Where the digits of the fraction are in the bytes last read: `[start, end)`, empty when there are none. */
  #fractionStart = 0
  #fractionEnd = 0
  #isWest = false
  #offsetHour = 0
  #offsetMinute = 0

  /** Reads the timestamp that starts `bytes[start, end)`. @returns where it ends, or -1 when there is none */
  read(bytes: Uint8Array, start: number, end: number): number {
    if (end - start < SHORTEST) return -1
    const isIso = bytes[start + 2] !== SLASH
    const time = isIso ? this.#isoDate(bytes, start) : this.#logDate(bytes, start)
    if (time < 0) return -1
    const fraction = this.#readTime(bytes, time, isIso)
    if (fraction < 0) return -1
    const after = this.#readOffset(bytes, this.#readFraction(bytes, fraction, end, isIso), end, isIso)
    if (after < 0 || after > end) return -1
    this.instant = this.#instant(bytes)
    return after
  }

  /**
   * Writes the timestamp last read to `into` at `start`, which must have {@link TIMESTAMP_ROOM} bytes left. The form
   * is ISO 8601 with an offset, `2000-10-10T13:55:36-07:00`; the digits of the fraction are copied.
   *
   * @param bytes the bytes that were read, which have the digits of the fraction
   * @returns where it ends
   */
  put(bytes: Uint8Array, into: Uint8Array, start: number): number {
    putTwo(into, start, (this.#year / 100) | 0)
    putTwo(into, start + 2, this.#year % 100)
    into[start + 4] = DASH
    putTwo(into, start + 5, this.#month)
    into[start + 7] = DASH
    putTwo(into, start + 8, this.#day)
    into[start + 10] = UPPER_T
    putTwo(into, start + 11, this.#hour)
    into[start + 13] = COLON
    putTwo(into, start + 14, this.#minute)
    into[start + 16] = COLON
    putTwo(into, start + 17, this.#second)
    let at = start + 19
    if (this.#fractionEnd > this.#fractionStart) {
      into[at++] = DOT
      for (let from = this.#fractionStart; from < this.#fractionEnd; from++) into[at++] = bytes[from] ?? 0
    }
    into[at] = this.#isWest ? DASH : PLUS
    putTwo(into, at + 1, this.#offsetHour)
    into[at + 3] = COLON
    putTwo(into, at + 4, this.#offsetMinute)
    return at + 6
  }

  /** `10/Oct/2000:`. @returns where the time begins, or -1 */
  #logDate(bytes: Uint8Array, start: number): number {
    const isSpelt = bytes[start + 6] === SLASH && bytes[start + 11] === COLON
    const year = twoDigits(bytes, start + 7) * 100 + twoDigits(bytes, start + 9)
    return isSpelt && this.#setDay(year, monthAt(bytes, start + 3), twoDigits(bytes, start)) ? start + 12 : -1
  }

  /** `2000-10-10T`. @returns where the time begins, or -1 */
  #isoDate(bytes: Uint8Array, start: number): number {
    const separator = bytes[start + 10] ?? 0
    const hasTime = separator === SPACE || (separator & ~SMALL) === UPPER_T
    const isSpelt = bytes[start + 4] === DASH && bytes[start + 7] === DASH && hasTime
    const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2)
    return isSpelt && this.#setDay(year, twoDigits(bytes, start + 5), twoDigits(bytes, start + 8))
      ? start + 11
      : -1
  }

  /** @returns whether the day exists */
  #setDay(year: number, month: number, day: number): boolean {
    // Most lines of a log have the day of the line before.
    if (day === this.#day && month === this.#month && year === this.#year) return true
    if (month < 1 || month > 12 || day < 1 || year > 9999 || day > daysInMonth(year, month)) return false
    this.#year = year
    this.#month = month
    this.#day = day
    this.#midnight = daysSince1970(year, month, day) * DAY_MS
    return true
  }

  /** `13:55:36`, or `13:55`. @returns where it ends, or -1 */
  #readTime(bytes: Uint8Array, start: number, isIso: boolean): number {
    this.#hour = twoDigits(bytes, start)
    this.#minute = twoDigits(bytes, start + 3)
    const hasSecond = bytes[start + 5] === COLON
    this.#second = hasSecond ? twoDigits(bytes, start + 6) : 0
    if (bytes[start + 2] !== COLON || !(hasSecond || isIso)) return -1
    // Second 60, a leap second, has the same instant as the second after it, as in POSIX time.
    if (this.#hour > 23 || this.#minute > 59 || this.#second > 60) return -1
    return hasSecond ? start + 8 : start + 5
  }

  /** @returns where the fraction ends; `start` when there is none */
  #readFraction(bytes: Uint8Array, start: number, end: number, isIso: boolean): number {
    this.#fractionStart = start + 1
    this.#fractionEnd = start + 1
    if (bytes[start] !== DOT && bytes[start] !== COMMA) return start
    let at = start + 1
    while (at < end && isDigit(bytes[at])) at++
    this.#fractionEnd = Math.min(at, start + 1 + MAX_FRACTION)
    return isIso ? at : this.#fractionEnd
  }

  /** ` -0700`, `-0700`, `-07:00` or `Z`; in ISO 8601 also `-07`. @returns where it ends, or -1 */
  #readOffset(bytes: Uint8Array, start: number, end: number, isIso: boolean): number {
    const sign = bytes[start] === SPACE ? start + 1 : start
    const byte = bytes[sign] ?? 0
    this.#isWest = byte === DASH
    this.#offsetHour = 0
    this.#offsetMinute = 0
    if ((byte & ~SMALL) === UPPER_Z) return sign + 1
    if (byte !== DASH && byte !== PLUS) return -1
    this.#offsetHour = twoDigits(bytes, sign + 1)
    const minute = bytes[sign + 3] === COLON ? sign + 4 : sign + 3
    const hasMinute = minute > sign + 3 || (minute < end && isDigit(bytes[minute]))
    if (hasMinute) this.#offsetMinute = twoDigits(bytes, minute)
    if (this.#offsetHour > 23 || this.#offsetMinute > 59 || !(hasMinute || isIso)) return -1
    return hasMinute ? minute + 2 : minute
  }

  #instant(bytes: Uint8Array): number {
    const offset = this.#offsetHour * 60 + this.#offsetMinute
    const minutes = this.#hour * 60 + this.#minute + (this.#isWest ? offset : -offset)
    let milliseconds = 0
    if (this.#fractionEnd > this.#fractionStart) {
      for (let at = this.#fractionStart; at < this.#fractionStart + 3; at++) {
        milliseconds = milliseconds * 10 + (at < this.#fractionEnd ? (bytes[at] ?? ZERO) - ZERO : 0)
      }
    }
    return this.#midnight + (minutes * 60 + this.#second) * 1000 + milliseconds
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= ZERO + 9
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - ZERO
  const ones = (bytes[at + 1] ?? 0) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_NUMBER
}

function putTwo(into: Uint8Array, at: number, value: number): void {
  const tens = (value / 10) | 0
  into[at] = ZERO + tens
  into[at + 1] = ZERO + value - tens * 10
}

/** The months of access logs, three bytes of small letters each, from January. */
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map(
  (name) => threeBytes(name.charCodeAt(0), name.charCodeAt(1), name.charCodeAt(2)),
)

/** @returns 1 to 12, or 0 when there is no name of a month; case is ignored */
function monthAt(bytes: Uint8Array, at: number): number {
  const letters = threeBytes(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0)
  return MONTHS.indexOf(letters | 0x202020) + 1
}

function threeBytes(first: number, second: number, third: number): number {
  return (first << 16) | (second << 8) | third
}

// The proleptic Gregorian calendar (ISO 8601). `Date.UTC` is slower.

/** @param month 1 to 12 */
function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

/** Days from 1970-01-01 to a valid day. Counts years from March, so that a leap day is the last day of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const years = month <= 2 ? year - 1 : year
  const months = month <= 2 ? month + 9 : month - 3
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return years * 365 + leapDays + Math.floor((months * 153 + 2) / 5) + day - 719_469
}
