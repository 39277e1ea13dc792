import { eventTimeOf } from '../locating/event-time.ts'

/** No log is older. Numbers that count from another epoch, or in other units, give times before or after. */
const EARLIEST = Date.UTC(2000, 0, 1)
/** Times of a log are at most this far in the future: clocks and time zones differ. */
const DAY_MS = 86_400_000

/** Smaller numbers are durations, counters or days, and not times. */
const LEAST_INSTANT = 1e8

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Digits of a date, and of a time: `20260701`, `202607011200`, `20260701120000`. */
const COMPACT =
  /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?)?$/
/** `2607011200`. */
const SHORT_COMPACT = /^\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d$/
const LOCAL = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?$/i
const DATE_LIKE = /\d[:/.-]\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i

/** Why a value that is a time cannot be read, and what to do about it. */
export interface UnreadableTime {
  /** Can follow a value: "is". */
  readonly fault: string
  /** Can follow a colon. */
  readonly remedy: string
  /** Whether it would be read as another time. */
  readonly isMisread: boolean
}

const LOCAL_TIME: UnreadableTime = {
  fault: 'has no offset from UTC',
  remedy: 'write the offset after it, as in 2026-07-01T12:00:00Z',
  isMisread: false,
}
const OTHER_SPELLING: UnreadableTime = {
  fault: 'is neither ISO 8601 with an offset nor a number since 1970',
  remedy: 'write it as 2026-07-01T12:00:00Z',
  isMisread: false,
}
const DIGITS: UnreadableTime = {
  fault: 'is a date written as digits (YYYYMMDD or YYMMDDHHMM), without an offset from UTC',
  remedy: 'write it as 2026-07-01T12:00:00Z',
  isMisread: true,
}
const NOT_NOW: UnreadableTime = {
  fault: 'is not between the year 2000 and tomorrow',
  remedy: 'write it as 2026-07-01T12:00:00Z',
  isMisread: false,
}

/** Numbers of other epochs that are times between 2000 and 2040, `[from, to)`. As numbers since 1970 none is. */
const EPOCHS: readonly (UnreadableTime & { readonly from: number; readonly to: number })[] = [
  {
    from: 6.3e17,
    to: 6.44e17,
    fault: 'is .NET ticks, 100 ns since the year 1',
    remedy: 'subtract 621355968000000000 and divide by 10000000',
    isMisread: true,
  },
  {
    from: 1.259e17,
    to: 1.386e17,
    fault: 'is a Windows FILETIME, 100 ns since 1601',
    remedy: 'divide by 10000000 and subtract 11644473600',
    isMisread: true,
  },
  {
    from: 1.259e16,
    to: 1.386e16,
    fault: 'is a WebKit time, microseconds since 1601',
    remedy: 'divide by 1000000 and subtract 11644473600',
    isMisread: true,
  },
  {
    from: LEAST_INSTANT,
    to: EARLIEST / 1000,
    fault: 'is Cocoa seconds, since 2001',
    remedy: 'add 978307200',
    isMisread: true,
  },
  {
    from: 3.15e17,
    to: EARLIEST * 1e6,
    fault: 'is Cocoa nanoseconds, since 2001',
    remedy: 'divide by 1000000000 and add 978307200',
    isMisread: true,
  },
]

/** What the values of a field are as times of events. */
export class SampleTimes {
  /** Values that are times between 2000 and tomorrow. */
  readable = 0
  /** Values that are times in a form that is not read. */
  unreadable = 0
  /** Values that are neither times nor missing. */
  others = 0
  /** The first unreadable value, and why it is; `null` without one. */
  example: { readonly value: string; readonly why: UnreadableTime } | null = null
  /** The first readable value, and whether all are dates written as ten digits, which are read as seconds otherwise. */
  #first: string | null = null
  #isShortCompact = true
  #differ = false
  readonly #latest = Date.now() + DAY_MS

  /** @param value not missing */
  add(value: string): void {
    const why = this.#faultOf(value)
    if (why === null) {
      this.readable++
      this.#first ??= value
      this.#differ ||= value !== this.#first
      this.#isShortCompact &&= SHORT_COMPACT.test(value)
    } else if (why === 'other') this.others++
    else {
      this.unreadable++
      this.example ??= { value, why }
    }
  }

  /** Whether at least half of the values are times, in whatever form. */
  get areTimes(): boolean {
    const times = this.readable + this.unreadable
    return times > 0 && times >= this.others
  }

  /** Why most values cannot be read, with an example; `null` if most can be read. */
  get fault(): { readonly value: string; readonly why: UnreadableTime } | null {
    // Seconds of one hour would have numbers over 59 where dates have minutes.
    if (this.#first !== null && this.#differ && this.#isShortCompact)
      return { value: this.#first, why: DIGITS }
    return this.readable < this.unreadable ? this.example : null
  }

  /** @returns `null` if the value can be read, and `other` if it is not a time */
  #faultOf(value: string): UnreadableTime | 'other' | null {
    const instant = eventTimeOf(value)
    const isPlausible = instant >= EARLIEST && instant < this.#latest
    if (!NUMBER.test(value)) {
      if (isPlausible) return null
      if (!Number.isNaN(instant)) return NOT_NOW
      if (LOCAL.test(value)) return LOCAL_TIME
      return DATE_LIKE.test(value) ? OTHER_SPELLING : 'other'
    }
    const number = Number(value)
    const epoch = EPOCHS.find(({ from, to }) => number >= from && number < to)
    if (epoch !== undefined) return epoch
    if (COMPACT.test(value)) return DIGITS
    if (isPlausible) return null
    if (Math.abs(number) < LEAST_INSTANT) return 'other'
    return SHORT_COMPACT.test(value) ? DIGITS : NOT_NOW
  }
}
