import type { NamedCountry, NamedRegion } from '../record/named-part.ts'
import { AREA_WEIGHT, longTextWeight, PART_WEIGHT, type Place } from '../record/place.ts'

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
  add({ area, city, postalCode }: Place): void {
    this.#bytes += longTextWeight(city) + longTextWeight(postalCode)
    if (!this.#isNew(area)) return
    this.#bytes += AREA_WEIGHT
    this.#addPart(area.country)
    this.#addPart(area.region)
  }

  clear(): void {
    this.#counted.clear()
    this.#bytes = 0
  }

  #addPart(part: NamedCountry | NamedRegion): void {
    if (!this.#isNew(part)) return
    this.#bytes += PART_WEIGHT
    if (this.#isNew(part.names)) this.#bytes += part.names.weight
  }

  #isNew(thing: object): boolean {
    if (this.#counted.has(thing)) return false
    this.#counted.add(thing)
    return true
  }
}
