// The fast way from a record to its place. Records are shared by many networks, so their offsets are the keys,
// never addresses. An open-addressing table of fixed size: an offset is kept in one of a few slots side by side,
// which one line of the processor's cache holds, and a hit costs no bookkeeping. Vendors' records differ in much
// that is no part of a place, so equal places are kept once: fewer objects, of which more stay in that cache.

import type { Location } from './location.ts'

/** Offsets kept at most, which bounds the memory: places of some 150 bytes where no two are equal. */
const SLOT_BITS = 18
const SLOTS = 2 ** SLOT_BITS

/** How many slots in a row an offset can be in. */
const WINDOW = 8

/** No record has this offset. */
const EMPTY = 0

/** Places by the offset of their record in the file. */
export class LocationCache {
  readonly #offsets = new Uint32Array(SLOTS + WINDOW)
  readonly #places: (Location | null)[] = new Array(SLOTS + WINDOW).fill(null)
  /** By a hash of what they say, the slot of the place last kept. It may hold another by now. */
  readonly #twins = new Uint32Array(SLOTS)
  #victim = 0

  /** @returns `undefined` when it is not kept; `null` when the record is known to be no location */
  get(offset: number): Location | null | undefined {
    const offsets = this.#offsets
    const first = scatter(offset)
    for (let slot = first; slot < first + WINDOW; slot++) {
      const kept = offsets[slot]
      if (kept === offset) return this.#places[slot]
      if (kept === EMPTY) return undefined
    }
    return undefined
  }

  /**
   * Keeps the place of an offset that is not kept: in an empty slot, or instead of another.
   *
   * @returns the place, or an equal one that is kept already
   */
  keep(offset: number, place: Location | null): Location | null {
    const slot = this.#slotFor(offset)
    const kept = place === null ? null : this.#twinOf(place, slot)
    this.#offsets[slot] = offset
    this.#places[slot] = kept
    return kept
  }

  #slotFor(offset: number): number {
    const first = scatter(offset)
    for (let slot = first; slot < first + WINDOW; slot++) if (this.#offsets[slot] === EMPTY) return slot
    // Which one leaves is as good as random: records are asked in no order.
    this.#victim = (this.#victim + 1) % WINDOW
    return first + this.#victim
  }

  #twinOf(place: Location, slot: number): Location {
    const { latitude, longitude } = place.coordinates
    const hash = scatter(Math.round((latitude ?? 0) * 1e4) * 3_600_000 + Math.round((longitude ?? 0) * 1e4))
    const twin = this.#places[this.#twins[hash] ?? 0] ?? null
    this.#twins[hash] = slot
    return twin?.equals(place) ? twin : place
  }
}

/** Offsets lie at regular distances, which a multiplication by the golden ratio spreads (Fibonacci hashing). */
function scatter(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - SLOT_BITS)
}
