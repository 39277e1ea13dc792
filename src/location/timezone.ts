import { remember } from '../bytes/tables.ts'
import { timeOf } from '../realm.ts'
import type { TimezoneAtInstant } from './location-record.ts'

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
 * Length of a window. If both of its ends have the same offset, the whole window has it: no zone of the IANA database
 * changes its offset and changes it back in less than 7 days. Milliseconds.
 */
export const WINDOW_MS = 6 * 86_400_000

/** The IANA database has about 600 identifiers, links included. A hostile file can have any number. */
const MAX_ZONES = 1024

const zones = new Map<string | null, Timezone>()

/** Minutes east of UTC at an instant; `null` when the platform does not know the zone. */
type Clock = (instant: number) => number | null

/**
 * Clocks by lower-case identifier. They are not stored in each Timezone, because a file can spell one zone in thousands of
 * ways and the formatter of a clock takes tens of kilobytes.
 */
const clocks = new Map<string, Clock>()
/**
 * Zones that a clock was made for. It is kept when it is needed again: most programs ask for the present only, and
 * need no clock for the next days.
 */
const asked = new Map<string, true>()

/** Makes the clock of a zone without a formatter; `undefined` for a zone that has none. See {@link useZoneOfProcess}. */
let processClock: ((id: string) => Clock | undefined) | undefined

/** Until 1972, Liberia had an offset with seconds. */
const FIRST_WHOLE_WINDOW = Math.ceil(Date.UTC(1973, 0) / WINDOW_MS)

/**
 * Asks a function about the time zones that the platform lists. The first formatter takes 10 ms, this 1 ms.
 *
 * @param minutesIn sets the zone of the process, which a library must not do, and gives its minutes east of UTC. For zones that the
 *   platform does not know it would give the offset of the system, so it is never asked about them
 */
export function useZoneOfProcess(minutesIn: (zone: string, instant: number) => number): void {
  // Whether a system is in a zone such as CET, ICU also asks the C library, which may know none.
  const listed = Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/'))
  processClock = (id) => {
    const zone = listed.find((each) => each.toLowerCase() === id)
    return zone === undefined ? undefined : (instant) => minutesIn(zone, clampToDate(instant))
  }
}

/** The zone of an identifier. The same identifier gives the same object while it is cached. */
export function timezoneOf(id: string | null): Timezone {
  return remember(zones, MAX_ZONES, id, () => new Timezone(id))
}

/** The instant of a line or record without a time. Its offset is unknown. */
export const NO_INSTANT = Number.NaN

/** The most windows that are cached for one zone: 16 years. */
const MAX_WINDOWS = 1024
/** The most offsets that are cached for one zone: more than any zone has had. */
const MAX_OFFSETS = 1024

/** An offset from UTC, in the forms that texts and counts need. */
export interface Offset {
  /** `+HH:MM` or `-HH:MM`; `null` if the offset is unknown. */
  readonly text: string | null
  /** Minutes east of UTC; `null` if the offset is unknown. */
  readonly minutes: number | null
  /** The text as JSON. */
  readonly json: string
}

/** The offset at an unknown instant. */
export const NO_OFFSET: Offset = { text: null, minutes: null, json: 'null' }
export const UTC_OFFSET: Offset = { text: '+00:00', minutes: 0, json: '"+00:00"' }

interface ZonedOffset extends Offset {
  /** The part of a record: frozen, and shared by all records. */
  readonly at: TimezoneAtInstant
}

/** Instants with the same offset: from `from` until before `until`. Milliseconds since 1970. */
interface Span {
  readonly from: number
  readonly until: number
  readonly offset: ZonedOffset
}

/** A time zone, with its offset from UTC at any instant from the platform's copy of the IANA database. */
export class Timezone {
  /** The identifier as the database spells it. */
  readonly id: string | null
  /** Offsets by their minutes. */
  readonly #offsets = new Map<number | null, ZonedOffset>()
  /** Spans by the number of their window since 1970. */
  readonly #windows = new Map<number, readonly Span[]>()
  readonly #unknown: Span
  #last: Span
  /** The end of the window that the platform was last asked about. The times of a log go on to the next window. */
  #asked = NO_INSTANT
  #askedMinutes: number | null = null

  constructor(id: string | null) {
    this.id = id
    this.#unknown = { from: NO_INSTANT, until: NO_INSTANT, offset: this.#offsetOf(null) }
    this.#last = this.#unknown
  }

  /** The offset at an instant, as the part of a record. */
  at(instant: number): TimezoneAtInstant {
    return this.spanAt(instant).offset.at
  }

  /**
   * The offset at an instant, and how long it is valid.
   *
   * @param instant milliseconds since 1970, within the range of `Date`. Without one, `NaN`, the offset is unknown
   */
  spanAt(instant: number): Span {
    if (instant >= this.#last.from && instant < this.#last.until) return this.#last
    if (Number.isNaN(instant)) return this.#unknown
    this.#last = this.#newSpan(instant) ?? this.#last
    return this.#last
  }

  /** A function of its own: closures would take memory for each line of a log. */
  #newSpan(instant: number): Span | undefined {
    const window = Math.floor(instant / WINDOW_MS)
    const spans = remember(this.#windows, MAX_WINDOWS, window, () => this.#spansOf(window))
    return spans.find(({ until }) => instant < until)
  }

  /**
   * The offsets in a window, in order. Finds the few instants at which the offset changes, so that the platform need not be asked
   * about each line.
   *
   * @param window its number since 1970
   */
  #spansOf(window: number): readonly Span[] {
    const [start, end] = [window * WINDOW_MS, (window + 1) * WINDOW_MS]
    const id = this.id?.toLowerCase()
    const known = id === undefined ? null : sharedOffset(id, window)
    if (id === undefined || known !== undefined) {
      return [{ from: start, until: end, offset: this.#offsetOf(known ?? null) }]
    }
    const clock = clockOf(id, window)
    const first = start === this.#asked ? this.#askedMinutes : clock(start)
    const last = clock(end)
    this.#asked = end
    this.#askedMinutes = last
    const spans: Span[] = []
    for (let from = start; ; ) {
      const minutes = from === start ? first : clock(from)
      const until = minutes === last ? end : changeIn(clock, from, end, minutes)
      spans.push({ from, until, offset: this.#offsetOf(minutes) })
      if (until === end) break
      from = until
    }
    const [span] = spans
    if (span?.until === end) shareOffset(id, window, span.offset.minutes)
    return spans
  }

  #offsetOf(minutes: number | null): ZonedOffset {
    return remember(this.#offsets, MAX_OFFSETS, minutes, () => {
      const text = offsetText(minutes)
      return { text, minutes, json: JSON.stringify(text), at: Object.freeze({ id: this.id, offset: text }) }
    })
  }
}

/** Bisects for the first instant with another offset. `before` has the given offset, and `after` has another one. */
function changeIn(clock: Clock, before: number, after: number, minutes: number | null): number {
  let [low, high] = [before, after]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (clock(middle) === minutes) low = middle
    else high = middle
  }
  return high
}

/** @param id lower-case */
function clockOf(id: string, window: number): Clock {
  const kept = (window < FIRST_WHOLE_WINDOW ? undefined : processClock?.(id)) ?? clocks.get(id)
  if (kept !== undefined) return kept
  const clock = makeClock(id)
  // A log has other times than the present, and asks about many windows.
  const isPresent = window === Math.floor(Date.now() / WINDOW_MS)
  if (asked.has(id) || !isPresent) remember(clocks, MAX_ZONES, id, () => clock)
  else remember(asked, MAX_ZONES, id, () => true)
  return clock
}

function makeClock(timeZone: string): Clock {
  try {
    const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    // "7/1/2026, GMT+05:45". `formatToParts` takes twice as long.
    return (instant) => minutesOf(formatter.format(clampToDate(instant)).split(', ')[1] ?? '')
  } catch {
    return () => null // a RangeError
  }
}

/**
 * Minutes from the platform's `GMT+05:45`, `GMT` or `GMT-00:44:30`. Seconds, which local mean times had, are rounded half
 * away from zero, as ECMAScript's Temporal does for minutes.
 */
function minutesOf(longOffset: string): number | null {
  if (longOffset === 'GMT') return 0
  const match = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(longOffset)
  if (match === null) return null
  const minutes = Number(match[2]) * 60 + Number(match[3]) + (Number(match[4] ?? 0) >= 30 ? 1 : 0)
  return match[1] === '-' ? 0 - minutes : minutes
}

/** `+HH:MM` or `-HH:MM`; `null` if the offset is unknown. @param minutes minutes east of UTC */
export function offsetText(minutes: number | null): string | null {
  if (minutes === null) return null
  const two = (value: number): string => String(value).padStart(2, '0')
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** The first and the last window of the range of `Date` reach beyond it. */
function clampToDate(instant: number): number {
  return Math.max(-MAX_INSTANT_MS, Math.min(MAX_INSTANT_MS, instant))
}

/**
 * Offsets of time zones that all threads share. The platform keeps data for each zone that a thread asks it about, so
 * hundreds of zones would cost each thread much memory.
 *
 * One number for each zone of `Intl.supportedValuesOf('timeZone')`, the same list in all threads of a process: a window
 * without a change, and the offset in it. Threads write whole numbers, so that no lock is needed.
 */
let table: Int32Array | undefined
/** Numbers of the zones in the table by lower-case identifier. */
let numbers: ReadonlyMap<string, number> | undefined

/** Minutes plus half of this are from 1 to this: no offset was larger than 15:13 hours. */
const MINUTES_RANGE = 4096
/** Later windows, from the year 6279, do not fit. */
const MAX_WINDOW = 2 ** 18

/** The memory of the table, for the other threads. */
export function shareOffsets(): SharedArrayBuffer {
  if (table?.buffer instanceof SharedArrayBuffer) return table.buffer
  const memory = new SharedArrayBuffer(zoneNumbers().size * Int32Array.BYTES_PER_ELEMENT)
  table = new Int32Array(memory)
  return memory
}

/** Uses the table of another thread. */
export function attachOffsets(memory: SharedArrayBuffer): void {
  // A process has one list. Another process or version cannot send shared memory.
  if (memory.byteLength === zoneNumbers().size * Int32Array.BYTES_PER_ELEMENT) table = new Int32Array(memory)
}

/**
 * The offset in a window, in minutes east of UTC.
 *
 * @param id lower-case
 * @returns `undefined` if no thread has shared it
 */
export function sharedOffset(id: string, window: number): number | undefined {
  if (table === undefined) return undefined
  const value = table[zoneNumbers().get(id) ?? -1] ?? 0
  if (value === 0 || Math.floor(value / MINUTES_RANGE) !== window) return undefined
  return (value % MINUTES_RANGE) - MINUTES_RANGE / 2
}

/** Shares the offset of a window without a change. */
export function shareOffset(id: string, window: number, minutes: number | null): void {
  if (table === undefined || minutes === null || window < 0 || window >= MAX_WINDOW) return
  const number = zoneNumbers().get(id)
  if (number !== undefined) table[number] = window * MINUTES_RANGE + minutes + MINUTES_RANGE / 2
}

function zoneNumbers(): ReadonlyMap<string, number> {
  // Browsers before 2022 have no such list. They then share nothing.
  numbers ??= new Map(Intl.supportedValuesOf?.('timeZone').map((id, number) => [id.toLowerCase(), number]))
  return numbers
}
