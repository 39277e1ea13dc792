import type { Timezone } from '../location/timezone.ts'

/** Milliseconds. */
export const DAY_MS = 86_400_000
/** The most days that are cached for one zone. */
const MAX_DAYS = 1024

/** An offset from UTC, in the forms that a record and the counts need. */
export interface Offset {
  /** `+HH:MM` or `-HH:MM`; `null` if the offset is unknown. */
  readonly text: string | null
  /** Minutes east of UTC; `null` if the offset is unknown. */
  readonly minutes: number | null
  /** The end of a record's JSON, after `"offset":`. */
  readonly jsonTail: string
}

/** The offset at an unknown instant. */
const NO_OFFSET: Offset = { text: null, minutes: null, jsonTail: 'null}}' }

/**
 * The offsets of one time zone at the instants of a log. A `Timezone` caches its last quarter hour, which suits
 * requests for the current time. Logs span years, and merged logs go back and forth, so this caches days of UTC. A day
 * that begins and ends with the same offset has it all day: no zone of the IANA database has changed its offset and
 * changed it back within 24 hours.
 */
export class ZoneOffsets {
  readonly #zone: Timezone
  readonly #offsets = new Map<string | null, Offset>()
  /** Offsets by day since 1970; `null` if the offset changes on that day. */
  readonly #days = new Map<number, Offset | null>()
  #lastDay = Number.NaN
  #last: Offset | null = null

  constructor(zone: Timezone) {
    this.#zone = zone
  }

  /** @param instant milliseconds since 1970, within the range of `Date`; `NaN` if unknown */
  at(instant: number): Offset {
    if (Number.isNaN(instant)) return NO_OFFSET
    const day = Math.floor(instant / DAY_MS)
    if (day !== this.#lastDay) {
      this.#last = this.#ofDay(day)
      this.#lastDay = day
    }
    return this.#last ?? this.#ask(instant)
  }

  #ofDay(day: number): Offset | null {
    const known = this.#days.get(day)
    if (known !== undefined) return known
    const [first, last] = [this.#ask(day * DAY_MS), this.#ask((day + 1) * DAY_MS - 1)]
    const offset = first === last ? first : null
    if (this.#days.size >= MAX_DAYS) this.#days.clear()
    this.#days.set(day, offset)
    return offset
  }

  #ask(instant: number): Offset {
    const text = this.#zone.at(instant).offset
    let offset = this.#offsets.get(text)
    if (offset === undefined) {
      offset = { text, minutes: minutesOf(text), jsonTail: `${JSON.stringify(text)}}}` }
      this.#offsets.set(text, offset)
    }
    return offset
  }
}

function minutesOf(text: string | null): number | null {
  if (text === null) return null
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(4, 6))
  return text.startsWith('-') ? -minutes : minutes
}
