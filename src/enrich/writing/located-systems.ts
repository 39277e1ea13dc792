import { RowSet } from '../../bytes/tables.ts'
import { NO_SYSTEM } from '../../location/autonomous-systems.ts'
import type { DatabaseSet } from '../../location/database-set.ts'
import type { Locale } from '../../location/locale.ts'
import { Location, NO_LOCATION, type StoredLocation } from '../../location/location-table.ts'
import { NO_COORDINATES } from '../../location/schema.ts'
import { LocalizedCountry, LocalizedRegion, SharedParts, Translations } from '../../location/shared-parts.ts'
import { timezoneOf } from '../../location/timezone.ts'

/** Numbers in the row of a pair. */
const PAIR = 2

/** The parts of a network that has an autonomous system and no location. */
const NO_PARTS = new SharedParts(
  new LocalizedCountry(null, Translations.NONE),
  new LocalizedRegion(null, Translations.NONE),
  timezoneOf(null),
)
const UNKNOWN = new Location(NO_PARTS, null, null, NO_COORDINATES)

/** Numbers pairs of a location and an autonomous system, so that the text of a pair is made once for all its addresses. */
export class LocatedSystems {
  #pairs = new RowSet(PAIR)
  readonly #pair = new Int32Array(PAIR)

  /** @throws InvalidDatabaseError when a database cannot be read; TypeError when none has autonomous systems */
  constructor(private readonly set: DatabaseSet) {
    void set.systems.tables
  }

  /** Changes when earlier numbers of locations or systems become invalid. Call {@link clear} then. */
  get generation(): number {
    return this.set.generation + this.set.systems.generation
  }

  /** Forgets all pairs. */
  clear(): void {
    this.#pairs = new RowSet(PAIR)
  }

  /** The number of a pair, from 1. */
  pairOf(location: number, system: number): number {
    this.#pair[0] = location
    this.#pair[1] = system
    return this.#pairs.add(this.#pair) + 1
  }

  /** Where the values of the location of a pair are. The system is not there. */
  stored(pair: number): StoredLocation | null {
    const location = this.#pairs.rows[(pair - 1) * PAIR] ?? NO_LOCATION
    return location === NO_LOCATION ? null : this.set.stored(location)
  }

  /** The location of a pair, with its system. @throws RangeError when no pair has this number */
  location(pair: number, locale?: Locale): Location {
    const { rows } = this.#pairs
    const [location = 0, system = NO_SYSTEM] = rows.subarray((pair - 1) * PAIR, pair * PAIR)
    const { shared, city, postalCode, coordinates } =
      location === NO_LOCATION ? UNKNOWN : this.set.location(location, locale)
    const found = system === NO_SYSTEM ? null : this.set.systems.system(system)
    return new Location(shared, city, postalCode, coordinates, found)
  }
}
