import type { Database } from '../mmdb/database.ts'
import { type Location, LocationMaker } from './location.ts'
import type { RawLocationReader, Schema } from './schema.ts'

/**
 * Limit for the estimated memory of long texts, names and shared parts, which the number of cached locations does
 * not bound. All of a city database takes less than a third of it; a hostile database could take gigabytes.
 */
const MAX_RETAINED_BYTES = 2 ** 25

/** The locations of one database, by the offset of their record. */
export class LocationTable {
  readonly #database: Database
  readonly #schema: Schema
  #reader: RawLocationReader
  #maker = new LocationMaker()
  #cache = new LocationCache()

  constructor(database: Database, schema: Schema) {
    this.#database = database
    this.#schema = schema
    this.#reader = schema.readerFor(database.data)
  }

  /**
   * @param offset of the record in the file, as the search tree gives it
   * @returns `null` when the record is not a location
   * @throws InvalidDatabaseError when the record is damaged
   */
  at(offset: number): Location | null {
    const cached = this.#cache.get(offset)
    if (cached !== undefined) return cached
    // Check before reading: a damaged record throws, but has already added names.
    if (this.#reader.retainedBytes + this.#maker.retainedBytes > MAX_RETAINED_BYTES) this.#reset()
    return this.#cache.set(offset, this.#maker.make(this.#reader.at(offset)))
  }

  #reset(): void {
    this.#reader = this.#schema.readerFor(this.#database.data)
    this.#maker = new LocationMaker()
    this.#cache = new LocationCache()
  }
}

/** 2^18 slots hold at most that many locations of about 150 bytes. */
const SLOT_BITS = 18
const SLOTS = 2 ** SLOT_BITS

/** An offset is in one of this many adjacent slots, which fit into one cache line of the processor. */
const PROBE_LENGTH = 8

/** Marks an empty slot: no record has this offset. */
const EMPTY = 0

/**
 * Locations by the offset of their record in the file. Many networks share a record, so offsets are better keys
 * than addresses. An open-addressing table of fixed size needs no bookkeeping per hit.
 *
 * Vendors' records differ in fields that a Location leaves out. Equal locations are therefore stored once, so that
 * more of them stay in the processor's cache.
 */
export class LocationCache {
  readonly #offsets = new Uint32Array(SLOTS + PROBE_LENGTH)
  readonly #locations: (Location | null)[] = new Array(SLOTS + PROBE_LENGTH).fill(null)
  /** By a hash of coordinates, the slot of the location stored last. The slot can hold another one by now. */
  readonly #slotByHash = new Uint32Array(SLOTS)
  #evicted = 0

  /** @returns `undefined` when the offset is not cached; `null` when its record is not a location */
  get(offset: number): Location | null | undefined {
    const offsets = this.#offsets
    const first = slotHash(offset)
    for (let slot = first; slot < first + PROBE_LENGTH; slot++) {
      const cached = offsets[slot]
      if (cached === offset) return this.#locations[slot]
      if (cached === EMPTY) return undefined
    }
    return undefined
  }

  /**
   * Stores the location of an offset that is not cached, in an empty slot or in place of another location.
   *
   * @returns the location, or an equal one that is already stored
   */
  set(offset: number, location: Location | null): Location | null {
    const slot = this.#slotFor(offset)
    const stored = location === null ? null : this.#deduplicated(location, slot)
    this.#offsets[slot] = offset
    this.#locations[slot] = stored
    return stored
  }

  #slotFor(offset: number): number {
    const first = slotHash(offset)
    for (let slot = first; slot < first + PROBE_LENGTH; slot++) {
      if (this.#offsets[slot] === EMPTY) return slot
    }
    // Round robin evicts an arbitrary entry, since lookups come in no order.
    this.#evicted = (this.#evicted + 1) % PROBE_LENGTH
    return first + this.#evicted
  }

  #deduplicated(location: Location, slot: number): Location {
    const { latitude, longitude } = location.coordinates
    const hash = slotHash(Math.round((latitude ?? 0) * 1e4) * 3_600_000 + Math.round((longitude ?? 0) * 1e4))
    const other = this.#locations[this.#slotByHash[hash] ?? 0] ?? null
    this.#slotByHash[hash] = slot
    return other?.equals(location) ? other : location
  }
}

/** Fibonacci hashing: multiplying by the golden ratio spreads offsets, which lie at regular distances. */
function slotHash(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> (32 - SLOT_BITS)
}
