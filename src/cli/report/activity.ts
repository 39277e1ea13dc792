// The figures of a report that are made from the tallies of a run: times, addresses and requests.
import { Address } from '../../address/address.ts'
import { remember } from '../../bytes/tables.ts'
import type { GroupTotals } from '../../enrich/counting/totals.ts'
import { isMapped, Networks } from '../../enrich/counting/values.ts'
import { AddressMask } from '../../enrich/masking/address-mask.ts'
import { type AutonomousSystems, NO_SYSTEM } from '../../location/autonomous-systems.ts'
import { CITY, countryKey, type ReportTotals } from './places.ts'
import { type Ranked, rankedKeys, rankedOf, type Tables } from './ranked.ts'
import { type Requests, requestsOf } from './requests.ts'
import { type DailyAddresses, dailyAddresses, type Timeline, timelineOf } from './times.ts'

/** Distinct addresses of lines. */
export interface DistinctTotal {
  readonly total: number
  /** Whether the numbers are exact. If there were more addresses than can be counted, each number is a lower limit. */
  readonly isExact: boolean
}

export interface Activity {
  readonly addresses: DistinctTotal
  readonly tables: Tables
  readonly timeline: Timeline | null
  readonly days: DailyAddresses | null
  readonly requests: Requests | null
}

export interface ActivityOptions {
  /** Whether addresses and networks may be shown. If not, paths are shown without the addresses in them. */
  readonly showsAddresses: boolean
  /** The owners of networks; `null` without a database of them. */
  readonly systems: AutonomousSystems | null
}

/** @param totals of `withReport` */
export function activityOf(totals: ReportTotals, { showsAddresses, systems }: ActivityOptions): Activity {
  const { addresses, ...callers } = callersOf(totals.addresses, { showsAddresses, systems })
  const { requests, tables } = requestsOf(totals, showsAddresses ? (text) => text : withoutAddresses)
  return {
    addresses,
    tables: { ...callers, ...tables },
    timeline: timelineOf(totals.times),
    days: dailyAddresses(totals.days),
    requests,
  }
}

const WITHOUT_ADDRESSES = AddressMask.of({ mask: null, dropAddress: true, pseudonymKey: null })

function withoutAddresses(text: string): string {
  return WITHOUT_ADDRESSES?.text(text) ?? text
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
): Tables & Pick<Activity, 'addresses'> {
  if (totals === undefined) return { addresses: { total: 0, isExact: true } }
  const { codes, lines, other } = totals
  const codeOf = (group: number, dimension: number) => codes[group * WIDTH + dimension] ?? 0
  // The code of lines without an address is 0.
  const groups = new Int32Array(lines.length)
    .map((_, group) => group)
    .filter((group) => codeOf(group, ADDRESS) > 0)
  const own = groups.map((group) => codeOf(group, ADDRESS))
  const counts = lines.filter((_, group) => codeOf(group, ADDRESS) > 0)
  const placeAt = (address: number) => totals.valuesOf(PLACE, codeOf(groups[address] ?? 0, PLACE))
  const addresses = { total: groups.length, isExact: other === 0 }
  if (!showsAddresses) return { addresses }
  const all = totals.networksOf(ADDRESS)
  const { words } = all
  const networks = new Networks(NETWORK_BITS)
  const networkKeys = own.map((code) => networks.code(words, 4 * (code - 1), true) - 1)
  return {
    addresses,
    callers: rankedOf(counts, other, (address) => {
      const place = placeAt(address)
      return {
        name: all.text(own[address] ?? 0),
        addresses: null,
        bytes: null,
        within: [place[CITY], countryKey(place)].filter(Boolean).join(', ') || null,
      }
    }),
    networks: rankedKeys(
      networkKeys,
      counts,
      other,
      (key) => networks.text(key + 1),
      (address) => countryKey(placeAt(address)) || null,
    ),
    ...(systems && { systems: systemsOf(systems, all, own, counts, other) }),
  }
}

/** The owners of addresses. @param codes of the addresses */
function systemsOf(
  systems: AutonomousSystems,
  networks: Networks,
  codes: Int32Array,
  counts: Float64Array,
  other: number,
): Ranked {
  const { words } = networks
  const address = new Address()
  const found = codes.map((code) => {
    const ipv4 = words[4 * code - 1] ?? 0
    if (isMapped(words, 4 * (code - 1))) address.setIPv4(ipv4 >>> 0, '')
    else address.parse(networks.text(code))
    return systems.find(address)
  })
  // Several systems of a database can have one number.
  const numbers = new Map<number, number>()
  const keys = found.map((system) => {
    if (system === NO_SYSTEM) return -1
    const { number } = systems.system(system)
    return remember(numbers, Number.POSITIVE_INFINITY, number, () => numbers.size)
  })
  const names = Array.from(numbers.keys(), (number) => `AS${number}`)
  return rankedKeys(
    keys,
    counts,
    other,
    (key) => names[key] ?? '',
    (each) => systems.system(found[each] ?? 0).organization,
  )
}
