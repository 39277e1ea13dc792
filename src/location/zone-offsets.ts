import { remember } from './tables.ts'
import type { Timezone } from './timezone.ts'

/**
 * Length of a window. If both of its ends have the same offset, the whole window has it: no zone of the IANA database
 * changes its offset and changes it back in less than 7 days. Milliseconds.
 */
const WINDOW_MS = 6 * 86_400_000
/** The most windows that are cached for one zone: 16 years. */
const MAX_WINDOWS = 1024
/** The most offsets that are cached for one zone: more than any zone has had. */
const MAX_OFFSETS = 1024

/** An offset from UTC, in the forms that a record and the counts need. */
export interface Offset {
  /** `+HH:MM` or `-HH:MM`; `null` if the offset is unknown. */
  readonly text: string | null
  /** Minutes east of UTC; `null` if the offset is unknown. */
  readonly minutes: number | null
  /** The text as JSON. */
  readonly json: string
}

/** Instants with the same offset: from `from` until before `until`. Milliseconds since 1970. */
interface Span {
  readonly from: number
  readonly until: number
  readonly offset: Offset
}

/** The offset at an unknown instant. */
const NO_OFFSET: Offset = { text: null, minutes: null, json: 'null' }
const NO_SPAN: Span = { from: Number.NaN, until: Number.NaN, offset: NO_OFFSET }

/**
 * The offsets of one time zone at the instants of a log. `Intl` takes microseconds for each instant, so this class finds
 * the few instants at which the offset changes, and caches the spans between them.
 */
export class ZoneOffsets {
  readonly #zone: Timezone
  readonly #offsets = new Map<string | null, Offset>()
  /** By window since 1970: the offsets at its start, and its spans. */
  readonly #starts = new Map<number, Offset>()
  readonly #windows = new Map<number, readonly Span[]>()
  #last = NO_SPAN

  constructor(zone: Timezone) {
    this.#zone = zone
  }

  /** @param instant milliseconds since 1970, within the range of `Date`; `NaN` if unknown */
  at(instant: number): Offset {
    if (instant >= this.#last.from && instant < this.#last.until) return this.#last.offset
    if (Number.isNaN(instant)) return NO_OFFSET
    const window = Math.floor(instant / WINDOW_MS)
    const spans = remember(this.#windows, MAX_WINDOWS, window, () => this.#spans(window))
    this.#last = spans.find(({ until }) => instant < until) ?? NO_SPAN
    return this.#last.offset
  }

  #spans(window: number): readonly Span[] {
    const spans: Span[] = []
    const end = (window + 1) * WINDOW_MS
    const last = this.#startOf(window + 1)
    let from = window * WINDOW_MS
    for (let offset = this.#startOf(window); ; offset = this.#ask(from)) {
      const until = offset === last ? end : this.#changeIn(from, end, offset)
      spans.push({ from, until, offset })
      if (until === end) return spans
      from = until
    }
  }

  /** The offset at the start of a window. */
  #startOf(window: number): Offset {
    return remember(this.#starts, MAX_WINDOWS, window, () => this.#ask(window * WINDOW_MS))
  }

  /** Bisects for the first instant with another offset. `before` has the given offset, and `after` has another one. */
  #changeIn(before: number, after: number, offset: Offset): number {
    let [low, high] = [before, after]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#ask(middle) === offset) low = middle
      else high = middle
    }
    return high
  }

  #ask(instant: number): Offset {
    const text = this.#zone.offsetAt(instant)
    const make = (): Offset => ({ text, minutes: minutesOf(text), json: JSON.stringify(text) })
    return remember(this.#offsets, MAX_OFFSETS, text, make)
  }
}

function minutesOf(text: string | null): number | null {
  if (text === null) return null
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(4, 6))
  return text.startsWith('-') ? -minutes : minutes
}
