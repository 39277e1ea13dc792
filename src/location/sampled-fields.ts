import { isGeofixError, quoted, ReadFailure } from '../errors.ts'
import type { DataSection } from '../mmdb/data-section.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { DataType, MAX_KEY_BYTES } from '../mmdb/format.ts'
import { MAX_SAMPLED_RECORDS } from './record-table.ts'

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

function kindOf(type: number): FieldKind {
  if (type === DataType.map) return 'map'
  if (type === DataType.array) return 'array'
  return type === DataType.utf8String ? 'text' : 'other'
}
