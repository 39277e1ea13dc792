// The counts of a report over time, as bars of hours, days or months.
import type { Clock } from '../../enrich/count-plan.ts'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
import { sumOf, Tally } from './ranked.ts'

/** Countries of the timeline that have a colour of their own. */
export const TIMELINE_COUNTRIES = 5

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Longer times are shown by day, and then by month, so that there are at most some 200 bars. */
const MAX_SPANS_MS: Readonly<Record<Timeline['unit'], number>> = {
  hour: 96 * HOUR_MS,
  day: 200 * DAY_MS,
  month: Number.POSITIVE_INFINITY,
}

export interface Bucket {
  /** Milliseconds since 1970. Log time is given as if it were UTC. */
  readonly start: number
  /** Lines of each series; the last number is all other lines. */
  readonly counts: readonly number[]
}

/** The kinds of times that the lines have. */
export interface TimeKinds {
  /** The clock of most times. Figures over time omit the others, because the time between them is unknown. */
  readonly clock: Clock
  /** Lines whose time has no offset from UTC. */
  readonly localTimes: number
  /** Lines whose time is not of the clock. */
  readonly omitted: number
}

/** The lines with a time of the clock. */
export interface Timeline extends TimeKinds {
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

/** The lines of the countries with most lines. @param totals groups of a clock, a day and an hour, and a country */
export function timelineOf(totals: GroupTotals | undefined): Timeline | null {
  if (totals === undefined) return null
  const names = totals.mapValues(SERIES, ([code = null, name = null]) => name ?? code)
  const starts = startsOf(totals)
  const isTimed = (group: number) => !Number.isNaN(starts[totals.codes[group * WIDTH + TIME] ?? 0])
  const timed = totals.lines.map((count, group) => (isTimed(group) ? count : 0))
  const sums = new Tally()
  for (const [code, count] of totals.sumsBy(SERIES, timed).entries())
    if (count > 0) sums.addValue(names[code], count)
  const series = sums
    .ranked()
    .rows.slice(0, TIMELINE_COUNTRIES)
    .map(({ name }) => name)
  const seriesOf = names.map((name) => (name === null ? -1 : series.indexOf(String(name))))
  return overTime(totals, series, seriesOf, starts)
}

/** The answers with an error of the client and of the server. @param totals groups of a clock, a day and an hour, and a status */
export function errorsOf(totals: GroupTotals | undefined): Timeline | null {
  if (totals === undefined) return null
  const kinds = totals.mapValues(SERIES, ([status]) => /^[45](?=\d\d$)/.exec(String(status))?.[0])
  if (!kinds.some((kind) => kind !== undefined)) return null
  const seriesOf = kinds.map((kind) => (kind === undefined ? -1 : Number(kind) - 4))
  const timeline = overTime(totals, ['4xx', '5xx'], seriesOf)
  if (timeline === null) return null
  const buckets = timeline.buckets.map(({ start, counts }) => ({ start, counts: counts.slice(0, -1) }))
  return { ...timeline, buckets }
}

/** @param totals groups of a clock and a day, with their distinct addresses */
export function dailyAddresses(totals: GroupTotals | undefined): DailyAddresses | null {
  const uniques = totals?.uniques() ?? null
  if (totals === undefined || uniques === null) return null
  const starts = startsOf(totals)
  const bars = barsOf(starts, ['day', 'month'])
  if (bars === null) return null
  const [days, addresses] = [new Float64Array(bars.starts.length), new Float64Array(bars.starts.length)]
  for (const [group, count] of uniques.entries()) {
    const bar = bars.indexOf(starts[totals.codes[group] ?? 0])
    days[bar] = (days[bar] ?? 0) + 1
    addresses[bar] = (addresses[bar] ?? 0) + count
  }
  const buckets = bars.starts.map((start, bar) => {
    return { start, counts: [Math.round((addresses[bar] ?? 0) / Math.max(1, days[bar] ?? 0))] }
  })
  const isExact = totals.sampling === 1
  return { unit: bars.unit, ...clockOf(totals), series: ['addresses'], buckets, isExact }
}

/** @param seriesOf the series of each code; -1 for all others */
function overTime(
  totals: GroupTotals,
  series: readonly string[],
  seriesOf: readonly number[],
  starts = startsOf(totals),
): Timeline | null {
  // A log of a month has a hundred thousand groups of an hour and a country.
  const { codes, lines } = totals
  const bars = barsOf(starts, ['hour', 'day', 'month'])
  if (bars === null) return null
  const buckets = bars.starts.map((start) => {
    return { start, counts: new Array<number>(series.length + 1).fill(0) }
  })
  const places = starts.map(bars.indexOf)
  for (let group = 0; group < lines.length; group++) {
    const counts = buckets[places[codes[group * WIDTH + TIME] ?? 0] ?? -1]?.counts
    const known = seriesOf[codes[group * WIDTH + SERIES] ?? 0] ?? -1
    const index = known === -1 ? series.length : known
    if (counts !== undefined) counts[index] = (counts[index] ?? 0) + (lines[group] ?? 0)
  }
  return { unit: bars.unit, ...clockOf(totals), series, buckets }
}

/** The clock of most lines with a time. */
export function clockOf({ instants, localTimes: { lines: localTimes } }: GroupTotals): TimeKinds {
  const clock = localTimes > instants.lines ? 'log time' : 'UTC'
  return { clock, localTimes, omitted: Math.min(localTimes, instants.lines) }
}

/** ISO 8601. Log time has no offset. */
export function instantText(instant: number, clock: Clock): string {
  const text = new Date(instant).toISOString()
  return clock === 'UTC' ? text : text.slice(0, -1)
}

/**
 * The hours, days or months from the first instant to the last; `null` without an instant.
 *
 * @param instants `NaN` for none
 * @param units the first one that gives few bars is used
 */
function barsOf(instants: readonly number[], units: readonly Timeline['unit'][]) {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const instant of instants) {
    if (instant < first) first = instant
    if (instant > last) last = instant
  }
  const unit = units.find((each) => last - first < MAX_SPANS_MS[each])
  if (first > last || unit === undefined) return null
  const starts: number[] = []
  for (let start = startOf(first, unit); start <= last; start = startOf(start, unit, 1)) starts.push(start)
  const indexes = new Map(starts.map((start, index) => [start, index]))
  /** -1 for an instant outside. */
  const indexOf = (instant = Number.NaN): number => indexes.get(startOf(instant, unit)) ?? -1
  return { unit, starts, indexOf }
}

/** The lines of each hour of the day, from those of each hour of the week. */
export function dayHours(weekHours: readonly number[]): number[] {
  return Array.from({ length: 24 }, (_, hour) => sumOf(weekHours.filter((_, index) => index % 24 === hour)))
}

/** The start of each hour, or day without one, in milliseconds since 1970, by its code; `NaN` without a time of the clock. */
function startsOf(totals: GroupTotals): number[] {
  const { clock: ofMost } = clockOf(totals)
  return totals.mapValues(TIME, ([clock, day, hour = 0]) => {
    const isKnown = clock === ofMost && typeof day === 'string' && typeof hour === 'number'
    return isKnown ? Date.parse(`${day}T00:00:00Z`) + hour * HOUR_MS : Number.NaN
  })
}

/** The start of the unit that an instant is in, or of a later one. */
function startOf(instant: number, unit: Timeline['unit'], later = 0): number {
  const date = new Date(instant)
  if (unit === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later)
  const length = unit === 'hour' ? HOUR_MS : DAY_MS
  return (Math.floor(instant / length) + later) * length
}
