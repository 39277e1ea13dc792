/** Returned by {@link eventTime} for a text that is not an instant. `NaN`, so it is not equal to itself. */
export const NO_TIME = Number.NaN

const ZERO = 0x30
/**
 * Numbers from here on are milliseconds, and from a thousand times this on microseconds. In seconds this is the year
 * 5138, in milliseconds 1973.
 */
const MOST_SECONDS = 1e11
/** Longer texts are not parsed: no usual spelling of an instant is longer. */
const MAX_LENGTH = 40
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** ISO 8601, extended format. RFC 3339 allows a space instead of the "T", and small letters. */
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)$/
const DAY_MS = 86_400_000

/**
 * Reads the instant of an event from `bytes[start, end)`: ISO 8601 with an offset or `Z`
 * (`2026-07-28T10:00:00.5+02:00`, or with a space instead of the `T`), or a number since 1970. The size of a number
 * decides whether it is in seconds, milliseconds, microseconds or nanoseconds. Local times without an offset are not
 * instants.
 *
 * @returns milliseconds since 1970, or {@link NO_TIME}
 */
export function eventTime(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > MAX_LENGTH || start >= end) return NO_TIME
  const plain = isoInUtc(bytes, start, end)
  if (!Number.isNaN(plain)) return plain
  let text = ''
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] ?? 0)
  return eventTimeOf(text)
}

/** As {@link eventTime}, for a text. */
export function eventTimeOf(text: string): number {
  if (text.length > MAX_LENGTH) return NO_TIME
  if (NUMBER.test(text)) return sinceEpoch(Number(text))
  const match = ISO.exec(text)
  if (match === null) return NO_TIME
  const [, year, month, day, hour, minute, second = '0', fraction = '0', , sign, hours = '0', minutes = '0'] =
    match
  if (Number(hours) > 23 || Number(minutes) > 59) return NO_TIME
  const local = instantAt(
    Number(year),
    Number(month),
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    Math.floor(Number(`0.${fraction}`) * 1000),
  )
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? local + offset : local - offset
}

function sinceEpoch(value: number): number {
  const size = Math.abs(value)
  if (size < MOST_SECONDS) return Math.round(value * 1000)
  if (size < MOST_SECONDS * 1e3) return Math.round(value)
  if (size < MOST_SECONDS * 1e6) return Math.round(value / 1e3)
  return size < MOST_SECONDS * 1e9 ? Math.round(value / 1e6) : NO_TIME
}

/** Parses the most common spelling without making a string: `2026-07-28T10:00:00Z`, also with milliseconds. */
function isoInUtc(bytes: Uint8Array, start: number, end: number): number {
  const size = end - start
  if ((size !== 20 && size !== 24) || bytes[end - 1] !== 0x5a) return NO_TIME
  const isSpelt =
    bytes[start + 4] === 0x2d &&
    bytes[start + 7] === 0x2d &&
    bytes[start + 10] === 0x54 &&
    bytes[start + 13] === 0x3a &&
    bytes[start + 16] === 0x3a
  if (!isSpelt || (size === 24 && bytes[start + 19] !== 0x2e)) return NO_TIME
  return instantAt(
    digits(bytes, start, 4),
    digits(bytes, start + 5, 2),
    digits(bytes, start + 8, 2),
    digits(bytes, start + 11, 2),
    digits(bytes, start + 14, 2),
    digits(bytes, start + 17, 2),
    size === 24 ? digits(bytes, start + 20, 3) : 0,
  )
}

function digits(bytes: Uint8Array, start: number, count: number): number {
  let value = 0
  for (let at = start; at < start + count; at++) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (!(digit >= 0 && digit <= 9)) return NO_TIME
    value = value * 10 + digit
  }
  return value
}

/**
 * Milliseconds since 1970 of a time in UTC. A leap second counts as the next second.
 *
 * @returns {@link NO_TIME} if the day or the time of day does not exist
 */
export function instantAt(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  millisecond: number,
): number {
  const isTime = hour <= 23 && minute <= 59 && second <= 60
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
  if (!isTime || !isDay) return NO_TIME
  return daysSince1970(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond
}

// The proleptic Gregorian calendar (ISO 8601). `Date.UTC` is slower.

/** @param month 1 to 12 */
export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

/** Days from 1970-01-01 to a valid day. Counts years from March, so that a leap day is the last day of its year. */
export function daysSince1970(year: number, month: number, day: number): number {
  const years = month <= 2 ? year - 1 : year
  const months = month <= 2 ? month + 9 : month - 3
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400)
  return years * 365 + leapDays + Math.floor((months * 153 + 2) / 5) + day - 719_469
}
