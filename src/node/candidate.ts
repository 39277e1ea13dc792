import { setImmediate } from 'node:timers/promises'
import { Address } from '../address/address.ts'
import { InvalidDatabaseError } from '../errors.ts'
import type { DatabaseSet } from '../location/database-set.ts'

/** Addresses that are asked on trial of each family, evenly spread. */
const TRIALS = 4096

/** How long the event loop is kept from other work. Milliseconds. */
const TURN = 5

/**
 * Whether databases may take the place of others. Opening them has checked what can be checked quickly; here
 * they answer, as they will have to. Gives way to other work in between.
 *
 * @throws InvalidDatabaseError when one has no locations where the one before had, or is damaged at a place of
 *   the sample, or a canary has no location
 */
export async function checkCandidate(
  candidate: DatabaseSet,
  previous: DatabaseSet,
  canaries: readonly Address[],
): Promise<void> {
  for (const [index, hadLocations] of previous.hasLocations.entries()) {
    if (!hadLocations || candidate.hasLocations[index]) continue
    const path = candidate.info[index]?.path ?? undefined
    throw (
      candidate.noLocationsError ??
      new InvalidDatabaseError('it has no locations, and the one before it had', { path })
    )
  }
  let turned = performance.now()
  for (const address of sample()) {
    candidate.locate(address)
    if (performance.now() - turned < TURN) continue
    await setImmediate()
    turned = performance.now()
  }
  checkCanaries(candidate, canaries)
}

/** @throws InvalidDatabaseError when a canary has no location */
export function checkCanaries(set: DatabaseSet, canaries: readonly Address[]): void {
  if (canaries.length > 0 && set.noLocationsError !== null) throw set.noLocationsError
  for (const address of canaries) {
    if (set.locate(address) !== null) continue
    const [path] = set.info.length === 1 ? set.info.map((info) => info.path ?? undefined) : []
    throw new InvalidDatabaseError(`it has no location for the canary ${address.text}`, { path })
  }
}

/** All of IPv4, and the 2000::/3 from which IPv6 networks are given out. */
function* sample(): Generator<Address> {
  const address = new Address()
  for (let i = 0; i < TRIALS; i++) {
    // Sixteen of each first octet, and one of every other first word; what is behind differs from one to the next.
    const rest = (i * 0x9e37) & 0xffff
    const ipv4 = `${i >>> 4}.${((i & 15) << 4) | (rest & 15)}.${rest >>> 8}.1`
    const ipv6 = `${(0x2000 + i * 2).toString(16)}:${rest.toString(16)}::1`
    for (const text of [ipv4, ipv6]) {
      address.parse(text)
      yield address
    }
  }
}
