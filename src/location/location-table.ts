import type { Database } from '../mmdb/database.ts'
import { type Location, LocationMaker } from './location.ts'
import { LocationCache } from './place-cache.ts'
import type { RawLocationReader, Schema } from './schema.ts'

/**
 * What places and the names that they share may weigh, beyond what the cache's size bounds. A city database has
 * less than a third of it in all; a hostile one can have gigabytes. Bytes.
 */
const MAX_RETAINED_BYTES = 2 ** 25

/** The records of one database as places, whoever's schema they have. */
export class LocationTable {
  readonly #database: Database
  readonly #schema: Schema
  #facts: RawLocationReader
  #maker = new LocationMaker()
  #cache = new LocationCache()

  constructor(database: Database, schema: Schema) {
    this.#database = database
    this.#schema = schema
    this.#facts = schema.readerFor(database.data)
  }

  /**
   * @param offset of the record in the file, as the search tree gives it
   * @returns `null` when the record is no location
   * @throws InvalidDatabaseError when the record is damaged
   */
  at(offset: number): Location | null {
    const kept = this.#cache.get(offset)
    if (kept !== undefined) return kept
    // Before, because a damaged record leaves names behind too.
    if (this.#facts.retainedBytes + this.#maker.retainedBytes > MAX_RETAINED_BYTES) this.#forget()
    return this.#cache.keep(offset, this.#maker.make(this.#facts.at(offset)))
  }

  /** Begins anew, so that what was kept is kept by its users only. */
  #forget(): void {
    this.#facts = this.#schema.readerFor(this.#database.data)
    this.#maker = new LocationMaker()
    this.#cache = new LocationCache()
  }
}
