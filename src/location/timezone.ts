import { remember } from '../remember.ts'
import type { TimezoneAtInstant } from './location-record.ts'

/**
 * An offset is asked of the platform once per zone and quarter hour. Nearly all changes fall on full quarter
 * hours of UTC; for the others (Newfoundland changed at 00:01 until 2011, Casey until 2022) both ends of the
 * quarter hour are compared. Milliseconds.
 */
const QUARTER_HOUR = 15 * 60 * 1000

/** The IANA database has some 600 identifiers, links included. A hostile file can have any number. */
const MAX_ZONES = 1024

const zones = new Map<string | null, Timezone>()

/**
 * By identifier in lower case, which is how the platform compares them. Kept here and not in the zones: a file
 * can spell one zone in thousands of ways, and a formatter takes tens of kilobytes.
 */
const formats = new Map<string, Intl.DateTimeFormat | null>()

/** What a record has whose database does not know the zone. */
const UNKNOWN: TimezoneAtInstant = Object.freeze({ id: null, offset: null })

/** The zone with an identifier; the same object for the same identifier while it is remembered. */
export function timezoneOf(id: string | null): Timezone {
  return remember(zones, MAX_ZONES, id, () => new Timezone(id))
}

/** A time zone, which knows its offset from UTC at any instant by the platform's copy of the IANA database. */
export class Timezone {
  readonly #id: string | null
  /** The last answer, and the quarter hour since 1970 that it holds for. */
  #last = UNKNOWN
  #lastQuarter = Number.NaN

  constructor(id: string | null) {
    this.#id = id
  }

  /** @param instant milliseconds since 1970, within the range of `Date` */
  at(instant: number): TimezoneAtInstant {
    if (this.#id === null) return UNKNOWN
    const quarter = Math.floor(instant / QUARTER_HOUR)
    if (quarter === this.#lastQuarter) return this.#last
    const offset = this.#offset(this.#id, instant)
    const answer = Object.freeze({ id: this.#id, offset })
    const [first, last] = [quarter * QUARTER_HOUR, (quarter + 1) * QUARTER_HOUR - 1]
    if (offset === this.#offset(this.#id, first) && offset === this.#offset(this.#id, last)) {
      this.#last = answer
      this.#lastQuarter = quarter
    }
    return answer
  }

  #offset(id: string, instant: number): string | null {
    const format = remember(formats, MAX_ZONES, id.toLowerCase(), makeFormat)
    if (format === null) return null
    const part = format.formatToParts(clampToDate(instant)).find(({ type }) => type === 'timeZoneName')
    return part === undefined ? null : offsetText(part.value)
  }
}

/** @returns `null` when the platform does not know the zone */
function makeFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return null // a RangeError
  }
}

/**
 * `+HH:MM` from the platform's `GMT+05:45`, `GMT` or `GMT-00:44:30`. Seconds, which local mean times had, are
 * rounded to the minute, halves away from zero, as ECMAScript's Temporal does where it prints minutes only.
 */
function offsetText(longOffset: string): string | null {
  if (longOffset === 'GMT') return '+00:00'
  const match = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(longOffset)
  if (match === null) return null
  const minutes = Number(match[2]) * 60 + Number(match[3]) + (Number(match[4] ?? 0) >= 30 ? 1 : 0)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${minutes === 0 ? '+' : match[1]}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

/** The ends of a quarter hour at the ends of what a `Date` can hold. */
function clampToDate(instant: number): number {
  return Math.max(-8.64e15, Math.min(8.64e15, instant))
}
