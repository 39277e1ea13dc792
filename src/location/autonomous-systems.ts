import type { Address } from '../address/address.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import {
  findRecord,
  lacking,
  lacksFamily,
  NO_VALUE,
  networkText,
  RecordTable,
  RecordTables,
  SampledFields,
} from './record-table.ts'
import { SourceReader } from './schema.ts'
import { longTextBytes } from './shared-parts.ts'
import { SYSTEMS } from './vendors.ts'

/** The organisation that operates a network. */
export interface AutonomousSystem {
  /** The number of the system, from 1 to 2 ** 32 - 1: 3320 for AS3320. */
  readonly number: number
  /** The name of the organisation, as the database has it; `null` if it has none. */
  readonly organization: string | null
}

/** The autonomous system that announces the network of an address. */
export interface AsnRecord extends AutonomousSystem {
  /** A network around the address, as CIDR text. All its addresses have this autonomous system. */
  readonly network: string
}

/** The number for an address without an autonomous system. Numbers of systems in a table are greater. */
export const NO_SYSTEM = NO_VALUE

/** Limit for the estimated memory of long names. All names of the embedded database are shorter than that. */
const MAX_RETAINED_BYTES = 2 ** 25

/** Autonomous systems have numbers of 32 bits; 0 is reserved (RFC 6793, RFC 7607). */
const MAX_NUMBER = 2 ** 32 - 1

/** The autonomous systems of one database. */
class SystemTable extends RecordTable {
  #fields: SourceReader
  /** Systems by their numbers in this table. No system has the number 0. */
  #systems: AutonomousSystem[] = []
  /** The number of each system by its own number and name: records differ in fields that are not read here. */
  #known = new Map<string, number>()
  #retainedBytes = 0

  constructor(database: OpenDatabase) {
    super(database)
    this.#fields = systemFields(database)
  }

  /** The system with a number of this table. The object is frozen. @throws RangeError when there is none */
  system(number: number): AutonomousSystem {
    const system = this.#systems[number - 1]
    if (system === undefined) throw new RangeError('no autonomous system has this number')
    return system
  }

  protected override read(offset: number): number {
    const fields = this.#fields
    fields.read(offset)
    const number = fields.firstNumber(SYSTEMS.number)
    if (number === null || !Number.isInteger(number) || number <= 0 || number > MAX_NUMBER) return NO_SYSTEM
    const organization = fields.firstText(SYSTEMS.organization)
    const key = `${number} ${organization ?? ''}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#retainedBytes += longTextBytes(organization)
    const added = this.#systems.push(Object.freeze({ number, organization }))
    this.#known.set(key, added)
    return added
  }

  protected override get isFull(): boolean {
    return this.#retainedBytes > MAX_RETAINED_BYTES
  }

  protected override empty(): void {
    this.#fields = systemFields(this.database)
    this.#systems = []
    this.#known = new Map()
    this.#retainedBytes = 0
  }
}

function systemFields({ data }: OpenDatabase): SourceReader {
  return new SourceReader(data, [...SYSTEMS.number, ...SYSTEMS.organization])
}

/** The tables of databases, so that all sets with a database share its table; `null` for one without autonomous systems. */
const tables = new WeakMap<OpenDatabase, SystemTable | null>()

/** Whether a database has autonomous systems. @throws InvalidDatabaseError when it cannot be read */
export function hasSystems(database: OpenDatabase): boolean {
  return tableOf(database) !== null
}

/** Whether any database of a resolver has autonomous systems. @throws InvalidDatabaseError when one cannot be read */
export function areSystemsOpen({ own, sources }: AutonomousSystems): boolean {
  return own.length > 0 || sources.some(hasSystems)
}

/** Whether {@link hasSystems} has found systems in a database before. It reads nothing. */
export function isKnownToHaveSystems(database: OpenDatabase): boolean {
  return (tables.get(database) ?? null) !== null
}

function tableOf(database: OpenDatabase): SystemTable | null {
  const known = tables.get(database)
  if (known !== undefined) return known
  const table = new SystemTable(database)
  // Skip damaged records here: a lookup throws for them.
  const { records, hasValue } = table.sample(false)
  const made = hasValue || records === 0 ? table : null
  tables.set(database, made)
  return made
}

/** The autonomous systems of the databases of one resolver. The first database with one for an address is used. */
export class AutonomousSystems extends RecordTables<SystemTable> {
  /** The tables of the databases of the option `asn`. */
  readonly own: readonly SystemTable[]
  #tables: readonly SystemTable[] | undefined

  /**
   * @param own the databases of the option `asn`, which are searched first
   * @param sources the databases that were opened for locations. They are read when they are first needed
   * @throws InvalidDatabaseError when one of `own` has no autonomous systems, or cannot be read
   */
  constructor(
    own: readonly OpenDatabase[],
    readonly sources: readonly OpenDatabase[],
  ) {
    super()
    this.own = own.map((database) => {
      const table = tableOf(database)
      if (table !== null) return table
      const { names } = new SampledFields(database)
      throw lacking('autonomous systems', database, names, 'open an ASN database, or leave this one out')
    })
  }

  /**
   * The tables of the databases that have autonomous systems.
   *
   * @throws InvalidDatabaseError when one cannot be read
   * @throws TypeError when no database has autonomous systems
   */
  get tables(): readonly SystemTable[] {
    this.#tables ??= [...this.own, ...this.sources.flatMap((database) => tableOf(database) ?? [])]
    if (this.#tables.length > 0) return this.#tables
    throw new TypeError(
      'no open database has autonomous systems: open one with the option asn, such as Resolver.open(source, { asn: true })',
    )
  }

  /**
   * The number of the system of an address. A special-purpose address has none. Throws the errors of `RecordTables.find` and
   * {@link tables}.
   */
  override find(address: Address): number {
    void this.tables
    return address.special === null ? super.find(address) : NO_SYSTEM
  }

  /** The autonomous system with a number of this generation. The object is frozen. @throws RangeError when there is none */
  system(number: number): AutonomousSystem {
    return this.tableOf(number).system(this.numberIn(number))
  }

  /** The autonomous system of an address, with its network; `null` for none. Throws the errors of {@link find}. */
  record(address: Address): AsnRecord | null {
    const { tables } = this
    if (address.special !== null) return null
    let prefixLength = 0
    for (const table of tables) {
      const { database } = table
      const offset = findRecord(database, address)
      // A database without a system for the address can have one for its neighbours.
      if (!lacksFamily(database, address)) prefixLength = Math.max(prefixLength, database.ranges.prefixLength)
      const number = offset === NO_RECORD ? NO_SYSTEM : table.at(offset)
      if (number === NO_SYSTEM) continue
      return { ...table.system(number), network: networkText(address, prefixLength) }
    }
    return null
  }
}
