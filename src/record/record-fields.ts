import { isGeofixError } from '../errors.ts'
import type { DataSection } from '../mmdb/data-section.ts'
import type { Database } from '../mmdb/database.ts'
import { DataType, MAX_KEY_BYTES } from '../mmdb/format.ts'
import { firstRecords } from '../mmdb/networks.ts'
import { remember } from './remember.ts'

/** Records looked at, at most: the first ones of a file can be sparse. */
const SAMPLE = 1000

/** Stored keys remembered while the sample is taken, at most. */
const MAX_NAMES = 256

/** What values a field was seen with. */
export type FieldKind = 'map' | 'array' | 'text' | 'other'

/** The fields at the top of a database's records, over many records. */
export class RecordFields {
  readonly #kinds = new Map<string, Set<FieldKind>>()
  /** By where they are stored. */
  readonly #names = new Map<number, string | null>()
  /** Whether the database has no record at all. */
  readonly isEmpty: boolean

  /** Takes a sample. No value is decoded, and all records share one budget: opening a file takes bounded time. */
  constructor(database: Database) {
    database.data.beginRecord()
    let records = 0
    for (const offset of firstRecords(database, SAMPLE)) {
      records++
      try {
        this.#add(database.data, offset)
      } catch (error) {
        // Damaged records are passed over; whoever asks for one is told.
        if (!isGeofixError(error)) throw error
      }
    }
    this.isEmpty = records === 0
  }

  /** Whether a field was seen with values of a kind. */
  has(field: string, kind: FieldKind): boolean {
    return this.#kinds.get(field)?.has(kind) ?? false
  }

  /** The names of all fields, sorted. */
  get names(): string[] {
    return [...this.#kinds.keys()].sort()
  }

  #add(data: DataSection, offset: number): void {
    data.open(offset)
    if (data.type !== DataType.map) return
    let at = data.start
    for (let pairs = data.size; pairs > 0; pairs--) {
      const name = this.#keyAt(data, at)
      const value = data.next
      data.open(value)
      if (name !== null) this.#note(name, kindOf(data.type))
      at = data.skip(value)
    }
  }

  /** Opens a key, which honest files store once and point to. `null` when it is no text, or too long to be a key. */
  #keyAt(data: DataSection, at: number): string | null {
    data.open(at)
    if (data.size > MAX_KEY_BYTES) return null
    return remember(this.#names, MAX_NAMES, data.fieldOffset, () => data.text())
  }

  #note(name: string, kind: FieldKind): void {
    const kinds = this.#kinds.get(name)
    if (kinds === undefined) this.#kinds.set(name, new Set([kind]))
    else kinds.add(kind)
  }
}

function kindOf(type: number): FieldKind {
  if (type === DataType.map) return 'map'
  if (type === DataType.array) return 'array'
  return type === DataType.utf8String ? 'text' : 'other'
}
