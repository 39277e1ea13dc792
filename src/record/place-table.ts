import { InvalidDatabaseError } from '../errors.ts'
import type { Database } from '../mmdb/database.ts'
import type { Facts } from './facts.ts'
import { type Place, PlaceMaker } from './place.ts'
import { PlaceCache } from './place-cache.ts'
import { recognise } from './vendors.ts'

/** The records of one database as places, whoever's schema they have. */
export class PlaceTable {
  readonly #factsAt: (offset: number) => Facts
  readonly #maker = new PlaceMaker()
  readonly #cache = new PlaceCache()

  constructor(database: Database) {
    const recognition = recognise(database)
    this.#factsAt =
      recognition.schema === null
        ? noLocations(database, recognition.fields)
        : recognition.schema.readerFor(database.data)
  }

  /**
   * @param offset of the record in the file, as the search tree gives it
   * @returns `null` when the record is no location
   * @throws InvalidDatabaseError when the record is damaged, or the database's records are of no known schema
   */
  at(offset: number): Place | null {
    const kept = this.#cache.get(offset)
    if (kept !== undefined) return kept
    const place = this.#maker.place(this.#factsAt(offset))
    this.#cache.set(offset, place)
    return place
  }
}

/** Such a database can still be asked for its raw records and networks. */
function noLocations({ path, metadata }: Database, fields: readonly string[]): () => never {
  return () => {
    const held = fields.length === 0 ? 'no fields at all' : `only ${fields.slice(0, 12).join(', ')}`
    throw new InvalidDatabaseError(
      `its records (${metadata.databaseType}) hold no location, ${held}; open a City or Country database`,
      { path },
    )
  }
}
