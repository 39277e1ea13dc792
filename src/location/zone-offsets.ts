import { remember } from './tables.ts'
import { offsetText, type Timezone, WINDOW_MS } from './timezone.ts'

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
interface OffsetSpan {
  readonly from: number
  readonly until: number
  readonly offset: Offset
}

/** The offset at an unknown instant. */
export const NO_OFFSET: Offset = { text: null, minutes: null, json: 'null' }
export const UTC_OFFSET: Offset = { text: '+00:00', minutes: 0, json: '"+00:00"' }
const NO_SPAN: OffsetSpan = { from: Number.NaN, until: Number.NaN, offset: NO_OFFSET }

/** The offsets of one time zone at the instants of a log, whose spans are cached. */
export class ZoneOffsets {
  readonly #zone: Timezone
  readonly #offsets = new Map<number | null, Offset>()
  /** By window since 1970. */
  readonly #windows = new Map<number, readonly OffsetSpan[]>()
  #last = NO_SPAN

  constructor(zone: Timezone) {
    this.#zone = zone
  }

  /** From when the offset that `at` returned last for a known instant is valid. Milliseconds since 1970. */
  get from(): number {
    return this.#last.from
  }

  /** Until before when it is valid. */
  get until(): number {
    return this.#last.until
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

  #spans(window: number): readonly OffsetSpan[] {
    return this.#zone.spans(window).map(({ from, until, minutes }) => {
      const offset = remember(this.#offsets, MAX_OFFSETS, minutes, toOffset)
      return { from, until, offset }
    })
  }
}

function toOffset(minutes: number | null): Offset {
  const text = offsetText(minutes)
  return { text, minutes, json: JSON.stringify(text) }
}
