import type { Database } from '../mmdb/database.ts'
import type { Facts } from './facts.ts'
import { type Place, PlaceMaker } from './place.ts'
import { PlaceCache } from './place-cache.ts'
import type { Schema } from './schema.ts'

/**
 * What the places kept may weigh, beyond what their number bounds: see `PlaceMaker.weight`. A city database has
 * less than a third of it in all; a hostile one can have gigabytes. Bytes.
 */
const MAX_WEIGHT = 2 ** 25

/** The records of one database as places, whoever's schema they have. */
export class PlaceTable {
  readonly #database: Database
  readonly #schema: Schema
  #factsAt: (offset: number) => Facts
  #maker = new PlaceMaker()
  #cache = new PlaceCache()

  constructor(database: Database, schema: Schema) {
    this.#database = database
    this.#schema = schema
    this.#factsAt = schema.readerFor(database.data)
  }

  /**
   * @param offset of the record in the file, as the search tree gives it
   * @returns `null` when the record is no location
   * @throws InvalidDatabaseError when the record is damaged
   */
  at(offset: number): Place | null {
    const kept = this.#cache.get(offset)
    if (kept !== undefined) return kept
    const place = this.#cache.keep(offset, this.#maker.place(this.#factsAt(offset)))
    if (this.#maker.weight > MAX_WEIGHT) this.#forget()
    return place
  }

  /** Begins anew, so that what was kept is kept by its users only. */
  #forget(): void {
    this.#factsAt = this.#schema.readerFor(this.#database.data)
    this.#maker = new PlaceMaker()
    this.#cache = new PlaceCache()
  }
}
