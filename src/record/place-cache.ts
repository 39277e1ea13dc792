import type { Place } from './place.ts'

/** Places kept: one slot each, so the memory of a cache has a hard bound. A power of two. */
const SLOTS = 65_536

/** No record has this offset. */
const EMPTY = 0

/**
 * Places by the offset of their record. Records are shared by many networks, so addresses are never keys. A
 * direct-mapped table: an offset has one slot, a new place takes it from the old one, and a hit costs no
 * bookkeeping.
 */
export class PlaceCache {
  readonly #offsets = new Uint32Array(SLOTS).fill(EMPTY)
  readonly #places: (Place | null)[] = new Array(SLOTS).fill(null)

  /** @returns `undefined` when it is not kept; `null` when the record is known to be no location */
  get(offset: number): Place | null | undefined {
    const slot = slotOf(offset)
    return this.#offsets[slot] === offset ? this.#places[slot] : undefined
  }

  set(offset: number, place: Place | null): void {
    const slot = slotOf(offset)
    this.#offsets[slot] = offset
    this.#places[slot] = place
  }
}

/** Offsets lie at regular distances, which a multiplication by the golden ratio spreads (Fibonacci hashing). */
function slotOf(offset: number): number {
  return Math.imul(offset, 0x9e3779b1) >>> 16
}
