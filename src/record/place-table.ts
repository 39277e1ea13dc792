import type { Database } from '../mmdb/database.ts'
import type { Facts } from './facts.ts'
import { type Place, PlaceMaker } from './place.ts'
import { PlaceCache } from './place-cache.ts'
import type { Schema } from './schema.ts'

/** The records of one database as places, whoever's schema they have. */
export class PlaceTable {
  readonly #factsAt: (offset: number) => Facts
  readonly #maker = new PlaceMaker()
  readonly #cache = new PlaceCache()

  constructor(database: Database, schema: Schema) {
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
    return this.#cache.keep(offset, this.#maker.place(this.#factsAt(offset)))
  }
}
