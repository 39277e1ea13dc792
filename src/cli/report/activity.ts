// The figures of a report that are made from the tallies of a run: times, addresses and requests.
import type { CountValue } from '../../enrich/count-plan.ts'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
import { AddressMask } from '../../enrich/masking/address-mask.ts'
import type { ReportTallies } from '../../enrich/report-plan.ts'
import type { AutonomousSystems } from '../../location/autonomous-systems.ts'
import { type Agents, agentsOf } from './agents.ts'
import { Callers, type DistinctAddresses, NO_ADDRESSES } from './callers.ts'
import { addValue, type Ranked, type Tallied, Tally } from './ranked.ts'
import { type DailyAddresses, dailyAddresses, errorsOf, type Timeline, timelineOf } from './times.ts'

/** The requests of a run. Only logs of requests have them. */
export interface Requests {
  readonly statuses: readonly Tallied[]
  readonly methods: readonly Tallied[]
  /** Bytes of all answers; `null` if the log does not say. */
  readonly bytes: number | null
  /** Answers with errors, by time; `null` if the log has no times, or no answer is an error. */
  readonly errors: Timeline | null
  /** Paths of pages, without their query. `null` if the log has none. */
  readonly pages: Ranked | null
  /** Paths of what pages load, such as images and style sheets, in the same way. */
  readonly assets: Ranked | null
  /** Paths that were answered with 404. `null` if the log has no paths or no statuses. */
  readonly notFound: Ranked | null
  /** The hosts of the pages that led here. `null` if the log has no referrers. */
  readonly referrers: Ranked | null
  /** `null` if the log has no user agents. */
  readonly agents: Agents | null
}

export interface Activity {
  readonly addresses: DistinctAddresses
  /** `null` if no address may be shown. */
  readonly callers: Ranked | null
  readonly networks: Ranked | null
  /** `null` too without a database of autonomous systems. */
  readonly systems: Ranked | null
  readonly timeline: Timeline | null
  readonly days: DailyAddresses | null
  /** Bytes of the answers to each country, by the keys of the counts of a run; `null` if the log does not say. */
  readonly countryBytes: ReadonlyMap<string, number> | null
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
    days: dailyAddresses(totals[tallies.days]),
    countryBytes: countryBytesOf(totals[tallies.times]),
    requests: requestsOf(totals, tallies, showsAddresses ? (text) => text : withoutAddresses),
  }
}

const NOT_FOUND = '404'
/** Endings of the files that pages load. */
const ASSET =
  /\.(?:css|m?js|map|json|png|jpe?g|gif|svg|ico|webp|avif|bmp|woff2?|ttf|otf|eot|mp[34]|webm|ogg|wav|wasm)$/i
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
  const byReferrer = totals[tallies.referrers]
  if (byStatus === undefined && byPage === undefined) return null
  const [statuses, methods, referrers] = [new Tally<string>(), new Tally<string>(), new Tally<string>()]
  for (const { values, count } of byStatus?.groups() ?? []) {
    const status = values.at(-1)
    if (STATUS.test(String(status))) addValue(statuses, status, count)
  }
  for (const { values, count } of totals[tallies.methods]?.groups() ?? [])
    addValue(methods, typeof values[0] === 'string' ? shown(values[0]) : values[0], count)
  for (const { values, count } of byReferrer?.groups() ?? []) {
    const host = hostOf(values[0])
    if (host !== null) referrers.add(shown(host), count)
  }
  const [pages, assets, notFound] = [new Tally<string>(), new Tally<string>(), new Tally<string>()]
  const sums = byPage?.sums ?? null
  let group = 0
  for (const { values, count } of byPage?.groups() ?? []) {
    const bytes = sums === null ? null : (sums[group] ?? 0)
    group++
    const [path, status] = values
    const page = typeof path === 'string' ? shown(path.split('?', 1)[0] ?? '') : path
    const kind = typeof page === 'string' && ASSET.test(page) ? assets : pages
    addValue(kind, page, count, bytes)
    if (String(status) === NOT_FOUND) addValue(notFound, page, count)
  }
  return {
    statuses: statuses.ranked().rows,
    methods: methods.ranked().rows,
    bytes: totals[tallies.times]?.sum ?? null,
    errors: errorsOf(byStatus),
    pages: byPage === undefined ? null : pages.ranked(byPage.other),
    assets: byPage === undefined ? null : { ...assets.ranked(), isExact: byPage.other === 0 },
    // The tally does not say which of the paths beyond its bound were not found.
    notFound:
      byPage === undefined || byStatus === undefined
        ? null
        : { ...notFound.ranked(), isExact: byPage.other === 0 },
    referrers: byReferrer === undefined ? null : { ...referrers.ranked(), isExact: byReferrer.other === 0 },
    agents: agentsOf(totals[tallies.agents], shown),
  }
}

/** The authority of a URI (RFC 3986, section 3.2), without the user. As text: logs write bytes beyond ASCII as they like. */
const HOST = /^[a-z][a-z\d+.-]*:\/\/(?:[^/?#@]*@)?([^/?#@]+)/i

/** The host of a referrer; `null` if it has none. */
function hostOf(referrer: CountValue | undefined): string | null {
  return HOST.exec(String(referrer))?.[1]?.toLowerCase() ?? null
}

function countryBytesOf(totals: GroupTotals | undefined): ReadonlyMap<string, number> | null {
  const sums = totals?.sums ?? null
  if (totals === undefined || sums === null) return null
  const bytes = new Map<string, number>()
  const keys = totals.mapValues(1, ([code = null, name = null]) => code ?? name)
  for (const [group, sum] of sums.entries()) {
    const key = keys[totals.codes[2 * group + 1] ?? 0]
    if (typeof key === 'string') bytes.set(key, (bytes.get(key) ?? 0) + sum)
  }
  return bytes
}
