import type { Address } from '../address/address.ts'
import { formatCidr } from '../address/ip-text.ts'
import { lengthOfKind } from '../address/position.ts'
import { ABSENT, NumberMap } from '../bytes/tables.ts'
import { InvalidDatabaseError, isGeofixError, quoted, ReadFailure } from '../errors.ts'
import type { DataSection } from '../mmdb/data-section.ts'
import type { AddressIndex, OpenDatabase } from '../mmdb/database.ts'
import { DataType, MAX_KEY_BYTES } from '../mmdb/format.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'

/** The number for an address without a value. Numbers of values are greater. */
export const NO_VALUE = 0

/** Records whose values a table keeps. GeoLite2-City has 0.34 million, the embedded city database 0.56. */
const MAX_RECORDS = 2 ** 20

/** Records that are sampled to recognise a schema. They are many, because the first records of a file can be sparse. */
const MAX_SAMPLED_RECORDS = 1000

/**
 * The values that the records of one database have: each record is read once, when a lookup first finds it. Millions of
 * networks share a few hundred thousand records, so the keys are offsets of records in the file, not addresses. Records
 * differ in fields that are not read, so several can have one value. Nothing is evicted: a table that has reached a limit
 * is emptied and fills again.
 */
export abstract class RecordTable {
  /** How often the table was emptied. Numbers of values are valid while it stays the same. */
  generation = 0
  /** Numbers of values by the offset of a record. */
  #numbers = new NumberMap()
  /** The index, which is made when it is first needed, because its tables take megabytes. */
  #index: AddressIndex | undefined

  constructor(readonly database: OpenDatabase) {}

  /**
   * The number of the value of an address. Equal values that the file stores once have one number.
   *
   * @returns {@link NO_VALUE} when the database has no record, or one without a value
   * @throws InvalidDatabaseError when the search tree or the record is damaged
   */
  find(address: Address): number {
    this.#index ??= this.database.index((offset) => this.at(offset))
    return address.family === 4 ? this.#index.findIPv4(address.ipv4) : this.#index.findIPv6(address.words)
  }

  /** The number of the value of a record. @param offset of the record in the file, as the search tree gives it */
  at(offset: number): number {
    const known = this.#numbers.get(offset)
    return known === ABSENT ? this.#read(offset) : known
  }

  /** Whether a record has a value. @param ifDamaged the result for a damaged record */
  hasValue(offset: number, ifDamaged: boolean): boolean {
    try {
      return this.at(offset) !== NO_VALUE
    } catch (error) {
      if (!isGeofixError(error) || error instanceof ReadFailure) throw error
      return ifDamaged
    }
  }

  /** How many of the first records it has read until one had a value. @param ifDamaged the result for a damaged record */
  sample(ifDamaged: boolean): { readonly records: number; readonly hasValue: boolean } {
    let records = 0
    for (const offset of this.database.firstRecords(MAX_SAMPLED_RECORDS)) {
      records++
      if (this.hasValue(offset, ifDamaged)) return { records, hasValue: true }
    }
    return { records, hasValue: false }
  }

  /** Reads the record at an offset. @returns the number of its value, or {@link NO_VALUE} */
  protected abstract read(offset: number): number
  /** Whether there is no room for another value. */
  protected abstract readonly isFull: boolean
  /** Removes all values. */
  protected abstract empty(): void

  #read(offset: number): number {
    // Check before reading: a damaged record throws, but has already added texts.
    if (this.#numbers.size >= MAX_RECORDS || this.isFull) this.#clear()
    const number = this.read(offset)
    this.#numbers.set(offset, number)
    return number
  }

  #clear(): void {
    this.generation++
    this.#index?.clear()
    this.#numbers = new NumberMap()
    this.empty()
  }
}

/** Tables that are searched in order. The first one with a value for an address is used. */
export abstract class RecordTables<Table extends RecordTable> {
  abstract readonly tables: readonly Table[]

  /**
   * Finds the value of an address.
   *
   * @returns its number, the same one for equal values of a database while {@link generation} stays the same;
   *   {@link NO_VALUE} when no database has one
   * @throws InvalidDatabaseError when the search tree or the record is damaged
   */
  find(address: Address): number {
    const tables = this.tables
    for (let index = 0; index < tables.length; index++) {
      const number = tables[index]?.find(address) ?? NO_VALUE
      if (number !== NO_VALUE) return number * tables.length + index
    }
    return NO_VALUE
  }

  /** Changes when earlier numbers become invalid: when one of the tables was emptied. */
  get generation(): number {
    let generation = 0
    for (const table of this.tables) generation += table.generation
    return generation
  }

  /** The table that gave a number. @throws RangeError when there is none */
  protected tableOf(number: number): Table {
    const count = this.tables.length
    const table = this.tables[count === 1 ? 0 : number % count]
    if (table === undefined) throw new RangeError('no table has given this number')
    return table
  }

  /** A number as its table gave it. */
  protected numberIn(number: number): number {
    const count = this.tables.length
    return count === 1 ? number : Math.floor(number / count)
  }
}

/** The position of an IPv4 address: reused for every search. */
const ipv4Position = new Uint32Array(4)

/**
 * The offset of the record of an address, or `NO_RECORD`. Afterwards the ranges of the database are at the address, if its tree has
 * the family.
 *
 * @throws InvalidDatabaseError when the tree is damaged on the address's path
 */
export function findRecord(database: OpenDatabase, address: Address): number {
  const { ranges } = database
  const { family, ipv4, words } = address
  if (lacksFamily(database, address)) return NO_RECORD
  ipv4Position[3] = ipv4
  ranges.seek(family === 4 ? ipv4Position : words)
  return ranges.offset
}

/** Whether the tree of a database has no addresses of the family. */
export function lacksFamily({ metadata }: OpenDatabase, { family }: Address): boolean {
  return family === 6 && metadata.ipVersion === 4
}

/**
 * The network of an address as CIDR text: cut so that all its addresses have the special purpose of the address, or none, and none is
 * looked up as the IPv4 address in it.
 *
 * @param prefixLength as a search gives it, where IPv4 is at ::/96
 */
export function networkText({ family, ipv4, words }: Address, prefixLength: number): string {
  ipv4Position[3] = ipv4
  const length = Math.max(prefixLength, lengthOfKind(family === 4 ? ipv4Position : words))
  return family === 6 ? formatCidr(6, words, length) : formatCidr(4, Uint32Array.of(ipv4), length - 96)
}

/** The type of a field's value. */
export type FieldKind = 'map' | 'array' | 'text' | 'other'

/** The top-level fields of a database's records, from a sample of them. */
export class SampledFields {
  readonly #kinds = new Map<string, Set<FieldKind>>()
  /** Whether the database has no records. */
  readonly isEmpty: boolean

  /**
   * Takes bounded time: no value is decoded, and all records share one budget.
   *
   * @param isEnough whether the sample so far needs no more records
   */
  constructor(database: OpenDatabase, isEnough: (fields: SampledFields) => boolean = () => false) {
    database.data.beginRecord()
    let records = 0
    for (const offset of database.firstRecords(MAX_SAMPLED_RECORDS)) {
      records++
      try {
        this.#add(database.data, offset, isEnough)
      } catch (error) {
        // Skip damaged records here: looking one up throws.
        if (!isGeofixError(error) || error instanceof ReadFailure) throw error
      }
      if (isEnough(this)) break
    }
    this.isEmpty = records === 0
  }

  /** Whether a record of the sample has the field with a value of this kind. */
  has(field: string, kind: FieldKind): boolean {
    return this.#kinds.get(field)?.has(kind) ?? false
  }

  /** The names of all fields, sorted. */
  get names(): string[] {
    return [...this.#kinds.keys()].sort()
  }

  #add(data: DataSection, offset: number, isEnough: (fields: SampledFields) => boolean): void {
    data.open(offset)
    if (data.type !== DataType.map) return
    let at = data.start
    for (let pairs = data.size; pairs > 0; pairs--) {
      data.open(at)
      const name = data.size > MAX_KEY_BYTES ? null : data.text()
      const value = data.next
      data.open(value)
      if (name !== null) this.#kinds.set(name, (this.#kinds.get(name) ?? new Set()).add(kindOf(data.type)))
      // Each field can be in another block of a packed database.
      if (isEnough(this)) return
      at = data.skip(value)
    }
  }
}

/** Fields that an error lists. */
const MAX_LISTED_FIELDS = 12

/** What the records of a database have, for its error. @param names of their fields */
export function listedFields(names: readonly string[]): string {
  if (names.length === 0) return 'its records have no readable fields'
  return `its records only have ${names.slice(0, MAX_LISTED_FIELDS).map(quoted).join(', ')}`
}

/** The error for a database without the values that it is opened for. @param names of the fields of its records */
export function lacking(
  what: string,
  { path, metadata }: OpenDatabase,
  names: readonly string[],
  advice: string,
): InvalidDatabaseError {
  const has = `type ${quoted(metadata.databaseType)}; ${listedFields(names)}`
  return new InvalidDatabaseError(`it has no ${what} (${has}): ${advice}`, { path })
}

function kindOf(type: number): FieldKind {
  if (type === DataType.map) return 'map'
  if (type === DataType.array) return 'array'
  return type === DataType.utf8String ? 'text' : 'other'
}
