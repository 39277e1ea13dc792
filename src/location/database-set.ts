import { type Address, isIPv4Compatible } from '../address/address.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { type OpenDatabase, UseCount } from '../mmdb/database.ts'
import type { MmdbValue } from '../mmdb/record-decoder.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { isList } from '../realm.ts'
import { AutonomousSystems } from './autonomous-systems.ts'
import type { Locale } from './locale.ts'
import type { LocationRecord } from './location-record.ts'
import { type Location, LocationTable, NO_LOCATION, type StoredLocation } from './location-table.ts'
import {
  findRecord,
  lacking,
  lacksFamily,
  listedFields,
  networkText,
  RecordTables,
  SampledFields,
} from './record-table.ts'
import type { OptionalValue, SchemaFields } from './schema.ts'
import {
  type DatabaseInfo,
  databaseInfo,
  isGeoip2,
  OVERLAYS,
  recognised,
  type VendorName,
} from './vendors.ts'

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

/** Tables of the same locations without some values. They do not notice damage of the values that are left out. */
export class NarrowTables extends LocationTables {
  readonly tables: readonly LocationTable[]
  readonly noLocationsError: InvalidDatabaseError | null

  constructor({ tables, noLocationsError }: LocationTables, omitted: readonly OptionalValue[]) {
    super()
    this.tables = tables.map((table) => {
      const { database, schema } = table
      return new LocationTable(database, schema, [...table.omitted, ...omitted], table)
    })
    this.noLocationsError = noLocationsError
  }
}

interface ReadDatabase {
  readonly database: OpenDatabase
  /** `null` when the database has no locations. */
  readonly locations: LocationTable | null
  /** The vendor whose fields it has; `null` if it is unknown, or if the program gives the schema. */
  readonly vendor: VendorName | null
  /** The reason why the records of the database are no locations; `null` if they are, or if there are no records. */
  readonly error: InvalidDatabaseError | null
}

/** Values that are left out of the locations of databases whose vendor is recognised. */
const WITHOUT_REGISTRATION: readonly OptionalValue[] = ['registration']
const WITH_REGISTRATION: readonly OptionalValue[] = []

/** What is read of a database, so that all sets that read it in the same way share its table of locations. */
const read = new WeakMap<OpenDatabase, WeakMap<SchemaFields | readonly OptionalValue[], ReadDatabase>>()

/** @param schema that the program gives, or what to leave out of the one that is recognised */
function readDatabase(database: OpenDatabase, schema: SchemaFields | readonly OptionalValue[]): ReadDatabase {
  const bySchema = read.get(database) ?? new WeakMap()
  read.set(database, bySchema)
  const known = bySchema.get(schema)
  if (known !== undefined) return known
  const made = isList(schema) ? ofVendor(database, schema) : ofProgram(database, schema)
  bySchema.set(schema, made)
  return made
}

function ofVendor(database: OpenDatabase, omitted: readonly OptionalValue[]): ReadDatabase {
  const fields = new SampledFields(database, isGeoip2)
  const { name = null, schema } = recognised(fields) ?? {}
  return {
    database,
    locations: schema === undefined ? null : new LocationTable(database, schema, omitted),
    vendor: name,
    error:
      schema !== undefined || fields.isEmpty
        ? null
        : lacking('locations', database, fields.names, 'open a City or Country database'),
  }
}

/** The schema of a program, or that of overlays, fits a database if one of the first records has a location by it, or is damaged. */
function ofProgram(database: OpenDatabase, schema: SchemaFields): ReadDatabase {
  const locations = new LocationTable(database, schema)
  const { records, hasValue } = locations.sample(true)
  if (records === 0 || hasValue) return { database, locations, vendor: null, error: null }
  const { path } = database
  const fields = listedFields(new SampledFields(database).names)
  const first =
    records === 1 ? 'its only record has no location' : `none of its first ${records} records has a location`
  const fault = `by the option schema, ${first} (${fields}): correct the paths and types of the schema`
  const error = new InvalidDatabaseError(fault, { path })
  return { database, locations: null, vendor: null, error }
}

/** How the databases of a set are read. */
export interface SetOptions {
  /** A database that is searched first, in special-purpose networks too. It is in memory. */
  readonly overlays?: OpenDatabase | null
  /** The schema that the program gives for each database; `null`, or no entry, to recognise the vendor. */
  readonly schemas?: readonly (SchemaFields | null)[]
  /** How many databases, the last ones, are only for autonomous systems. */
  readonly asnCount?: number
  /** Whether a record without a country has the country of registration. */
  readonly registeredCountry?: boolean
}

/**
 * The databases of one resolver. The first one with a location for an address is used. A set counts its users, and closes
 * the files of its databases when the last user has gone.
 */
export class DatabaseSet extends LocationTables {
  readonly info: readonly DatabaseInfo[]
  /** An error for each database whose records are not locations. They can still be read by `raw`. */
  readonly locationErrors: readonly InvalidDatabaseError[]
  /** The first of these errors when every database has one; otherwise `null`. */
  readonly noLocationsError: InvalidDatabaseError | null
  readonly #databases: readonly ReadDatabase[]
  readonly #overlays: LocationTable | null
  /** The locations of the databases that have some, in the order of the databases. */
  readonly locationTables: readonly LocationTable[]
  /** Where lookups search, in this order: the overlays, if any, and the databases. */
  readonly tables: readonly LocationTable[]
  readonly systems: AutonomousSystems
  readonly #users = new UseCount(() => releaseAll(this.databases))

  /**
   * Starts with one user, the caller.
   *
   * @param databases the set takes over one use of each from the caller, even if this throws
   * @throws InvalidDatabaseError when a file cannot be read, or one of the last databases has no autonomous systems
   */
  constructor(
    readonly databases: readonly OpenDatabase[],
    readonly options: SetOptions = {},
  ) {
    super()
    const { overlays = null, schemas = [], asnCount = 0, registeredCountry = false } = options
    const omitted = registeredCountry ? WITH_REGISTRATION : WITHOUT_REGISTRATION
    this.#overlays = overlays === null ? null : readDatabase(overlays, OVERLAYS).locations
    const sources = databases.slice(0, databases.length - asnCount)
    this.info = Object.freeze(databases.map(({ metadata, path }) => databaseInfo(metadata, path)))
    try {
      this.#databases = sources.map((database, index) => readDatabase(database, schemas[index] ?? omitted))
      this.systems = new AutonomousSystems(databases.slice(sources.length), sources)
    } catch (error) {
      releaseAll(databases)
      throw error
    }
    this.locationErrors = this.#databases.flatMap(({ error }) => error ?? [])
    this.locationTables = this.#databases.flatMap(({ locations }) => locations ?? [])
    this.tables = this.#overlays === null ? this.locationTables : [this.#overlays, ...this.locationTables]
    const [error] = this.locationErrors
    this.noLocationsError =
      error !== undefined && this.locationErrors.length === sources.length ? error : null
  }

  /** Adds a user, who calls {@link release} once. @throws Error when the last user has gone */
  retain(): this {
    if (this.#users.add()) return this
    throw new Error('the databases are closed')
  }

  /** Removes a user. The last one closes the files. */
  release(): void {
    this.#users.remove()
  }

  /**
   * The whole record of an address in a database, or `null`. Overlays have no such records.
   *
   * @param number of the only database to ask. Without it, the one of {@link match} is asked
   * @throws TypeError when there is no such database
   */
  raw(address: Address, number = this.match(address)?.number): MmdbValue | null {
    if (number === undefined) return null
    // From JavaScript, it can be the name of a member of the array.
    const database = this.databases[Number.isInteger(number) ? number : -1]
    if (database === undefined)
      throw new TypeError(`no database has the number ${number}: databases lists them, from 0`)
    const offset = findRecord(database, address)
    return offset === NO_RECORD ? null : database.record(offset)
  }

  /** The database to use for an address. `null` when no database has its family, or an overlay has a location. */
  match(address: Address): Match | null {
    return this.#isOverlaid(address) ? null : this.#match(address)
  }

  /** Whether no database for locations has IPv6 addresses. */
  get lacksIPv6(): boolean {
    return this.#databases.every(({ database }) => database.metadata.ipVersion === 4)
  }

  /** The network of an address as CIDR text; `null` when no database has its family. */
  network(address: Address): string | null {
    const length = this.#isOverlaid(address) ? 0 : this.#match(address)?.prefixLength
    return length === undefined ? null : networkText(address, Math.max(length, this.#overlayLength(address)))
  }

  /** Whether a database only has the country of registration of an address, and the option to use it is not set. */
  hasUnusedRegistration(address: Address): boolean {
    return this.#databases.some(({ database, locations }) => {
      // A lookup searches no other databases. A damaged one must not fail here first.
      if (locations?.omitted !== WITHOUT_REGISTRATION) return false
      const offset = findRecord(database, address)
      const registered = offset === NO_RECORD ? null : readDatabase(database, WITH_REGISTRATION).locations
      return registered?.hasValue(offset, true) ?? false
    })
  }

  #isOverlaid(address: Address): boolean {
    return this.#overlays !== null && this.#overlays.find(address) !== NO_LOCATION
  }

  /** The prefix length of the network around an address that has the same overlay, or none. */
  #overlayLength(address: Address): number {
    if (this.#overlays === null) return 0
    const { database } = this.#overlays
    findRecord(database, address)
    return database.ranges.prefixLength
  }

  /** Prefers the first database with a location, then the first with a record, then the first of the family. */
  #match(address: Address): Match | null {
    let best: Match | null = null
    let prefixLength = 0
    for (const [number, { database, locations, vendor }] of this.#databases.entries()) {
      if (lacksFamily(database, address)) continue
      const offset = findRecord(database, address)
      // A database that has nothing for the address can have a location for its neighbours.
      prefixLength = Math.max(prefixLength, database.ranges.prefixLength)
      const match = { number, vendor, offset, prefixLength }
      // A damaged record counts: a lookup throws for it and does not use another database.
      if (offset !== NO_RECORD && locations?.hasValue(offset, true) === true) return match
      if (best === null || (best.offset === NO_RECORD && offset !== NO_RECORD)) best = match
    }
    return best && { ...best, prefixLength }
  }
}

/** Gives back one use of each database. */
export function releaseAll(databases: readonly OpenDatabase[]): void {
  for (const database of databases) database.release?.()
}

/** The database to use for an address, and what its search tree has for it. */
interface Match extends Pick<ReadDatabase, 'vendor'> {
  /** Of the database in `databases`. */
  readonly number: number
  /** Offset of the record in the file, or {@link NO_RECORD}. */
  readonly offset: number
  /** Of a network around the address in which each database that was asked has one record, or none. For {@link networkText}. */
  readonly prefixLength: number
}

// What the rest of this package may do with a resolver, and programs may not.

/**
 * The method through which the rest of this package borrows the databases of a resolver. A registered symbol, because an
 * application can load both the ESM and the CommonJS build.
 *
 * @internal
 */
export const BORROW: unique symbol = Symbol.for('geofix.borrowDatabases')

/**
 * The method through which the service asks for the address of a client without its location.
 *
 * @internal
 */
export const CLIENT: unique symbol = Symbol.for('geofix.clientAddress')

/**
 * The method through which a reloader replaces the databases.
 *
 * @internal
 */
export const REPLACE: unique symbol = Symbol('geofix.replace')

/**
 * Lends the databases of a resolver for one synchronous call.
 *
 * @internal
 * @throws TypeError when the resolver is closed
 */
export function withDatabases<Result>(
  resolver: { [BORROW](): DatabaseSet },
  use: (set: DatabaseSet) => Result,
): Result {
  const set = resolver[BORROW]()
  try {
    return use(set)
  } finally {
    set.release()
  }
}
