import { copy } from '../../bytes/byte-sink.ts'
import { CAPITAL_T, CAPITAL_Z, COLON, COMMA, DASH, DOT, PLUS, SLASH, SPACE, ZERO } from '../ascii.ts'
import { isDigit, latin1, plainNumber } from '../swar.ts'

/** Stands for an unknown instant. `NaN`, so it is not equal to itself. */
export const NO_TIME = Number.NaN

/** The bit that makes an ASCII letter lower-case. */
const SMALL = 0x20

/** Bytes of the shortest timestamp: "2000-10-10T13:55Z". */
const SHORTEST = 17
/** Bytes that `put` writes, at most: "2000-10-10T13:55:36.123456789-07:00". */
export const TIMESTAMP_ROOM = 35
/** Digits of a fraction, at most: nanoseconds. */
const MAX_FRACTION = 9
/** What {@link twoDigits} returns for other text. It is above every limit, so the checks of limits refuse it. */
const NO_NUMBER = 10_000

const encoder = /* @__PURE__ */ new TextEncoder()

/** Reads an offset from UTC, which can have a space before it. */
export class UtcOffset {
  isWest = false
  /** Without the sign. */
  minutes = 0

  /** Minutes to add to a time of this offset to have it in UTC. */
  get toUtc(): number {
    return this.isWest ? this.minutes : -this.minutes
  }

  /**
   * Reads `-0700`, `-07:00`, `Z`, `UTC`, `GMT` or `GMT-0700`.
   *
   * @param isShort whether `-07` is an offset too
   * @returns where it ends, or -1
   */
  read(bytes: Uint8Array, start: number, end: number, isShort = false): number {
    let sign = bytes[start] === SPACE ? start + 1 : start
    const isNamed = UTC.includes(lettersAt(bytes, sign))
    if (isNamed) sign += 3
    const byte = sign < end ? (bytes[sign] ?? 0) : 0
    this.isWest = byte === DASH
    this.minutes = 0
    if (byte !== DASH && byte !== PLUS) {
      const after = isNamed ? sign : sign + 1
      return (isNamed || (byte & ~SMALL) === CAPITAL_Z) && after <= end ? after : -1
    }
    const hours = twoDigits(bytes, sign + 1)
    const at = bytes[sign + 3] === COLON ? sign + 4 : sign + 3
    const hasMinutes = at > sign + 3 || (at < end && isDigit(bytes[at]))
    const minutes = hasMinutes ? twoDigits(bytes, at) : 0
    this.minutes = hours * 60 + minutes
    const after = hasMinutes ? at + 2 : at
    return hours <= 23 && minutes <= 59 && (hasMinutes || isShort) && after <= end ? after : -1
  }
}

/**
 * Reads a date and time with an offset, in one of two forms:
 * - ISO 8601, extended format: `2000-10-10T13:55:36-07:00`. RFC 3339 allows a space instead of the `T`, and lower-case
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
  /** The start of the day in UTC, also in milliseconds since 1970. */
  #midnight = 0
  /** `2000-10-10T`; `null` until it is needed. */
  #dateText: Uint8Array | null = null
  /** Where `13:55` is in the bytes last read. */
  #time = 0
  #second = 0
  /** Where the digits of the fraction are: `[start, end)`, empty when there are none. */
  #fractionStart = 0
  #fractionEnd = 0
  readonly #offset = new UtcOffset()

  /** Reads the timestamp that starts `bytes[start, end)`. @returns where it ends, or -1 when there is none */
  read(bytes: Uint8Array, start: number, end: number): number {
    if (end - start < SHORTEST) return -1
    const isIso = bytes[start + 2] !== SLASH
    const time = isIso ? this.#isoDate(bytes, start) : this.#logDate(bytes, start)
    if (time < 0) return -1
    const hour = twoDigits(bytes, time)
    const minute = twoDigits(bytes, time + 3)
    const hasSecond = bytes[time + 5] === COLON
    this.#time = time
    this.#second = hasSecond ? twoDigits(bytes, time + 6) : 0
    // Second 60, a leap second, has the same instant as the second after it, as in POSIX time.
    const isTime = bytes[time + 2] === COLON && hour <= 23 && minute <= 59 && this.#second <= 60
    if (!isTime || !(hasSecond || isIso)) return -1
    const fraction = time + (hasSecond ? 8 : 5)
    const after = this.#offset.read(bytes, this.#readFraction(bytes, fraction, end, isIso), end, isIso)
    if (after < 0) return -1
    const minutes = hour * 60 + minute + this.#offset.toUtc
    const milliseconds = millisecondsOf(bytes, fraction, this.#fractionEnd)
    this.instant = this.#midnight + (minutes * 60 + this.#second) * 1000 + milliseconds
    return after
  }

  /**
   * Writes the timestamp last read to `into` at `start`, which must have {@link TIMESTAMP_ROOM} bytes left. The form
   * is ISO 8601 with an offset, `2000-10-10T13:55:36-07:00`; the digits of the fraction are copied.
   *
   * @param bytes the bytes that were read
   * @returns where it ends
   */
  put(bytes: Uint8Array, into: Uint8Array, start: number): number {
    this.#dateText ??= encoder.encode(new Date(this.#midnight).toISOString().slice(0, 11))
    let at = copy(this.#dateText, 0, 11, into, start)
    at = copy(bytes, this.#time, this.#time + 5, into, at)
    into[at] = COLON
    at = putTwo(into, at + 1, this.#second)
    if (this.#fractionEnd > this.#fractionStart) {
      into[at] = DOT
      at = copy(bytes, this.#fractionStart, this.#fractionEnd, into, at + 1)
    }
    const { isWest, minutes } = this.#offset
    into[at] = isWest ? DASH : PLUS
    at = putTwo(into, at + 1, (minutes / 60) | 0)
    into[at] = COLON
    return putTwo(into, at + 1, minutes % 60)
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
    const hasTime = separator === SPACE || (separator & ~SMALL) === CAPITAL_T
    const isSpelt = bytes[start + 4] === DASH && bytes[start + 7] === DASH && hasTime
    const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2)
    const month = twoDigits(bytes, start + 5)
    return isSpelt && this.#setDay(year, month, twoDigits(bytes, start + 8)) ? start + 11 : -1
  }

  /** @returns whether the day exists */
  #setDay(year: number, month: number, day: number): boolean {
    // Most lines of a log have the day of the line before.
    if (day === this.#day && month === this.#month && year === this.#year) return true
    this.#year = -1
    this.#midnight = midnightOf(year, month, day)
    if (Number.isNaN(this.#midnight)) return false
    this.#year = year
    this.#month = month
    this.#day = day
    this.#dateText = null
    return true
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
}

/** @returns the start of a day in UTC, in milliseconds since 1970, or {@link NO_TIME} when there is no such day */
export function midnightOf(year: number, month: number, day: number): number {
  const date = new Date(0)
  // Date.UTC would read a year below 100 as one of the 20th century.
  const midnight = date.setUTCFullYear(year, month - 1, day)
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isDay && year >= 0 && year <= 9999 ? midnight : NO_TIME
}

/** @param start index of the dot before a fraction. @returns its milliseconds, rounded down */
export function millisecondsOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start + 1; at <= start + 3; at++)
    value = value * 10 + (at < end ? (bytes[at] ?? 0) - ZERO : 0)
  return value
}

export function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] ?? 0) - ZERO
  const ones = (bytes[at + 1] ?? 0) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_NUMBER
}

/** @returns where the digits end */
function putTwo(into: Uint8Array, at: number, value: number): number {
  const tens = (value / 10) | 0
  into[at] = ZERO + tens
  into[at + 1] = ZERO + value - tens * 10
  return at + 2
}

/** Names of three lower-case letters as numbers. */
const numbered = (names: string): readonly number[] =>
  names.split(' ').map((name) => lettersAt(encoder.encode(name), 0))
const MONTHS = /* @__PURE__ */ numbered('jan feb mar apr may jun jul aug sep oct nov dec')
const UTC = /* @__PURE__ */ numbered('utc gmt')

/** Ignores case. @returns 1 to 12, or 0 if the bytes do not name a month */
export function monthAt(bytes: Uint8Array, at: number): number {
  return MONTHS.indexOf(lettersAt(bytes, at)) + 1
}

function lettersAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0) | 0x202020
}

/**
 * Numbers from here on are milliseconds, and from a thousand times this on microseconds. In seconds this is the end of the year
 * 9999, which programs write for an unknown time, and in milliseconds 1978.
 */
const END_OF_SECONDS = 253_402_300_800
/** Longer texts are not parsed: no usual spelling of an instant is longer. Bytes. */
const MAX_LENGTH = 40
/**
 * The digits to read of a number that a double would round up: the milliseconds of nanoseconds, the microseconds of seconds, and
 * no fraction of smaller units.
 */
const EXACT_PART = /^[1-9]\d{11,13}(?=\d{6}(?:\.\d+)?$)|^\d{1,11}\.\d{6}(?=\d+$)|^[1-9]\d{11,16}(?=\.\d+$)/
/** A number, as JSON and shells write it. */
export const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Instants nearer to 1970 are unknown times, such as 0 and -1, times of devices without a clock, durations or counters. */
const LEAST_INSTANT_MS = 1e11
/** Programs also write the year 1 or 9999 for an unknown time. */
const EARLIEST = /* @__PURE__ */ Date.UTC(1900, 0, 1)
const LATEST = /* @__PURE__ */ Date.UTC(2200, 0, 1)

const timestamp = /* @__PURE__ */ new Timestamp()

/** The instant that {@link instantIn} reads, or {@link NO_TIME} if it is not that of an event. */
export function eventTime(bytes: Uint8Array, start: number, end: number): number {
  return asEventTime(instantIn(bytes, start, end))
}

/** An instant in milliseconds since 1970, or {@link NO_TIME} if it is not that of an event. */
export function asEventTime(instant: number): number {
  return Math.abs(instant) >= LEAST_INSTANT_MS && instant >= EARLIEST && instant < LATEST ? instant : NO_TIME
}

/**
 * Reads an instant from `bytes[start, end)`: what {@link Timestamp} reads, ISO 8601 with an offset, `Z` or `UTC`, or the
 * form of access logs, or a number since 1970. The size of a number decides whether it is in seconds, milliseconds, microseconds or
 * nanoseconds. Local times without an offset are not instants.
 *
 * @returns milliseconds since 1970, rounded down, or {@link NO_TIME}
 */
function instantIn(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_LENGTH || start >= end) return NO_TIME
  const mayBeTimestamp = bytes[start + 4] === DASH || bytes[start + 2] === SLASH
  if (mayBeTimestamp && timestamp.read(bytes, start, end) === end) return timestamp.instant
  const value = plainNumber(bytes, start, end)
  if (!Number.isNaN(value)) return sinceEpoch(value)
  const text = latin1(bytes, start, end)
  const digits = EXACT_PART.exec(text) ?? NUMBER.exec(text)
  return digits === null ? NO_TIME : sinceEpoch(Number(digits[0]))
}

/** `eventTime` of a text. */
export function eventTimeOf(text: string): number {
  return asEventTime(instantOf(text))
}

/** {@link instantIn} for a text. */
export function instantOf(text: string): number {
  if (text.length > MAX_LENGTH) return NO_TIME
  const bytes = encoder.encode(text)
  return instantIn(bytes, 0, bytes.length)
}

function sinceEpoch(value: number): number {
  const size = Math.abs(value)
  // A double has microseconds: in seconds its digits after them are noise.
  if (size < END_OF_SECONDS) return Math.floor(Math.round(value * 1e6) / 1e3)
  if (size < END_OF_SECONDS * 1e3) return Math.floor(value)
  if (size < END_OF_SECONDS * 1e6) return Math.floor(value / 1e3)
  return size < END_OF_SECONDS * 1e9 ? Math.floor(value / 1e6) : NO_TIME
}
