import { daysInMonth, daysSince1970 } from '../../event-time.ts'

const ZERO = 0x30
const DASH = 0x2d
const SLASH = 0x2f
const COLON = 0x3a
const SPACE = 0x20
const DOT = 0x2e
const COMMA = 0x2c
const PLUS = 0x2b
const CLOSE = 0x5d
const UPPER_T = 0x54
const UPPER_Z = 0x5a

/** Bytes of the shortest timestamp, its bracket included: "2000-10-10T13:55:36Z]". */
const SHORTEST = 21
/** Bytes that `put` writes, at most: "2000-10-10T13:55:36.123456789-07:00". */
export const TIMESTAMP_ROOM = 35
/** Digits of a fraction, at most: nanoseconds. */
const MAX_FRACTION = 9

/** What {@link twoDigits} returns for anything else. Every check of an upper bound refuses it. */
const NO_NUMBER = 10_000

/**
 * The timestamp of an access log, without its brackets: `10/Oct/2000:13:55:36 -0700` as Apache's `%t` and
 * nginx's `$time_local` write it, or `2000-10-10T13:55:36-07:00` as `$time_iso8601` does. Either can have a
 * fraction of a second, up to nanoseconds.
 */
export class Timestamp {
  /** Milliseconds since 1970, rounded down. */
  instant = 0
  #year = 0
  #month = 0
  #day = 0
  #hour = 0
  #minute = 0
  #second = 0
  /** Where the digits of the fraction are in the bytes last read: `[start, end)`, empty when there are none. */
  #fractionStart = 0
  #fractionEnd = 0
  #isWest = false
  #offsetHour = 0
  #offsetMinute = 0

  /**
   * Reads a timestamp from `bytes[start, end)` up to the bracket that closes it.
   *
   * @returns the index of that bracket, or -1 when there is no timestamp
   */
  read(bytes: Uint8Array, start: number, end: number): number {
    if (end - start < SHORTEST) return -1
    const time = bytes[start + 2] === SLASH ? this.#localDate(bytes, start) : this.#isoDate(bytes, start)
    if (time < 0 || time + 8 > end || !this.#readTime(bytes, time)) return -1
    const close = this.#readOffset(bytes, this.#readFraction(bytes, time + 8, end), end)
    if (close < 0 || close >= end || bytes[close] !== CLOSE) return -1
    this.instant = this.#instant(bytes)
    return close
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
  #localDate(bytes: Uint8Array, start: number): number {
    this.#day = twoDigits(bytes, start)
    this.#month = monthAt(bytes, start + 3)
    this.#year = twoDigits(bytes, start + 7) * 100 + twoDigits(bytes, start + 9)
    return bytes[start + 6] === SLASH && bytes[start + 11] === COLON && this.#isDay() ? start + 12 : -1
  }

  /** `2000-10-10T`. @returns where the time begins, or -1 */
  #isoDate(bytes: Uint8Array, start: number): number {
    this.#year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2)
    this.#month = twoDigits(bytes, start + 5)
    this.#day = twoDigits(bytes, start + 8)
    const hasDashes = bytes[start + 4] === DASH && bytes[start + 7] === DASH
    const separator = bytes[start + 10]
    const fits = hasDashes && (separator === UPPER_T || separator === SPACE) && this.#isDay()
    return fits ? start + 11 : -1
  }

  #isDay(): boolean {
    const month = this.#month
    if (month < 1 || month > 12 || this.#day < 1 || this.#year > 9999) return false
    return this.#day <= 28 || this.#day <= daysInMonth(this.#year, month)
  }

  #readTime(bytes: Uint8Array, start: number): boolean {
    this.#hour = twoDigits(bytes, start)
    this.#minute = twoDigits(bytes, start + 3)
    this.#second = twoDigits(bytes, start + 6)
    const hasColons = bytes[start + 2] === COLON && bytes[start + 5] === COLON
    // Second 60, a leap second, has the same instant as the second after it, as in POSIX time.
    return hasColons && this.#hour <= 23 && this.#minute <= 59 && this.#second <= 60
  }

  /** @returns where the fraction ends; `start` when there is none */
  #readFraction(bytes: Uint8Array, start: number, end: number): number {
    this.#fractionStart = start + 1
    this.#fractionEnd = start + 1
    if (bytes[start] !== DOT && bytes[start] !== COMMA) return start
    const limit = Math.min(end, start + 1 + MAX_FRACTION)
    while (this.#fractionEnd < limit && isDigit(bytes[this.#fractionEnd])) this.#fractionEnd++
    return this.#fractionEnd
  }

  /** ` -0700`, `-0700`, `-07:00` or `Z`. @returns where it ends, or -1 */
  #readOffset(bytes: Uint8Array, start: number, end: number): number {
    const sign = bytes[start] === SPACE ? start + 1 : start
    this.#isWest = bytes[sign] === DASH
    if (bytes[sign] === UPPER_Z) {
      this.#offsetHour = 0
      this.#offsetMinute = 0
      return sign + 1
    }
    if (bytes[sign] !== DASH && bytes[sign] !== PLUS) return -1
    const minute = bytes[sign + 3] === COLON ? sign + 4 : sign + 3
    if (minute + 2 > end) return -1
    this.#offsetHour = twoDigits(bytes, sign + 1)
    this.#offsetMinute = twoDigits(bytes, minute)
    return this.#offsetHour <= 23 && this.#offsetMinute <= 59 ? minute + 2 : -1
  }

  #instant(bytes: Uint8Array): number {
    const minutes = this.#hour * 60 + this.#minute
    const offset = this.#offsetHour * 60 + this.#offsetMinute
    const days = daysSince1970(this.#year, this.#month, this.#day)
    const seconds = days * 86_400 + (this.#isWest ? minutes + offset : minutes - offset) * 60 + this.#second
    let milliseconds = 0
    for (let digit = 0; digit < 3; digit++) {
      const at = this.#fractionStart + digit
      milliseconds = milliseconds * 10 + (at < this.#fractionEnd ? (bytes[at] ?? ZERO) - ZERO : 0)
    }
    return seconds * 1000 + milliseconds
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

/** @returns 1 to 12, or 0 when there is no name of a month; case is ignored */
function monthAt(bytes: Uint8Array, at: number): number {
  const letters = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
  switch (letters | 0x202020) {
    case 0x6a616e: // jan
      return 1
    case 0x666562: // feb
      return 2
    case 0x6d6172: // mar
      return 3
    case 0x617072: // apr
      return 4
    case 0x6d6179: // may
      return 5
    case 0x6a756e: // jun
      return 6
    case 0x6a756c: // jul
      return 7
    case 0x617567: // aug
      return 8
    case 0x736570: // sep
      return 9
    case 0x6f6374: // oct
      return 10
    case 0x6e6f76: // nov
      return 11
    case 0x646563: // dec
      return 12
    default:
      return 0
  }
}
