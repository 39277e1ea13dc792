// When, who and what: the figures of a report that are made from the tallies of a run.
import type { CountValue } from '../../enrich/count-plan.ts'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
import { AddressMask } from '../../enrich/masking/address-mask.ts'
import type { ReportTallies } from '../../enrich/report-plan.ts'
import type { AutonomousSystems } from '../../location/autonomous-systems.ts'
import { Callers, type DistinctAddresses, NO_ADDRESSES } from './callers.ts'
import { type Ranked, type Tallied, Tally } from './ranked.ts'

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
  /** Lines of each of the countries, and last of all others. */
  readonly counts: readonly number[]
}

/** The lines with a time. */
export interface Timeline {
  readonly unit: 'hour' | 'day' | 'month'
  /** The names of the countries with most lines, at most {@link TIMELINE_COUNTRIES}. */
  readonly countries: readonly string[]
  readonly buckets: readonly Bucket[]
}

/** What was asked for. Only logs of requests have it. */
export interface Requests {
  readonly statuses: readonly Tallied[]
  readonly methods: readonly Tallied[]
  /** Bytes of all answers; `null` if the log does not say. */
  readonly bytes: number | null
  /** Paths without their query. `null` if the log has none. */
  readonly pages: Ranked | null
  /** Paths that were answered with 404. `null` if the log has no paths or no statuses. */
  readonly notFound: Ranked | null
}

export interface Activity {
  readonly addresses: DistinctAddresses
  /** `null` if no address may be shown. */
  readonly callers: Ranked | null
  readonly networks: Ranked | null
  /** `null` too without a database of autonomous systems. */
  readonly systems: Ranked | null
  readonly timeline: Timeline | null
  readonly requests: Requests | null
}

export interface ActivityOptions {
  /** Whether addresses and networks may be shown. If not, paths are shown without the addresses in them. */
  readonly showsAddresses: boolean
  /** The owners of networks; `null` without a database of them. */
  readonly systems: AutonomousSystems | null
}

/** The figures of the tallies that `withReport` added to the plan of a run. */
export function activityOf(
  totals: readonly GroupTotals[],
  tallies: ReportTallies,
  { showsAddresses, systems }: ActivityOptions,
): Activity {
  const byAddress = totals[tallies.addresses]
  const who = byAddress === undefined ? null : new Callers(byAddress)
  return {
    addresses: who?.distinct ?? NO_ADDRESSES,
    callers: showsAddresses ? (who?.addresses() ?? null) : null,
    networks: showsAddresses ? (who?.networks() ?? null) : null,
    systems: showsAddresses && systems !== null ? (who?.systems(systems) ?? null) : null,
    timeline: timelineOf(totals[tallies.times]),
    requests: requestsOf(totals, tallies, showsAddresses ? (text) => text : withoutAddresses),
  }
}

/** The dimensions of the tally of times. */
const [TIME, COUNTRY, WIDTH] = [0, 1, 2] as const

function timelineOf(totals: GroupTotals | undefined): Timeline | null {
  if (totals === undefined) return null
  // A log of a month has a hundred thousand groups of an hour and a country.
  const { codes, lines } = totals
  const starts = totals.mapValues(TIME, hourOf)
  const names = totals.mapValues(COUNTRY, ([code = null, name = null]) => name ?? code)
  const ofCodes = new Float64Array(names.length)
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (let group = 0; group < lines.length; group++) {
    const start = starts[codes[group * WIDTH + TIME] ?? 0] ?? Number.NaN
    if (Number.isNaN(start)) continue
    first = Math.min(first, start)
    last = Math.max(last, start)
    const country = codes[group * WIDTH + COUNTRY] ?? 0
    ofCodes[country] = (ofCodes[country] ?? 0) + (lines[group] ?? 0)
  }
  if (first > last) return null
  const sums = new Tally<string>()
  for (const [code, count] of ofCodes.entries()) if (count > 0) add(sums, names[code], count)
  const countries = sums
    .ranked()
    .rows.slice(0, TIMELINE_COUNTRIES)
    .map(({ name }) => name)
  const span = last - first
  const unit = span < MAX_HOURS * HOUR_MS ? 'hour' : span < MAX_DAYS * DAY_MS ? 'day' : 'month'
  const counts = new Map<number, number[]>()
  for (let start = startOf(first, unit); start <= last; start = after(start, unit))
    counts.set(start, new Array<number>(countries.length + 1).fill(0))
  const buckets = starts.map((start) => counts.get(startOf(start, unit)))
  const places = names.map((name) => (name === null ? -1 : countries.indexOf(String(name))))
  for (let group = 0; group < lines.length; group++) {
    const bucket = buckets[codes[group * WIDTH + TIME] ?? 0]
    const place = places[codes[group * WIDTH + COUNTRY] ?? 0] ?? -1
    const index = place === -1 ? countries.length : place
    if (bucket !== undefined) bucket[index] = (bucket[index] ?? 0) + (lines[group] ?? 0)
  }
  return { unit, countries, buckets: Array.from(counts, ([start, each]) => ({ start, counts: each })) }
}

/** The start of an hour, in milliseconds since 1970; `NaN` for lines without a time. */
function hourOf([day, hour]: readonly CountValue[]): number {
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

const NOT_FOUND = '404'
/** Later lines can have something else in a field of this name. */
const STATUS = /^\d{1,3}$/

const WITHOUT_ADDRESSES = AddressMask.of({ mask: null, dropAddress: true, pseudonymKey: null })

function withoutAddresses(text: string): string {
  return WITHOUT_ADDRESSES?.text(text) ?? text
}

function requestsOf(
  totals: readonly GroupTotals[],
  tallies: ReportTallies,
  shown: (text: string) => string,
): Requests | null {
  const [byStatus, byPage] = [totals[tallies.statuses], totals[tallies.pages]]
  if (byStatus === undefined && byPage === undefined) return null
  const [statuses, methods] = [new Tally<string>(), new Tally<string>()]
  for (const { values, count } of byStatus?.groups() ?? []) {
    const [status, method] = values
    if (STATUS.test(String(status))) add(statuses, status, count)
    add(methods, typeof method === 'string' ? shown(method) : method, count)
  }
  const [pages, notFound] = [new Tally<string>(), new Tally<string>()]
  for (const { values, count } of byPage?.groups() ?? []) {
    const [path, status] = values
    const page = typeof path === 'string' ? shown(path.split('?', 1)[0] ?? '') : path
    add(pages, page, count)
    if (String(status) === NOT_FOUND) add(notFound, page, count)
  }
  return {
    statuses: statuses.ranked().rows,
    methods: methods.ranked().rows,
    bytes: totals[tallies.times]?.sum ?? null,
    pages: byPage === undefined ? null : pages.ranked(byPage.other),
    // Which of the paths beyond the bound were not found is not known.
    notFound:
      byPage === undefined || byStatus === undefined
        ? null
        : { ...notFound.ranked(), isExact: byPage.other === 0 },
  }
}

function add(sums: Tally<string>, value: CountValue | undefined, count: number): void {
  if (value !== null && value !== undefined) sums.add(String(value), count)
}
