import { timeOf } from '../realm.ts'
import type { TimezoneAtInstant } from './location-record.ts'
import { remember } from './tables.ts'

/** The range of `Date`, in milliseconds before and after 1970 (ECMAScript's time values). */
const MAX_INSTANT_MS = 8.64e15

/**
 * The option `at` in milliseconds since 1970. Default: now.
 *
 * @throws TypeError when it is not an instant, such as an invalid `Date`
 */
export function instantOf(at: unknown): number {
  if (at === undefined) return Date.now()
  const instant = typeof at === 'number' ? at : timeOf(at)
  if (instant !== undefined && Math.abs(instant) <= MAX_INSTANT_MS) return instant
  throw new TypeError('the option "at" must be a valid Date or a number of milliseconds since 1970')
}

/**
 * Offsets are cached for a quarter hour, since `Intl` takes 1.6 to 78 µs. Nearly all zones change on full quarter
 * hours of UTC; for the others (Newfoundland until 2011, Casey until 2022) both ends of the quarter hour are compared.
 */
const QUARTER_HOUR_MS = 15 * 60 * 1000

/** The IANA database has about 600 identifiers, links included. A hostile file can have any number. */
const MAX_ZONES = 1024

const zones = new Map<string | null, Timezone>()

/**
 * By lower-case identifier, as the platform compares them. Not stored in each Timezone, because a file can spell one
 * zone in thousands of ways and a formatter takes tens of kilobytes.
 */
const formatters = new Map<string, Intl.DateTimeFormat | null>()

/** The time zone of a record without one. */
const UNKNOWN: TimezoneAtInstant = Object.freeze({ id: null, offset: null })

/** The zone of an identifier. The same identifier gives the same object while it is cached. */
export function timezoneOf(id: string | null): Timezone {
  return remember(zones, MAX_ZONES, id, () => new Timezone(id))
}

/** A time zone, with its offset from UTC at any instant from the platform's copy of the IANA database. */
export class Timezone {
  readonly #id: string | null
  /** The last answer, and the quarter hour since 1970 in which it is valid. */
  #last = UNKNOWN
  #lastQuarter = Number.NaN

  constructor(id: string | null) {
    this.#id = id
  }

  /** @param instant milliseconds since 1970, within the range of `Date` */
  at(instant: number): TimezoneAtInstant {
    if (this.#id === null) return UNKNOWN
    const quarter = Math.floor(instant / QUARTER_HOUR_MS)
    if (quarter === this.#lastQuarter) return this.#last
    const offset = this.#offset(this.#id, instant)
    const answer = Object.freeze({ id: this.#id, offset })
    const [first, last] = [quarter * QUARTER_HOUR_MS, (quarter + 1) * QUARTER_HOUR_MS - 1]
    if (offset === this.#offset(this.#id, first) && offset === this.#offset(this.#id, last)) {
      this.#last = answer
      this.#lastQuarter = quarter
    }
    return answer
  }

  /** The offset at an instant, as in `at`. Asks the platform each time. */
  offsetAt(instant: number): string | null {
    return this.#id === null ? null : this.#offset(this.#id, instant)
  }

  #offset(id: string, instant: number): string | null {
    const formatter = remember(formatters, MAX_ZONES, id.toLowerCase(), makeFormatter)
    if (formatter === null) return null
    // "7/1/2026, GMT+05:45". formatToParts() takes twice as long.
    return offsetText(formatter.format(clampToDate(instant)).split(', ')[1] ?? '')
  }
}

/** @returns `null` when the platform does not know the zone */
function makeFormatter(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return null // a RangeError
  }
}

/**
 * `+HH:MM` from the platform's `GMT+05:45`, `GMT` or `GMT-00:44:30`. Seconds, which local mean times had, are
 * rounded half away from zero, as ECMAScript's Temporal does for minutes.
 */
function offsetText(longOffset: string): string | null {
  if (longOffset === 'GMT') return '+00:00'
  const match = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(longOffset)
  if (match === null) return null
  const minutes = Number(match[2]) * 60 + Number(match[3]) + (Number(match[4] ?? 0) >= 30 ? 1 : 0)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${minutes === 0 ? '+' : match[1]}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** The first and the last quarter hour of the range of `Date` reach beyond it. */
function clampToDate(instant: number): number {
  return Math.max(-MAX_INSTANT_MS, Math.min(MAX_INSTANT_MS, instant))
}
