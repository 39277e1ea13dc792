import { type Address, isIPv4Compatible } from '../address/address.ts'
import type { InvalidDatabaseError } from '../errors.ts'
import type { Locale } from './locale.ts'
import type { LocationRecord } from './location-record.ts'
import { type Location, type LocationTable, NO_LOCATION, type StoredLocation } from './location-table.ts'
import { RecordTables } from './record-table.ts'
import type { OptionalValue } from './schema.ts'

/** The locations of some databases, overlays first. Numbers of locations are valid while `generation` stays the same. */
export abstract class LocationTables extends RecordTables<LocationTable> {
  /** Why no address has a location: every database is one without locations. Otherwise `null`. */
  abstract readonly noLocationsError: InvalidDatabaseError | null

  /** Finds the location of a special-purpose address. Only overlays have one. */
  findSpecial(address: Address): number {
    // In a search tree, IPv4 overlays are also at ::1 and its neighbours.
    if (address.family === 6 && isIPv4Compatible(address.words)) return NO_LOCATION
    for (const [index, table] of this.tables.entries()) {
      const number = table.findOverlay(address)
      if (number !== NO_LOCATION) return number * this.tables.length + index
    }
    return NO_LOCATION
  }

  /**
   * The location with a number of this generation, as a new object. Its city is in English without a locale.
   *
   * @throws RangeError when there is none
   */
  location(number: number, locale?: Locale): Location {
    return this.tableOf(number).location(this.numberIn(number), locale)
  }

  /** Where the values of the location with a number are, valid until the next call; `null` if they are in no file. */
  stored(number: number): StoredLocation | null {
    return this.tableOf(number).stored(this.numberIn(number))
  }

  /** The LocationRecord of the location with a number of this generation. */
  record(number: number, ip: string, locale: Locale, at: number): LocationRecord {
    return this.tableOf(number).record(this.numberIn(number), ip, locale, at)
  }
}

/** Tables of the same locations without some values. */
export class NarrowTables extends LocationTables {
  readonly tables: readonly LocationTable[]
  readonly noLocationsError: InvalidDatabaseError | null

  constructor({ tables, noLocationsError }: LocationTables, omitted: readonly OptionalValue[]) {
    super()
    this.tables = tables.map((table) => table.without(omitted))
    this.noLocationsError = noLocationsError
  }
}
