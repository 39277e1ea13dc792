import { isIPv4Compatible } from '../address/address.ts'
import { formatIPv4, formatIPv6, parseNetwork } from '../address/ip-text.ts'
import { boundsOf, compare, endsBefore, FIRST, listNetworks, type Words } from '../address/position.ts'
import { checkOptionNames, type NamesOf, OptionError } from '../option-names.ts'
import { countryCodesOf } from './country-codes.ts'
import type { DatabaseSet } from './database-set.ts'
import { type Locale, localeOf } from './locale.ts'
import { LOOKUP_OPTIONS, type LocationRecord, type LookupOptions } from './location-record.ts'
import { checkHasLocations } from './lookup.ts'
import { NetworkWalk } from './network-walk.ts'
import { instantOf } from './timezone.ts'

/** A network and the location of all its addresses. */
export interface LocatedNetwork {
  /** CIDR text, such as `81.2.69.0/24`. */
  readonly network: string
  readonly location: Omit<LocationRecord, 'ip'>
}

export interface NetworksOptions extends LookupOptions {
  /** Only addresses in this network: CIDR text, or an address. A network that is partly in it is cut. Default: all. */
  readonly within?: string | undefined
  /** Only addresses of this family: 4 or 6. Default: both, IPv4 first. */
  readonly ipVersion?: 4 | 6 | undefined
  /** ISO 3166-1 alpha-2 codes; `EU` stands for the member states. Default: all, and locations without a country. */
  readonly countries?: readonly string[] | undefined
}

const NETWORKS_OPTIONS: NamesOf<NetworksOptions> = {
  within: true,
  ipVersion: true,
  countries: true,
  ...LOOKUP_OPTIONS,
}

/** Which networks are asked for. Checked. */
export interface NetworkChoice {
  /** Where to start and to end; `null` if no address is left. */
  readonly bounds: readonly [start: Words, end: Words] | null
  readonly countries: ReadonlySet<string> | null
}

/** @throws OptionError, TypeError when an option is wrong */
export function networkChoice({ within, ipVersion, countries }: NetworksOptions): NetworkChoice {
  if (ipVersion !== undefined && ipVersion !== 4 && ipVersion !== 6)
    throw new OptionError((nameOf) => `${nameOf('ipVersion')} must be 4 or 6`)
  if (countries !== undefined && !(Array.isArray(countries) && countries.length > 0))
    throw new OptionError(
      (nameOf) =>
        `${nameOf('countries')} must be a list of country codes, such as DE, or EU for its member states`,
    )
  const all = [ipVersion === 6 ? AFTER_IPV4 : FIRST, ipVersion === 4 ? AFTER_IPV4 : FIRST] as const
  const inner = within === undefined ? all : boundsWithin(within)
  const start = compare(inner[0], all[0]) < 0 ? all[0] : inner[0]
  const end = endsBefore(inner[1], all[1]) ? inner[1] : all[1]
  const isEmpty = compare(start, FIRST) !== 0 && !endsBefore(start, end)
  return {
    bounds: isEmpty ? null : [start, end],
    countries: countries === undefined ? null : new Set(countryCodesOf(countries)),
  }
}

/** The position after IPv4. */
const AFTER_IPV4 = Uint32Array.of(0, 0, 1, 0)

function boundsWithin(within: string): readonly [start: Words, end: Words] {
  const network = parseNetwork(within)
  const [start, end] = boundsOf(network)
  // The IPv6 addresses of ::/96 have no location.
  return [network.family === 6 && isIPv4Compatible(start) ? AFTER_IPV4 : start, end]
}

/**
 * The networks that have a location, in the order of their addresses.
 *
 * @param borrow gives the databases, with the caller as one more user. It is called when the first network is asked for
 * @throws InvalidDatabaseError when no database has locations; InvalidLocaleError, TypeError when an option is wrong
 */
export function networksOf(
  set: DatabaseSet,
  borrow: () => DatabaseSet,
  options: NetworksOptions = {},
): Generator<LocatedNetwork, void, undefined> {
  checkOptionNames('networks', options, NETWORKS_OPTIONS)
  if (set.tables.length === 0) checkHasLocations(set)
  const { locale, cityNames, at } = options
  return locatedNetworks(borrow, networkChoice(options), localeOf(locale, cityNames), instantOf(at))
}

function* locatedNetworks(
  borrow: () => DatabaseSet,
  { bounds, countries }: NetworkChoice,
  locale: Locale,
  at: number,
): Generator<LocatedNetwork, void, undefined> {
  if (bounds === null) return
  const set = borrow()
  try {
    const walk = new NetworkWalk(set, { bounds })
    while (walk.next()) {
      if (countries !== null && !countries.has(countryOf(set, walk.location) ?? '')) continue
      // The caller can make lookups between two networks, after which the number can be another location's.
      const { ip: _, ...location } = set.record(walk.location, '', locale, at)
      const networks: string[] = []
      listNetworks(walk.start, walk.end, (start, length) => void networks.push(positionCidr(start, length)))
      for (const network of networks) yield { network, location: { ...location } }
    }
  } finally {
    set.release()
  }
}

/** The code of the country of a location. */
export function countryOf(set: DatabaseSet, location: number): string | null {
  return set.stored(location)?.shared?.country.code ?? null
}

/** The network that starts at a position. @param prefixLength of a position */
function positionCidr(words: Words, prefixLength: number): string {
  return isIPv4Compatible(words)
    ? `${formatIPv4(words[3] ?? 0)}/${prefixLength - 96}`
    : `${formatIPv6(words)}/${prefixLength}`
}
