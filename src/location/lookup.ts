import { Address } from '../address/address.ts'
import { explainMalformed } from '../address/explain-malformed.ts'
import type { SpecialPurpose } from '../address/iana-registries.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import { InvalidDatabaseError, isGeofixError, UnresolvableAddressError } from '../errors.ts'
import type { DatabaseSet } from './database-set.ts'
import type { Locale } from './locale.ts'
import type { LocationRecord, LookupFailure, LookupResult } from './location-record.ts'
import { type LocationTable, NO_LOCATION } from './location-table.ts'

/**
 * Why an address has no location: a reason of `UnresolvableAddressError`, or the error of a database. Reasons are
 * plain strings, so that a failing address costs no message and no stack trace unless its caller wants one.
 */
export type NoLocation = SpecialPurpose | 'not-found' | InvalidDatabaseError

/**
 * Finds the location of a parsed address: its number in the set. Special-purpose addresses are never looked up in a
 * database.
 */
export function findLocation(set: DatabaseSet, address: Address): number | NoLocation {
  return find(set, address, () => set.find(address) || null)
}

/** The LocationRecord of a parsed address; otherwise as {@link findLocation}. */
export function findRecord(
  set: DatabaseSet,
  address: Address,
  locale: Locale,
  at: number,
): LocationRecord | NoLocation {
  return find(set, address, () => set.record(address, locale, at))
}

function find<Found>(set: DatabaseSet, address: Address, ask: () => Found | null): Found | NoLocation {
  if (address.special !== null) return address.special
  if (set.noLocationsError !== null) return set.noLocationsError
  try {
    return ask() ?? 'not-found'
  } catch (error) {
    if (isInvalidDatabase(error)) return error
    throw error
  }
}

/** Whether the result of {@link findRecord} is a record. */
export function isRecord(found: LocationRecord | NoLocation): found is LocationRecord {
  return typeof found === 'object' && 'ip' in found
}

/** The error that `lookup` throws for an address without a location. */
export function lookupError(
  set: DatabaseSet,
  address: Address,
  why: NoLocation,
  via?: string,
): UnresolvableAddressError | InvalidDatabaseError {
  if (typeof why === 'string') {
    return new UnresolvableAddressError(reasonText(set, address, why), why, address.text, via)
  }
  // The error of the set is from opening it: a new one has the caller's stack trace.
  return why === set.noLocationsError ? new InvalidDatabaseError(why.fault, why) : why
}

/** The result of `lookupMany` for an address without a location: as {@link lookupError}, without a stack trace. */
export function lookupFailure(set: DatabaseSet, address: Address, why: NoLocation): LookupFailure {
  const ip = address.text
  if (typeof why === 'string') {
    const message = reasonText(set, address, why)
    return { ip, error: { code: 'UNRESOLVABLE_ADDRESS', status: 422, message, reason: why } }
  }
  const { code, status, message } = why
  return { ip, error: { code, status, message } }
}

/** @param item of the input of `lookupMany`, of any type */
export function malformedFailure(item: unknown): LookupFailure {
  // Do not call toString() of objects, which can throw.
  const isPrimitive = item === null || (typeof item !== 'object' && typeof item !== 'function')
  const ip = isPrimitive ? String(item) : typeof item
  return { ip, error: { code: 'MALFORMED_ADDRESS', status: 400, message: explainMalformed(item) } }
}

function reasonText(
  { info }: DatabaseSet,
  { text, family }: Address,
  reason: SpecialPurpose | 'not-found',
): string {
  if (reason !== 'not-found') return describeSpecialPurpose(text, reason)
  const lacksFamily = family === 6 && info.every(({ ipVersion }) => ipVersion === 4)
  return `${text} has no location: ${lacksFamily ? 'no database for IPv6 is open' : 'the database has none for it'}`
}

/** By code rather than by class: the databases can belong to another copy of this package. */
function isInvalidDatabase(error: unknown): error is InvalidDatabaseError {
  return isGeofixError(error) && error.code === 'INVALID_DATABASE'
}

/** Items of one call of {@link LookupBatch.lookup}. */
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
    for (let i = 0; i < items.length; i++) {
      this.#addresses[i] ??= new Address()
      this.#isAddress[i] = this.#addresses[i]?.parse(items[i]) ?? false
    }
    if (set.first !== null) this.#find(set.first, items.length)
    for (let i = 0; i < items.length; i++) {
      const address = this.#addresses[i]
      const number = this.#numbers[i] ?? NO_LOCATION
      if (address === undefined || this.#isAddress[i] === false) {
        results.push(malformedFailure(items[i]))
      } else if (set.first !== null && number !== NO_LOCATION) {
        results.push(set.first.record(number, address.text, locale, at))
      } else {
        const found = findRecord(set, address, locale, at)
        results.push(isRecord(found) ? found : lookupFailure(set, address, found))
      }
    }
  }

  #find(table: LocationTable, count: number): void {
    const { generation } = table
    for (let i = 0; i < count; i++) {
      const address = this.#addresses[i]
      const isPlain = address !== undefined && this.#isAddress[i] === true && address.special === null
      this.#numbers[i] = isPlain ? numberOf(table, address) : NO_LOCATION
    }
    // Numbers from before the table was emptied are not valid any more.
    if (table.generation !== generation) this.#numbers.fill(NO_LOCATION)
  }
}

function numberOf(table: LocationTable, address: Address): number {
  try {
    return table.find(address)
  } catch {
    // Looking it up again throws again, where the error becomes the result.
    return NO_LOCATION
  }
}
