import { Address, explainMalformed } from '../address/address.ts'
import type { SpecialPurpose } from '../address/iana-registries.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import { InvalidDatabaseError, isGeofixError, UnresolvableAddressError } from '../errors.ts'
import type { DatabaseSet, LocationTables } from './database-set.ts'
import type { Locale } from './locale.ts'
import type { LocationRecord, LookupFailure, LookupResult } from './location-record.ts'
import { NO_LOCATION } from './location-table.ts'

/**
 * Why an address has no location: a reason of `UnresolvableAddressError`, or the error of a database. Reasons are
 * plain strings, so that a failing address costs no message and no stack trace unless its caller wants one.
 */
export type NoLocation = SpecialPurpose | 'not-found' | InvalidDatabaseError

/**
 * Finds the location of a parsed address: its number in the set. Special-purpose addresses have only locations that
 * overlays give them.
 */
export function findLocation(set: LocationTables, address: Address): number | NoLocation {
  try {
    if (address.special !== null) return set.findSpecial(address) || address.special
    return set.find(address) || (set.noLocationsError ?? 'not-found')
  } catch (error) {
    if (isInvalidDatabase(error)) return error
    throw error
  }
}

/**
 * The LocationRecord of a parsed address.
 *
 * @param via where `detect` found the address
 * @throws UnresolvableAddressError, InvalidDatabaseError when it has no location
 */
export function lookupRecord(
  set: DatabaseSet,
  address: Address,
  locale: Locale,
  at: number,
  via?: string,
): LocationRecord {
  const found = findLocation(set, address)
  if (typeof found === 'number') return set.record(found, address.text, locale, at)
  if (typeof found === 'string') {
    throw new UnresolvableAddressError(reasonText(set, address, found, via), found, address.text, via)
  }
  checkHasLocations(set)
  throw found
}

/** @throws InvalidDatabaseError when no database has locations */
export function checkHasLocations({ noLocationsError: error }: LocationTables): void {
  // The error of the set is from opening it: a new one has the caller's stack trace.
  if (error !== null) throw new InvalidDatabaseError(error.fault, error)
}

/** `lookupRecord` that returns a failure instead of throwing. A failure has no stack trace. */
export function lookupResult(
  set: DatabaseSet,
  address: Address,
  locale: Locale,
  at: number,
  via?: string,
): LookupResult {
  let found: number | NoLocation = findLocation(set, address)
  if (typeof found === 'number') {
    try {
      return set.record(found, address.text, locale, at)
    } catch (error) {
      // Some texts are read only now.
      if (!isInvalidDatabase(error)) throw error
      found = error
    }
  }
  const failure = lookupFailure(set, address, found, via)
  if (via !== undefined) failure.error.via = via
  return failure
}

export function lookupFailure(
  set: DatabaseSet,
  address: Address,
  found: NoLocation,
  via?: string,
): LookupFailure {
  const ip = address.text
  if (typeof found === 'string') {
    const message = reasonText(set, address, found, via)
    return { ip, error: { code: 'UNRESOLVABLE_ADDRESS', status: 422, message, reason: found } }
  }
  const { code, status, message } = found
  return { ip, error: { code, status, message } }
}

/** @param item to look up, of any type */
export function malformedFailure(item: unknown): LookupFailure {
  // Do not call toString() of objects, which can throw.
  const isPrimitive = item === null || (typeof item !== 'object' && typeof item !== 'function')
  const ip = isPrimitive ? String(item) : typeof item
  return { ip, error: { code: 'MALFORMED_ADDRESS', status: 400, message: explainMalformed(item) } }
}

function reasonText(
  set: DatabaseSet,
  address: Address,
  reason: SpecialPurpose | 'not-found',
  via: string | undefined,
): string {
  const { text, family } = address
  if (reason !== 'not-found') {
    const advice = via === 'socket' && OF_OWN_NETWORKS.has(reason) ? PROXY_ADVICE : ''
    return describeSpecialPurpose(text, reason) + advice
  }
  if (family === 6 && set.lacksIPv6) return `${text} has no location: no database for IPv6 is open`
  const why = set.hasUnusedRegistration(address)
    ? 'the database only has the country that its network is registered in. Open another one after it that has the location (geofix: a second --db), or use that country with registeredCountry: true in a program'
    : 'the database has none for it'
  return `${text} has no location: ${why}`
}

/** The kinds of addresses from which a proxy usually connects. */
const OF_OWN_NETWORKS: ReadonlySet<SpecialPurpose> = new Set(['loopback', 'private', 'shared', 'link-local'])

const PROXY_ADVICE =
  '. It is the peer of the connection: if it is your proxy, add it to trustedProxies (geofix serve: --trust)'

/** Compares the code and not the class, because the databases can belong to another copy of this package. */
function isInvalidDatabase(error: unknown): error is InvalidDatabaseError {
  return isGeofixError(error) && error.code === 'INVALID_DATABASE'
}

/** The most items of one call of {@link LookupBatch.lookup}. */
export const BATCH_ITEMS = 256

/**
 * Looks up many addresses in steps: parses all, finds all, makes all records. A lookup mostly waits for memory, once in
 * each step. In a short loop over many items the processor waits for several of them at once.
 */
export class LookupBatch {
  readonly #addresses: Address[] = []
  readonly #isAddress: boolean[] = []
  /** Numbers of locations in the set's first table; `NO_LOCATION` for items that are then looked up one by one. */
  readonly #numbers = new Int32Array(BATCH_ITEMS)

  /**
   * Adds the result of each item, in order.
   *
   * @param items of any type, at most {@link BATCH_ITEMS}
   */
  lookup(
    set: DatabaseSet,
    items: readonly unknown[],
    locale: Locale,
    at: number,
    results: LookupResult[],
  ): void {
    const [table] = set.tables
    const generation = table?.generation
    for (let i = 0; i < items.length; i++) {
      this.#addresses[i] ??= new Address()
      this.#isAddress[i] = this.#addresses[i]?.parse(items[i]) ?? false
    }
    for (let i = 0; i < items.length; i++) {
      const address = this.#addresses[i]
      const isPlain = address !== undefined && this.#isAddress[i] === true && address.special === null
      this.#numbers[i] = NO_LOCATION
      try {
        if (isPlain) this.#numbers[i] = table?.find(address) ?? NO_LOCATION
      } catch {
        // Looked up again alone, the error becomes its result.
      }
    }
    // Numbers from before a table was emptied are not valid any more.
    if (table?.generation !== generation) this.#numbers.fill(NO_LOCATION)
    for (let i = 0; i < items.length; i++) {
      const address = this.#addresses[i]
      const number = this.#numbers[i] ?? NO_LOCATION
      if (address === undefined || this.#isAddress[i] === false) results.push(malformedFailure(items[i]))
      else if (table === undefined || number === NO_LOCATION)
        results.push(lookupResult(set, address, locale, at))
      else {
        try {
          results.push(table.record(number, address.text, locale, at))
        } catch {
          results.push(lookupResult(set, address, locale, at))
        }
      }
    }
  }
}
