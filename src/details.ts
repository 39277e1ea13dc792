// Entry for programs that use `geofix/core` and want more than a LocationRecord. In Node, a resolver has the method `details`.

import { withDatabases } from './borrowing.ts'
import { type DetailsOptions, detailsOf, type LocationDetails } from './location/details.ts'
import type { Resolver } from './resolver.ts'

export type { Continent, DetailsOptions, LocationDetails, Subdivision } from './location/details.ts'

/**
 * What the vendor knows of an address beyond its LocationRecord, in one shape for all vendors.
 *
 * @throws MalformedAddressError, UnresolvableAddressError, InvalidLocaleError, InvalidDatabaseError as `lookup`
 * @throws TypeError when an option is unknown or the resolver is closed
 */
export function details(resolver: Resolver, ip: string, options?: DetailsOptions): LocationDetails {
  return withDatabases(resolver, (set) => detailsOf(set, ip, options))
}
