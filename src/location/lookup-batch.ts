import { Address } from '../address/address.ts'
import type { DatabaseSet } from './database-set.ts'
import { findRecord, isRecord, lookupFailure, malformedFailure } from './find-location.ts'
import type { Locale } from './locale.ts'
import type { LookupResult } from './location-record.ts'
import { type LocationTable, NO_LOCATION } from './location-table.ts'

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
