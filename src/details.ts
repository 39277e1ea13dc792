// Entry for programs that use `geofix/core` and want more than LocationRecords. In Node, a resolver has these functions as methods.

import { withDatabases } from './location/database-set.ts'
import { type DetailsOptions, detailsOf, type LocationDetails } from './location/details.ts'
import { type Verification, verify as verifyDatabase } from './mmdb/verify.ts'
import type { Resolver } from './resolver.ts'

export type { Continent, DetailsOptions, LocationDetails, Subdivision } from './location/details.ts'
export type { DatabaseFault, Verification } from './mmdb/verify.ts'

/**
 * What the vendor knows of an address beyond its LocationRecord, in one shape for all vendors.
 *
 * @throws MalformedAddressError, UnresolvableAddressError, InvalidLocaleError, InvalidDatabaseError as `lookup`
 * @throws TypeError when an option is unknown or the resolver is closed
 */
export function details(resolver: Resolver, ip: string, options?: DetailsOptions): LocationDetails {
  return withDatabases(resolver, (set) => detailsOf(set, ip, options))
}

/**
 * Checks each database completely: the search tree, all pointers, records and texts, and the metadata. Blocks for seconds with a
 * large file.
 *
 * @returns a result for each of `databases`; a valid database has no faults
 * @throws InvalidDatabaseError when there is not enough memory to unpack a packed database
 * @throws TypeError when the resolver is closed
 */
export function verify(resolver: Resolver): Verification[] {
  return withDatabases(resolver, ({ databases }) => databases.map(verifyDatabase))
}
