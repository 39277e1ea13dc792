// The counts of a report over time, as bars of hours, days or months.
import type { CountValue } from '../../enrich/count-plan.ts'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
import { Tally } from './ranked.ts'

/** Countries of the timeline that have a colour of their own. */
export const TIMELINE_COUNTRIES = 5

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Longer times are shown by day, and then by month, so that there are at most some 200 bars. */
const MAX_HOURS = 96
const MAX_DAYS = 200

export interface Bucket {
  /** Milliseconds since 1970. */
  readonly start: number
  /** Lines of each series; the last number is all other lines. */
  readonly counts: readonly number[]
}

/** The lines with a time. */
export interface Timeline {
  readonly unit: 'hour' | 'day' | 'month'
  /** The names of the series. */
  readonly series: readonly string[]
  readonly buckets: readonly Bucket[]
}

/** Distinct addresses by day; by month if there are very many days: then the mean of its days. */
export interface DailyAddresses extends Timeline {
  /** Whether the numbers are exact. If there were more addresses than can be counted, they are estimates. */
  readonly isExact: boolean
}

/** Indexes of the time, and of the series, in the dimensions of a tally. */
const [TIME, SERIES, WIDTH] = [0, 1, 2] as const

/** The lines of the countries with most lines. @param totals groups of a day with an hour, and a country */
export function timelineOf(totals: GroupTotals | undefined): Timeline | null {
  if (totals === undefined) return null
  const names = totals.mapValues(SERIES, ([code = null, name = null]) => name ?? code)
  const ofCodes = new Float64Array(names.length)
  const starts = totals.mapValues(TIME, hourOf)
  for (const [group, count] of totals.lines.entries()) {
    if (Number.isNaN(starts[totals.codes[group * WIDTH + TIME] ?? 0] ?? Number.NaN)) continue
    const code = totals.codes[group * WIDTH + SERIES] ?? 0
    ofCodes[code] = (ofCodes[code] ?? 0) + count
  }
  const sums = new Tally<string>()
  for (const [code, count] of ofCodes.entries()) if (count > 0) sums.addValue(names[code], count)
  const series = sums
    .ranked()
    .rows.slice(0, TIMELINE_COUNTRIES)
    .map(({ name }) => name)
  return overTime(
    totals,
    series,
    names.map((name) => (name === null ? -1 : series.indexOf(String(name)))),
  )
}

/** The answers with an error of the client and of the server. @param totals groups of a day with an hour, and a status */
export function errorsOf(totals: GroupTotals | undefined): Timeline | null {
  if (totals === undefined) return null
  const kinds = totals.mapValues(SERIES, ([status]) => /^[45](?=\d\d$)/.exec(String(status))?.[0])
  if (!kinds.some((kind) => kind !== undefined)) return null
  const timeline = overTime(
    totals,
    ['4xx', '5xx'],
    kinds.map((kind) => (kind === '4' ? 0 : kind === '5' ? 1 : -1)),
  )
  if (timeline === null) return null
  const buckets = timeline.buckets.map(({ start, counts }) => ({ start, counts: counts.slice(0, -1) }))
  return { ...timeline, buckets }
}

/** @param totals groups of a day, with their distinct addresses */
export function dailyAddresses(totals: GroupTotals | undefined): DailyAddresses | null {
  const uniques = totals?.uniques() ?? null
  if (totals === undefined || uniques === null) return null
  const starts = totals.mapValues(TIME, hourOf)
  const days = Array.from(uniques, (count, group) => ({
    start: starts[totals.codes[group] ?? 0] ?? Number.NaN,
    count,
  })).filter(({ start }) => !Number.isNaN(start))
  const bars = Bars.of(days.map(({ start }) => start))
  if (bars === null) return null
  const unit = bars.unit === 'month' ? 'month' : 'day'
  const all = new Map<number, { days: number; addresses: number }>()
  for (const { start, count } of days) {
    const bar = startOf(start, unit)
    const { days: before = 0, addresses = 0 } = all.get(bar) ?? {}
    all.set(bar, { days: before + 1, addresses: addresses + count })
  }
  const buckets: Bucket[] = []
  for (let start = startOf(bars.first, unit); start <= bars.last; start = after(start, unit)) {
    const { days: counted = 1, addresses = 0 } = all.get(start) ?? {}
    buckets.push({ start, counts: [Math.round(addresses / counted)] })
  }
  return { unit, series: ['addresses'], buckets, isExact: totals.sampling === 1 }
}

/** @param seriesOf the series of each code; -1 for all others */
function overTime(
  totals: GroupTotals,
  series: readonly string[],
  seriesOf: readonly number[],
): Timeline | null {
  // A log of a month has a hundred thousand groups of an hour and a country.
  const { codes, lines } = totals
  const starts = totals.mapValues(TIME, hourOf)
  const counted = starts.filter((start) => !Number.isNaN(start))
  const bars = Bars.of(counted)
  if (bars === null) return null
  const counts = bars.starts.map(() => new Array<number>(series.length + 1).fill(0))
  const places = starts.map((start) => bars.indexOf(start))
  for (const [group, count] of lines.entries()) {
    const bucket = counts[places[codes[group * WIDTH + TIME] ?? 0] ?? -1]
    const known = seriesOf[codes[group * WIDTH + SERIES] ?? 0] ?? -1
    const index = known === -1 ? series.length : known
    if (bucket !== undefined) bucket[index] = (bucket[index] ?? 0) + count
  }
  const buckets = bars.starts.map((start, index) => ({ start, counts: counts[index] ?? [] }))
  return { unit: bars.unit, series, buckets }
}

/** The hours, days or months from the first instant to the last. */
class Bars {
  readonly unit: Timeline['unit']
  readonly starts: readonly number[]
  readonly #indexes: ReadonlyMap<number, number>

  private constructor(
    readonly first: number,
    readonly last: number,
  ) {
    const span = last - first
    this.unit = span < MAX_HOURS * HOUR_MS ? 'hour' : span < MAX_DAYS * DAY_MS ? 'day' : 'month'
    const starts: number[] = []
    for (let start = startOf(first, this.unit); start <= last; start = after(start, this.unit))
      starts.push(start)
    this.starts = starts
    this.#indexes = new Map(starts.map((start, index) => [start, index]))
  }

  /** `null` without an instant. */
  static of(instants: readonly number[]): Bars | null {
    let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const instant of instants) [first, last] = [Math.min(first, instant), Math.max(last, instant)]
    return first > last ? null : new Bars(first, last)
  }

  /** -1 for an instant outside. */
  indexOf(instant: number): number {
    return this.#indexes.get(startOf(instant, this.unit)) ?? -1
  }
}

/** The start of an hour, or of a day without one, in milliseconds since 1970; `NaN` for lines without a time. */
function hourOf([day, hour = 0]: readonly CountValue[]): number {
  const isKnown = typeof day === 'string' && typeof hour === 'number'
  return isKnown ? Date.parse(`${day}T00:00:00Z`) + hour * HOUR_MS : Number.NaN
}

function startOf(instant: number, unit: Timeline['unit']): number {
  const date = new Date(instant)
  if (unit === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  const length = unit === 'hour' ? HOUR_MS : DAY_MS
  return Math.floor(instant / length) * length
}

function after(start: number, unit: Timeline['unit']): number {
  const date = new Date(start)
  if (unit === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
  return start + (unit === 'hour' ? HOUR_MS : DAY_MS)
}
