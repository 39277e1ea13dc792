import type { Timezone } from '../location/timezone.ts'

/** Milliseconds. */
export const DAY_MS = 86_400_000
/** Days remembered for one zone, at most. */
const MAX_DAYS = 1024

/** An offset from UTC as a record has it. */
export interface Offset {
  /** `+HH:MM`, or `null`. */
  readonly text: string | null
  /** Minutes east of UTC; `null` when the offset is not known. */
  readonly minutes: number | null
  /** How a record's JSON ends behind `"offset":`. */
  readonly jsonTail: string
}

/** What is known of the offset at an instant that is not known. */
const NO_OFFSET: Offset = { text: null, minutes: null, jsonTail: 'null}}' }

/**
 * The offsets of one time zone at the instants of a log. A `Timezone` remembers its last quarter hour, which suits
 * questions about now; logs ask about years, and merged ones go back and forth. Here a day of UTC is asked about
 * once: when it begins and ends with the same offset, it has that offset all day. (No zone of the IANA database
 * has changed its offset and changed it back within 24 hours.)
 */
export class ZoneOffsets {
  readonly #zone: Timezone
  readonly #offsets = new Map<string | null, Offset>()
  /** By day since 1970; `null` when the offset changes in it. */
  readonly #days = new Map<number, Offset | null>()
  #lastDay = Number.NaN
  #last: Offset | null = null

  constructor(zone: Timezone) {
    this.#zone = zone
  }

  /** @param instant milliseconds since 1970, within the range of `Date`; `NaN` when it is not known */
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
