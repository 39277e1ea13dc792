import type { Address } from '../address/address.ts'
import { InvalidDatabaseError, isGeofixError, quoted, ReadFailure } from '../errors.ts'
import type { AddressIndex, OpenDatabase } from '../mmdb/database.ts'
import { type FieldPaths, FieldReader } from '../mmdb/field-reader.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { findRecord, networkText, prefixBits } from './networks.ts'
import { listedFields, MAX_SAMPLED_RECORDS, SampledFields } from './schema.ts'
import { longTextBytes } from './shared-parts.ts'
import { ABSENT, NumberMap } from './tables.ts'

/** Who operates a network. */
export interface AutonomousSystem {
  /** From 1 to 2 ** 32 - 1: 3320 for AS3320. */
  readonly number: number
  /** The name of the organisation, as the database has it; `null` if it has none. */
  readonly organization: string | null
}

/** The autonomous system that announces the network of an address. */
export interface AsnRecord extends AutonomousSystem {
  /** The network in the database, as CIDR text. All its addresses have this autonomous system. */
  readonly network: string
}

/** The number for an address without an autonomous system. Numbers of systems in a table are greater. */
export const NO_SYSTEM = 0

/** Systems and records that a table keeps. The embedded database has 0.09 million of both. A full table is emptied. */
const MAX_RECORDS = 2 ** 20

/** Limit for the estimated memory of long names. All names of the embedded database are shorter than that. */
const MAX_RETAINED_BYTES = 2 ** 25

type Field = 'number' | 'organization' | 'traitsNumber' | 'traitsOrganization' | 'asn' | Name
type Name = (typeof NAMES)[number]

/** The names and domains that IPinfo's products have beside `asn`. The first one that is not empty is used. */
const NAMES = ['as_name', 'name', 'as_domain', 'domain'] as const

/**
 * GeoLite2 ASN, GeoIP2 ISP, DB-IP ASN, ip-location-db and the embedded database have the first two fields. GeoIP2 Enterprise
 * has them in `traits`. IPinfo has `asn`, and a name or a domain.
 */
const PATHS: FieldPaths<Field> = {
  number: ['autonomous_system_number'],
  organization: ['autonomous_system_organization'],
  traitsNumber: ['traits', 'autonomous_system_number'],
  traitsOrganization: ['traits', 'autonomous_system_organization'],
  asn: ['asn'],
  as_name: ['as_name'],
  name: ['name'],
  as_domain: ['as_domain'],
  domain: ['domain'],
}

/** IPinfo's `AS3320`, or the digits alone. */
const ASN_TEXT = /^(?:AS)?(\d{1,10})$/i

/** Autonomous systems have numbers of 32 bits; 0 is reserved (RFC 6793, RFC 7607). */
const MAX_NUMBER = 2 ** 32 - 1

/** The autonomous systems of one database, each read once. Keys are offsets of records, because networks share records. */
export class SystemTable {
  /** How often the table was emptied. Numbers of systems are valid while it stays the same. */
  generation = 0
  readonly #database: OpenDatabase
  #fields: FieldReader<Field>
  /** Numbers of systems by the offset of a record. */
  #numbers = new NumberMap()
  /** By number. No system has the number 0. */
  #systems: AutonomousSystem[] = []
  /** The number of each system by its own number and name: records differ in fields that are not read here. */
  #known = new Map<string, number>()
  #retainedBytes = 0
  #index: AddressIndex | undefined

  constructor(database: OpenDatabase) {
    this.#database = database
    this.#fields = new FieldReader(database.data, PATHS)
  }

  /**
   * The number of the system of an address in this table; {@link NO_SYSTEM} for none.
   *
   * @throws InvalidDatabaseError when the search tree or the record is damaged
   */
  find(address: Address): number {
    // Its tables take megabytes.
    this.#index ??= this.#database.index((offset) => this.at(offset))
    return address.family === 4 ? this.#index.findIPv4(address.ipv4) : this.#index.findIPv6(address.words)
  }

  /** As {@link find}, by the offset of the record in the file, as the search tree gives it. */
  at(offset: number): number {
    const known = this.#numbers.get(offset)
    return known === ABSENT ? this.#read(offset) : known
  }

  /** The system with a number of this table. The object is frozen. @throws RangeError when there is none */
  system(number: number): AutonomousSystem {
    const system = this.#systems[number - 1]
    if (system === undefined) throw new RangeError('no autonomous system has this number')
    return system
  }

  #read(offset: number): number {
    if (this.#numbers.size >= MAX_RECORDS || this.#retainedBytes > MAX_RETAINED_BYTES) this.#clear()
    const fields = this.#fields
    fields.read(offset)
    const number = numberIn(fields)
    const found = number === null ? NO_SYSTEM : this.#add(number, organizationIn(fields))
    this.#numbers.set(offset, found)
    return found
  }

  #add(number: number, organization: string | null): number {
    const key = `${number} ${organization ?? ''}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#retainedBytes += longTextBytes(organization)
    const added = this.#systems.push(Object.freeze({ number, organization }))
    this.#known.set(key, added)
    return added
  }

  #clear(): void {
    this.generation++
    this.#index?.clear()
    this.#fields = new FieldReader(this.#database.data, PATHS)
    this.#numbers = new NumberMap()
    this.#systems = []
    this.#known = new Map()
    this.#retainedBytes = 0
  }
}

function numberIn(fields: FieldReader<Field>): number | null {
  const text = fields.text('asn')
  const digits = text === null ? null : (ASN_TEXT.exec(text)?.[1] ?? null)
  const number =
    fields.number('number') ??
    fields.number('traitsNumber') ??
    (text === null ? fields.number('asn') : digits && Number(digits))
  return Number.isInteger(number) && Number(number) > 0 && Number(number) <= MAX_NUMBER
    ? Number(number)
    : null
}

function organizationIn(fields: FieldReader<Field>): string | null {
  const organization = fields.text('organization') ?? fields.text('traitsOrganization')
  if (organization !== null) return organization
  for (const name of NAMES) {
    const text = fields.text(name)
    if (text !== null) return text
  }
  return null
}

/** The tables of databases, so that all sets with a database share its table; `null` for one without autonomous systems. */
const tables = new WeakMap<OpenDatabase, SystemTable | null>()

/** Whether a database has autonomous systems. @throws InvalidDatabaseError when it cannot be read */
export function hasSystems(database: OpenDatabase): boolean {
  return tableOf(database) !== null
}

/** As {@link hasSystems}, but reads nothing: `false` for a database that was not asked for autonomous systems yet. */
export function isKnownToHaveSystems(database: OpenDatabase): boolean {
  return (tables.get(database) ?? null) !== null
}

function tableOf(database: OpenDatabase): SystemTable | null {
  const known = tables.get(database)
  if (known !== undefined) return known
  const table = new SystemTable(database)
  const made = readsSystems(database, table) ? table : null
  tables.set(database, made)
  return made
}

/** Whether one of the first records has an autonomous system, or there are no records. */
function readsSystems(database: OpenDatabase, table: SystemTable): boolean {
  let isEmpty = true
  for (const offset of database.firstRecords(MAX_SAMPLED_RECORDS)) {
    isEmpty = false
    try {
      if (table.at(offset) !== NO_SYSTEM) return true
    } catch (error) {
      // Skip damaged records here: a lookup throws for them.
      if (!isGeofixError(error) || error instanceof ReadFailure) throw error
    }
  }
  return isEmpty
}

/** The autonomous systems of the databases of one resolver. The first database with one for an address is used. */
export class AutonomousSystems {
  readonly #own: readonly OpenDatabase[]
  readonly #sources: readonly OpenDatabase[]
  #searched: readonly Searched[] | undefined

  /**
   * @param own the databases of the option `asn`, which are searched first
   * @param sources those that were opened for locations. They are looked at when they are first needed
   * @throws InvalidDatabaseError when one of `own` has no autonomous systems, or cannot be read
   */
  constructor(own: readonly OpenDatabase[], sources: readonly OpenDatabase[]) {
    this.#own = own
    this.#sources = sources
    for (const database of own) if (tableOf(database) === null) throw withoutSystems(database)
  }

  /**
   * Finds the autonomous system of an address, for many lookups.
   *
   * @returns its number, the same one for equal systems of a database while {@link generation} stays the same;
   *   {@link NO_SYSTEM} for a special-purpose address, and when no database has one
   * @throws InvalidDatabaseError when the search tree or the record is damaged
   * @throws TypeError when no database has autonomous systems
   */
  find(address: Address): number {
    const searched = this.#tables()
    if (address.special !== null) return NO_SYSTEM
    for (let index = 0; index < searched.length; index++) {
      const number = searched[index]?.table.find(address) ?? NO_SYSTEM
      if (number !== NO_SYSTEM) return number * searched.length + index
    }
    return NO_SYSTEM
  }

  /** The autonomous system with a number of this generation. The object is frozen. @throws RangeError when there is none */
  system(number: number): AutonomousSystem {
    const searched = this.#tables()
    const found = searched[number % searched.length]
    if (found === undefined) throw new RangeError('no autonomous system has this number')
    return found.table.system(Math.floor(number / searched.length))
  }

  /** Changes when earlier numbers become invalid: when one of the tables was emptied. */
  get generation(): number {
    let generation = 0
    for (const { table } of this.#searched ?? []) generation += table.generation
    return generation
  }

  /** The autonomous system of an address, with its network; `null` for none. Throws the errors of {@link find}. */
  record(address: Address): AsnRecord | null {
    const searched = this.#tables()
    if (address.special !== null) return null
    for (const { database, table } of searched) {
      const offset = findRecord(database, address)
      const number = offset === NO_RECORD ? NO_SYSTEM : table.at(offset)
      if (number === NO_SYSTEM) continue
      const bits = prefixBits(address, database, database.tree.prefixLength)
      return { ...table.system(number), network: networkText(address, bits) }
    }
    return null
  }

  /** Looks addresses up in the databases of the option `asn`, and pauses after each. @throws InvalidDatabaseError at damage */
  *trial(addresses: Iterable<Address>): Generator<void, void, undefined> {
    for (const database of this.#own) {
      const table = tableOf(database)
      for (const address of addresses) {
        const offset = findRecord(database, address)
        if (offset !== NO_RECORD) table?.at(offset)
        yield
      }
    }
  }

  /** Whether any database has autonomous systems. @throws InvalidDatabaseError when one cannot be read */
  get isAvailable(): boolean {
    return this.#own.length > 0 || this.#sources.some(hasSystems)
  }

  /** @throws InvalidDatabaseError when a database cannot be read; TypeError when none has autonomous systems */
  check(): void {
    this.#tables()
  }

  #tables(): readonly Searched[] {
    if (this.#searched !== undefined) return this.#searched
    const searched = [...this.#own, ...this.#sources].flatMap((database) => {
      const table = tableOf(database)
      return table === null ? [] : { database, table }
    })
    if (searched.length === 0) {
      throw new TypeError(
        'no open database has autonomous systems: open one with the option asn, such as Resolver.open(source, { asn: true })',
      )
    }
    this.#searched = searched
    return searched
  }
}

interface Searched {
  readonly database: OpenDatabase
  readonly table: SystemTable
}

function withoutSystems(database: OpenDatabase): InvalidDatabaseError {
  const { path, metadata } = database
  const fields = listedFields(new SampledFields(database).names)
  return new InvalidDatabaseError(
    `it has no autonomous systems (type ${quoted(metadata.databaseType)}; ${fields}): give the option asn an ASN database`,
    { path },
  )
}
