import type { Address } from '../address/address.ts'
import { ABSENT, RowSet, remember } from '../bytes/tables.ts'
import type { DataSection } from '../mmdb/data-section.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { NO_TEXT } from '../mmdb/field-reader.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import type { AutonomousSystem } from './autonomous-systems.ts'
import type { Locale } from './locale.ts'
import type { Coordinates, LocationRecord } from './location-record.ts'
import { findRecord, NO_VALUE, RecordTable } from './record-table.ts'
import { LocationReader, NO_COORDINATES, type OptionalValue, type SchemaFields } from './schema.ts'
import type { SharedParts } from './shared-parts.ts'
import { OVERLAYS } from './vendors.ts'

/** The result for an address without a location. Numbers of locations are greater. */
export const NO_LOCATION = NO_VALUE

/** Shared parts, cities and postal codes that a table keeps, counted each time that the file stores them. */
const MAX_SHARED_VALUES = 2 ** 19

/**
 * Limit for the estimated memory of long texts, names and shared parts, which the limits on numbers do not bound. All of
 * a city database takes less than a third of it; a hostile database could take gigabytes.
 */
const MAX_RETAINED_BYTES = 2 ** 25

/** Locations whose coordinates are kept as objects. */
const MAX_OBJECTS = 2 ** 16

/** Names of cities in the language of the last locale that are cached. */
const MAX_CITY_NAMES = 2 ** 14

/** Numbers in the row of a location. */
const ROW = 5
const SHARED = 0
const CITY = 1
const POSTAL_CODE = 2
const LATITUDE = 3
const LONGITUDE = 4

/** Coordinates are in units of 0.0000001 degrees, a centimetre, if they have no more decimals. */
export const UNIT_DECIMALS = 7
const UNITS_PER_DEGREE = 10 ** UNIT_DECIMALS

/** The latitude of a row whose coordinates are stored apart. The longitude of the row is then their number. */
export const STORED_APART = -(2 ** 31)

/** Estimated memory of coordinates that are stored apart. */
const COORDINATES_BYTES = 100

/**
 * The locations of one database. A location is a row of five 32-bit numbers: shared parts (country, region, time zone), city
 * and postal code by their numbers, latitude and longitude. Texts, and the coordinates of the first locations, become objects
 * when a record is first made of them. The limits above have room for all of GeoLite2-City.
 */
export class LocationTable extends RecordTable {
  #reader: LocationReader
  /** Rows of locations by their numbers. No location has the number 0. */
  #rows = rowsAfterFirst()
  /** The coordinates of the first locations as frozen objects, made when they are first needed, and shared by results. */
  #coordinates: (Coordinates | null)[] = [NO_COORDINATES]
  #apart: Coordinates[] = [NO_COORDINATES]
  /** Names that are read when they are first needed: `undefined` before, and `null` without a name. */
  #cities: (string | null | undefined)[] = []
  #codes: (string | null | undefined)[] = []
  /** Names of cities in the language of {@link #localCitiesOf}, by the number of a city. */
  readonly #localCities = new Map<number, string | null>()
  #localCitiesOf: Locale | null = null
  /** The row to add. */
  readonly #row = new Int32Array(ROW)
  readonly #stored: StoredLocation

  /**
   * @param omitted values that are not read, as if no record had them
   * @param whole the table with all values, if some are left out
   */
  constructor(
    database: OpenDatabase,
    readonly schema: SchemaFields,
    readonly omitted: readonly OptionalValue[] = [],
    readonly whole: LocationTable | null = null,
  ) {
    super(database)
    this.#stored = new StoredLocation(database.data)
    this.#reader = this.#newReader()
  }

  /** Whether all networks are a program's own. */
  get isOverlay(): boolean {
    return this.schema === OVERLAYS
  }

  /** Finds a location only in a program's own networks: an overlay, or records that `geofix overlay` added to the file. */
  findOverlay(address: Address): number {
    if (this.isOverlay) return this.find(address)
    return this.database.metadata.overlayBytes === 0
      ? NO_LOCATION
      : this.overlayAt(findRecord(this.database, address))
  }

  /** The number of the location at an offset, if a program added its record; {@link at} takes all records. */
  overlayAt(offset: number): number {
    const { metadata } = this.database
    // Added records are the last ones of the data section, which ends where the metadata starts.
    const isOwn = this.isOverlay || offset >= metadata.start - metadata.overlayBytes
    return isOwn && offset !== NO_RECORD ? this.at(offset) : NO_LOCATION
  }

  /** The location with a number, as a new object. Its city is in English without a locale. @throws RangeError when there is none */
  location(number: number, locale?: Locale): Location {
    const { rows } = this.#rows
    const row = number * ROW
    const city = this.#cityIn(rows[row + CITY] ?? 0, locale)
    const postalCode = this.#codeAt(rows[row + POSTAL_CODE] ?? 0)
    return new Location(this.#sharedAt(row), city, postalCode, this.#coordinatesOf(number))
  }

  /** Where the values of a location are. The object is the same for all. @throws RangeError when there is none */
  stored(number: number): StoredLocation {
    const stored = this.#stored
    const { rows } = this.#rows
    const row = number * ROW
    stored.shared = this.#sharedAt(row)
    stored.city = this.#reader.city.values[rows[row + CITY] ?? 0] ?? NO_TEXT
    stored.postalCode = this.#reader.postalCode.values[rows[row + POSTAL_CODE] ?? 0] ?? NO_TEXT
    stored.latitude = rows[row + LATITUDE] ?? STORED_APART
    stored.longitude = rows[row + LONGITUDE] ?? 0
    return stored
  }

  /** The record of the location with a number, made from its row. With a {@link Location} in between, `lookupMany` takes 1.03. */
  record(number: number, ip: string, locale: Locale, at: number): LocationRecord {
    const { rows } = this.#rows
    const row = number * ROW
    const city = this.#cityIn(rows[row + CITY] ?? 0, locale)
    const postalCode = this.#codeAt(rows[row + POSTAL_CODE] ?? 0)
    const shared = this.#sharedAt(row)
    return {
      ip,
      country: shared.countryIn(locale),
      region: shared.regionIn(locale),
      city,
      postal_code: postalCode,
      coordinates: this.#coordinatesOf(number),
      timezone: shared.timezone.at(at),
    }
  }

  #cityIn(number: number, locale: Locale | undefined): string | null {
    if (locale?.hasCities !== true) return this.#textAt(this.#cities, this.#reader.city.values, number)
    if (locale !== this.#localCitiesOf) this.#localCities.clear()
    this.#localCitiesOf = locale
    return remember(this.#localCities, MAX_CITY_NAMES, number, () => this.#reader.cityIn(number, locale))
  }

  #codeAt(number: number): string | null {
    return this.#textAt(this.#codes, this.#reader.postalCode.values, number)
  }

  #textAt(texts: (string | null | undefined)[], offsets: readonly number[], number: number): string | null {
    const known = texts[number]
    if (known !== undefined) return known
    // Leave no gaps: V8 would turn the array into a hash table.
    while (texts.length <= number) texts.push(undefined)
    const offset = offsets[number] ?? NO_TEXT
    const text = offset === NO_TEXT ? null : this.#reader.textAt(offset)
    texts[number] = text
    return text
  }

  #sharedAt(row: number): SharedParts {
    const shared = this.#reader.parts.values[this.#rows.rows[row + SHARED] ?? ABSENT]
    if (shared === undefined) throw new RangeError('no location has this number')
    return shared
  }

  #coordinatesOf(number: number): Coordinates {
    const kept = number < MAX_OBJECTS ? this.#coordinates[number] : null
    if (kept !== null && kept !== undefined) return kept
    const { rows } = this.#rows
    const latitude = rows[number * ROW + LATITUDE] ?? STORED_APART
    const longitude = rows[number * ROW + LONGITUDE] ?? 0
    if (latitude === STORED_APART) return this.#apart[longitude] ?? NO_COORDINATES
    const made = Object.freeze({
      latitude: latitude / UNITS_PER_DEGREE,
      longitude: longitude / UNITS_PER_DEGREE,
    })
    if (number < this.#coordinates.length) this.#coordinates[number] = made
    return made
  }

  protected override read(offset: number): number {
    const { parts, city, postalCode } = this.#reader
    const row = this.#row
    this.#reader.read(offset)
    const shared = parts.number()
    const town = city.number()
    row[SHARED] = shared
    row[CITY] = town
    row[POSTAL_CODE] = postalCode.number()
    const [latitude, longitude] = this.#reader.coordinates()
    this.#setCoordinates(latitude, longitude)
    const isLocation =
      !Number.isNaN(latitude) ||
      city.values[town] !== NO_TEXT ||
      parts.values[shared]?.isUnknown === false ||
      // The record can have only values that are left out.
      (this.whole !== null && this.whole.at(offset) !== NO_LOCATION)
    const number = isLocation ? this.#rows.add(row) : NO_LOCATION
    if (number === this.#coordinates.length && number < MAX_OBJECTS) this.#coordinates.push(null)
    return number
  }

  #setCoordinates(latitude: number, longitude: number): void {
    const row = this.#row
    row[LATITUDE] = STORED_APART
    row[LONGITUDE] = 0
    if (Number.isNaN(latitude)) return
    const north = Math.round(latitude * UNITS_PER_DEGREE)
    const east = Math.round(longitude * UNITS_PER_DEGREE)
    if (north / UNITS_PER_DEGREE === latitude && east / UNITS_PER_DEGREE === longitude) {
      row[LATITUDE] = north
      row[LONGITUDE] = east
    } else row[LONGITUDE] = this.#apart.push(Object.freeze({ latitude, longitude })) - 1
  }

  protected override get isFull(): boolean {
    const { parts, city, postalCode, retainedBytes } = this.#reader
    return (
      parts.size + city.size + postalCode.size >= MAX_SHARED_VALUES ||
      retainedBytes + this.#apart.length * COORDINATES_BYTES > MAX_RETAINED_BYTES
    )
  }

  #newReader(): LocationReader {
    const reader = new LocationReader(this.database.data, this.schema, this.omitted)
    this.#cities = []
    this.#codes = []
    this.#localCities.clear()
    return reader
  }

  protected override empty(): void {
    this.#reader = this.#newReader()
    this.#rows = rowsAfterFirst()
    this.#coordinates = [NO_COORDINATES]
    this.#apart = [NO_COORDINATES]
  }
}

/** Where the file has the values of a location, for callers that copy bytes. */
export class StoredLocation {
  /** `null` only before the first location. */
  shared: SharedParts | null = null
  /** Offsets of texts in the file, or `NO_TEXT`. */
  city = NO_TEXT
  postalCode = NO_TEXT
  /** Latitude in units of 0.0000001 degrees. {@link STORED_APART} means no coordinates, or coordinates with more decimals. */
  latitude = STORED_APART
  longitude = 0

  constructor(readonly data: DataSection) {}
}

/** A set of rows with a row that no location has, since 0 is not the number of a location. */
function rowsAfterFirst(): RowSet {
  const rows = new RowSet(ROW)
  rows.add(new Int32Array(ROW).fill(ABSENT))
  return rows
}

/** One distinct location of a database. */
export class Location {
  constructor(
    readonly shared: SharedParts,
    readonly city: string | null,
    readonly postalCode: string | null,
    readonly coordinates: Coordinates,
    /** The autonomous system of the address, if the caller asked for it. It is not a part of the record. */
    readonly system: AutonomousSystem | null = null,
  ) {}
}
