// The figures of a report that are made from the tallies of a run: times, addresses and requests.
import { Address } from '../../address/address.ts'
import type { ReportTallies } from '../../enrich/count.ts'
import { type GroupTotals, placeOf } from '../../enrich/counting/totals.ts'
import { isMapped, Networks } from '../../enrich/counting/values.ts'
import { AddressMask } from '../../enrich/masking/address-mask.ts'
import { type AutonomousSystems, NO_SYSTEM } from '../../location/autonomous-systems.ts'
import { type Ranked, rankedOf, Tally } from './ranked.ts'
import { type Requests, requestsOf } from './requests.ts'
import { type DailyAddresses, dailyAddresses, type Timeline, timelineOf } from './times.ts'

/** Distinct addresses of lines. The keys of the maps are those of the counts of a run. */
export interface DistinctAddresses {
  readonly total: number
  /** Whether the numbers are exact. If there were more addresses than can be counted, each number is a lower limit. */
  readonly isExact: boolean
  readonly countries: ReadonlyMap<string, number>
  readonly regions: ReadonlyMap<string, number>
  readonly cities: ReadonlyMap<string, number>
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
  return {
    ...callersOf(totals[tallies.addresses], { showsAddresses, systems }),
    timeline: timelineOf(totals[tallies.times]),
    days: dailyAddresses(totals[tallies.days]),
    countryBytes: countryBytesOf(totals[tallies.times]),
    requests: requestsOf(totals, tallies, showsAddresses ? (text) => text : withoutAddresses),
  }
}

const WITHOUT_ADDRESSES = AddressMask.of({ mask: null, dropAddress: true, pseudonymKey: null })

function withoutAddresses(text: string): string {
  return WITHOUT_ADDRESSES?.text(text) ?? text
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

/** The networks that one customer of a provider usually has. */
const NETWORK_BITS = { ipv4Bits: 24, ipv6Bits: 48 }
/** The dimensions of the tally. */
const [PLACE, ADDRESS, WIDTH] = [0, 1, 2] as const

/**
 * The addresses, networks and autonomous systems with most lines, and the distinct addresses of places.
 *
 * @param totals groups of a place and an address; `undefined` if no input has lines
 */
function callersOf(
  totals: GroupTotals | undefined,
  { showsAddresses, systems }: ActivityOptions,
): Pick<Activity, 'addresses' | 'callers' | 'networks' | 'systems'> {
  const countries = new Map<string, number>()
  const regions = new Map<string, number>()
  const cities = new Map<string, number>()
  const none = { callers: null, networks: null, systems: null }
  if (totals === undefined) {
    return { addresses: { total: 0, isExact: true, countries, regions, cities }, ...none }
  }
  const { codes, lines, other } = totals
  const places = totals.mapValues(PLACE, placeOf)
  const ofPlaces = new Float64Array(places.length)
  const codeOf = (group: number, dimension: number): number => codes[group * WIDTH + dimension] ?? 0
  const groups = Int32Array.from(lines.keys()).filter((group) => codeOf(group, ADDRESS) !== 0)
  for (const group of groups) {
    const place = codeOf(group, PLACE)
    ofPlaces[place] = (ofPlaces[place] ?? 0) + 1
  }
  const add = (sums: Map<string, number>, key: string, count: number): void => {
    sums.set(key, (sums.get(key) ?? 0) + count)
  }
  for (const [code, place] of places.entries()) {
    const count = ofPlaces[code] ?? 0
    if (count === 0) continue
    add(countries, place.countryKey, count)
    if (place.region !== null) add(regions, place.regionKey, count)
    if (place.city !== null) add(cities, place.cityKey, count)
  }
  const addresses = { total: groups.length, isExact: other === 0, countries, regions, cities }
  if (!showsAddresses) return { addresses, ...none }
  const all = totals.networksOf(ADDRESS)
  const { words } = all
  const networks = new Networks(NETWORK_BITS)
  const address = new Address()
  const [byNetwork, bySystem] = [new Tally<number>(), new Tally<number>()]
  let withoutSystem = other
  const counts = Float64Array.from(groups, (group) => {
    const count = lines[group] ?? 0
    const code = codeOf(group, ADDRESS) - 1
    const country = places[codeOf(group, PLACE)]?.countryKey ?? ''
    byNetwork.addAddress(networks.code(words, 4 * code, true), count, country || null)
    if (systems === null) return count
    if (isMapped(words, 4 * code)) address.setIPv4((words[4 * code + 3] ?? 0) >>> 0, '')
    else address.parse(all.text(code))
    const found = systems.find(address)
    if (found === NO_SYSTEM) withoutSystem += count
    else {
      const { number, organization } = systems.system(found)
      bySystem.addAddress(number, count, organization)
    }
    return count
  })
  return {
    addresses,
    callers: rankedOf(counts, other, (index) => {
      const group = groups[index] ?? 0
      const { city = null, countryKey = '' } = places[codeOf(group, PLACE)] ?? {}
      return {
        name: all.text(codeOf(group, ADDRESS) - 1),
        addresses: null,
        bytes: null,
        within: [city, countryKey].filter(Boolean).join(', ') || null,
      }
    }),
    networks: byNetwork.ranked(other, (network) => networks.text(network)),
    systems:
      systems === null
        ? null
        : { ...bySystem.ranked(withoutSystem, (number) => `AS${number}`), isExact: other === 0 },
  }
}
