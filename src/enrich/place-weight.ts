import {
  LOCALIZED_PART_BYTES,
  type Location,
  longTextBytes,
  SHARED_PARTS_BYTES,
} from '../location/location.ts'
import type { LocalizedCountry, LocalizedRegion } from '../location/shared-parts.ts'

/**
 * What some places keep alive beyond themselves: areas with their names, of which a hostile database can have as many
 * megabytes as places, and long texts. What they share counts once.
 */
export class PlaceWeight {
  /** Areas, their parts and the names of these. */
  readonly #counted = new Set<object>()
  #bytes = 0

  /** About as many bytes as it takes in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a place that was not counted yet. */
  add({ shared, city, postalCode }: Location): void {
    this.#bytes += longTextBytes(city) + longTextBytes(postalCode)
    if (!this.#isNew(shared)) return
    this.#bytes += SHARED_PARTS_BYTES
    this.#addPart(shared.country)
    this.#addPart(shared.region)
  }

  clear(): void {
    this.#counted.clear()
    this.#bytes = 0
  }

  #addPart(part: LocalizedCountry | LocalizedRegion): void {
    if (!this.#isNew(part)) return
    this.#bytes += LOCALIZED_PART_BYTES
    if (this.#isNew(part.translations)) this.#bytes += part.translations.retainedBytes
  }

  #isNew(thing: object): boolean {
    if (this.#counted.has(thing)) return false
    this.#counted.add(thing)
    return true
  }
}
