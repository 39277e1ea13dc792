import { setImmediate } from 'node:timers/promises'
import { Address } from '../address/address.ts'
import { InvalidDatabaseError } from '../errors.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { NO_LOCATION } from '../location/location-table.ts'

/** Trial lookups for each address family. */
const LOOKUPS_PER_FAMILY = 4096

/** How long trial lookups may block the event loop. */
const MAX_BLOCK_MS = 5

/**
 * Checks whether databases can replace others, by trial lookups all over the address space. Opening them has
 * already done the quick checks. Yields to other work in between.
 *
 * @throws InvalidDatabaseError when a database has no locations but its predecessor had, when a trial lookup meets
 *   damage, or when a canary has no location
 */
export async function tryReplacement(
  replacement: DatabaseSet,
  previous: DatabaseSet,
  canaries: readonly Address[],
): Promise<void> {
  for (const [index, hadLocations] of previous.hasLocations.entries()) {
    if (!hadLocations || replacement.hasLocations[index]) continue
    const path = replacement.info[index]?.path ?? undefined
    throw (
      replacement.noLocationsError ??
      new InvalidDatabaseError('it has no locations, but the previous file had', { path })
    )
  }
  let yielded = performance.now()
  for (const address of sampleAddresses()) {
    replacement.find(address)
    if (performance.now() - yielded < MAX_BLOCK_MS) continue
    await setImmediate()
    yielded = performance.now()
  }
  checkCanaries(replacement, canaries)
}

/** @throws InvalidDatabaseError when a canary has no location */
export function checkCanaries(set: DatabaseSet, canaries: readonly Address[]): void {
  if (canaries.length > 0 && set.noLocationsError !== null) throw set.noLocationsError
  for (const address of canaries) {
    if (set.find(address) !== NO_LOCATION) continue
    const [path] = set.info.length === 1 ? set.info.map((info) => info.path ?? undefined) : []
    throw new InvalidDatabaseError(`it has no location for the canary ${address.text}`, { path })
  }
}

/** Addresses spread over all of IPv4 and over 2000::/3, the global unicast space of IPv6. */
function* sampleAddresses(): Generator<Address> {
  const address = new Address()
  for (let i = 0; i < LOOKUPS_PER_FAMILY; i++) {
    // Sixteen addresses for each first octet, one for every other first group; the rest varies.
    const rest = (i * 0x9e37) & 0xffff
    const ipv4 = `${i >>> 4}.${((i & 15) << 4) | (rest & 15)}.${rest >>> 8}.1`
    const ipv6 = `${(0x2000 + i * 2).toString(16)}:${rest.toString(16)}::1`
    for (const text of [ipv4, ipv6]) {
      address.parse(text)
      yield address
    }
  }
}
