import { type Address, isIPv4Compatible } from '../address/address.ts'
import type { InvalidDatabaseError } from '../errors.ts'
import type { FieldPaths } from '../mmdb/field-reader.ts'
import type { Locale } from './locale.ts'
import type { LocationRecord } from './location-record.ts'
import { type Location, LocationTable, NO_LOCATION, type StoredLocation } from './location-table.ts'
import type { Overlays } from './overlays.ts'
import type { ChoosePaths } from './schema.ts'

/** The locations of some databases, and of overlays. Numbers of locations are valid while {@link generation} stays the same. */
export abstract class LocationTables {
  /** Where lookups search, in this order: the overlays, if any, and the databases. */
  abstract readonly tables: readonly (LocationTable | Overlays)[]
  /** Why no address has a location: every database is one without locations. Otherwise `null`. */
  abstract readonly noLocationsError: InvalidDatabaseError | null

  /**
   * Finds the location of an address.
   *
   * @returns its number, the same one for equal locations of a database while {@link generation} stays the same;
   *   {@link NO_LOCATION} when no database has one
   * @throws InvalidDatabaseError when the search tree or the record is damaged
   */
  find(address: Address): number {
    const tables = this.tables
    for (let index = 0; index < tables.length; index++) {
      const number = tables[index]?.find(address) ?? NO_LOCATION
      if (number !== NO_LOCATION) return number * tables.length + index
    }
    return NO_LOCATION
  }

  /** As {@link find}, for a special-purpose address: only overlays have locations for those. */
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
    return this.#tableOf(number).location(Math.floor(number / this.tables.length), locale)
  }

  /** Where the values of the location with a number are; `null` if it is an overlay. Valid until the next call. */
  stored(number: number): StoredLocation | null {
    return this.#tableOf(number).stored(Math.floor(number / this.tables.length))
  }

  /** The LocationRecord of the location with a number of this generation. */
  record(number: number, ip: string, locale: Locale, at: number): LocationRecord {
    const count = this.tables.length
    return this.#tableOf(number).record(count === 1 ? number : Math.floor(number / count), ip, locale, at)
  }

  #tableOf(number: number): LocationTable | Overlays {
    const count = this.tables.length
    const table = this.tables[count === 1 ? 0 : number % count]
    if (table === undefined) throw new RangeError('no location has this number')
    return table
  }

  /** Changes when earlier numbers of locations become invalid: when one of the tables was emptied. */
  get generation(): number {
    let generation = 0
    for (const table of this.tables) generation += table.generation
    return generation
  }
}

/** How the names of the fields begin, in all schemas, that a value is made from. */
const NAMES = {
  region: ['region'],
  timezone: ['timeZone'],
  city: ['city'],
  postalCode: ['postal'],
  coordinates: ['lat', 'lng', 'lo'],
} as const

/** The values of a location that can be left out. */
export type OptionalValue = keyof typeof NAMES

/** The same locations without some values, in tables of their own. Damage of what is left out is not noticed. */
export class NarrowTables extends LocationTables {
  readonly tables: LocationTables['tables']
  readonly noLocationsError: InvalidDatabaseError | null

  constructor({ tables, noLocationsError }: LocationTables, omitted: readonly OptionalValue[]) {
    super()
    this.tables = tables.map((table) =>
      table instanceof LocationTable ? narrowTable(table, omitted) : table,
    )
    this.noLocationsError = noLocationsError
  }
}

/** A table of the same locations without some values. */
export function narrowTable(whole: LocationTable, omitted: readonly OptionalValue[]): LocationTable {
  const { recognises, readerFor } = whole.schema
  const names = omitted.flatMap((value): readonly string[] => NAMES[value])
  const choose: ChoosePaths = <Name extends string>(paths: FieldPaths<Name>) => {
    const kept = { ...paths }
    for (const name in kept) if (names.some((each) => name.startsWith(each))) delete kept[name]
    return kept
  }
  return new LocationTable(
    whole.database,
    { recognises, readerFor: (data) => readerFor(data, choose) },
    whole,
  )
}
