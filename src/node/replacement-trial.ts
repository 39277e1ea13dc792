// The trial of databases before they replace others.
import { setImmediate } from 'node:timers/promises'
import { Address } from '../address/address.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { hasSystems, isKnownToHaveSystems } from '../location/autonomous-systems.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { NO_LOCATION } from '../location/location-table.ts'
import { findRecord } from '../location/record-table.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'

/** Trial lookups for each address family. */
const LOOKUPS_PER_FAMILY = 4096

/** How long trial lookups may block the event loop. */
const MAX_BLOCK_MS = 5

/**
 * Checks whether databases can replace others, by trial lookups all over the address space. Opening them has
 * already done the quick checks. Yields to other work in between.
 *
 * @throws InvalidDatabaseError when a database has no locations or autonomous systems but its predecessor had, when a trial lookup meets
 *   damage, or when a canary has no location
 */
export async function tryReplacement(
  replacement: DatabaseSet,
  previous: DatabaseSet,
  canaries: readonly Address[],
): Promise<void> {
  for (const [index, database] of previous.systems.sources.entries()) {
    const next = replacement.systems.sources[index]
    if (!hasLocations(previous, database) || hasLocations(replacement, next)) continue
    throw (
      replacement.noLocationsError ??
      new InvalidDatabaseError('it has no locations, but the previous file had', { path: next?.path })
    )
  }
  for (const [index, database] of previous.databases.entries()) {
    const next = replacement.databases[index]
    if (next === undefined || next === database || !isKnownToHaveSystems(database) || hasSystems(next))
      continue
    throw new InvalidDatabaseError('it has no autonomous systems, but the previous file had', {
      path: next.path,
    })
  }
  let yielded = performance.now()
  for (const _ of trial(replacement)) {
    if (performance.now() - yielded < MAX_BLOCK_MS) continue
    await setImmediate()
    yielded = performance.now()
  }
  checkCanaries(replacement, canaries)
}

function hasLocations({ locationTables }: DatabaseSet, database: OpenDatabase | undefined): boolean {
  return locationTables.some((table) => table.database === database)
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

/**
 * Finds the records of the sample in each database, then reads them in the order of the file: each block of a packed one is then
 * decoded once, however few are kept. Pauses after each step.
 *
 * @throws InvalidDatabaseError when a step meets damage
 */
function* trial({ locationTables, systems }: DatabaseSet): Generator<void, void, undefined> {
  for (const table of [...locationTables, ...systems.own]) {
    const offsets = new Set<number>()
    for (const address of sampleAddresses()) {
      offsets.add(findRecord(table.database, address))
      yield
    }
    offsets.delete(NO_RECORD)
    for (const offset of Uint32Array.from(offsets).sort()) {
      table.at(offset)
      yield
    }
  }
}

/** Addresses spread over all of IPv4, and then over 2000::/3, the global unicast space of IPv6, in ascending order. */
function* sampleAddresses(): Generator<Address> {
  const address = new Address()
  for (const family of [4, 6]) {
    for (let i = 0; i < LOOKUPS_PER_FAMILY; i++) {
      // Sixteen addresses for each first octet of IPv4, one for every second value of the first group of IPv6.
      const rest = (i * 0x9e37) & 0xffff
      const ipv4 = `${i >>> 4}.${((i & 15) << 4) | (rest & 15)}.${rest >>> 8}.1`
      const ipv6 = `${(0x2000 + i * 2).toString(16)}:${rest.toString(16)}::1`
      address.parse(family === 4 ? ipv4 : ipv6)
      yield address
    }
  }
}
