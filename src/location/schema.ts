import { isGeofixError } from '../errors.ts'
import type { DataSection } from '../mmdb/data-section.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { FieldReader, type Path } from '../mmdb/field-reader.ts'
import { DataType, MAX_KEY_BYTES } from '../mmdb/format.ts'
import type { Coordinates } from './location-record.ts'
import { type RawParts, TranslationCache } from './shared-parts.ts'
import { ABSENT, RowSet, remember } from './tables.ts'

/** Decimal degrees. */
export type RawCoordinates = readonly [latitude: number | null, longitude: number | null]

/** A value that is made from some fields of a record. */
export interface SharedField<Name extends string, Value> {
  /** All fields that it is made from. */
  readonly from: readonly Name[]
  readonly read: (fields: FieldReader<Name>, translations: TranslationCache) => Value
}

/** What the fields of a vendor's records mean. */
export interface Meaning<Name extends string> {
  readonly parts: SharedField<Name, RawParts>
  readonly city: SharedField<Name, string | null>
  readonly postalCode: SharedField<Name, string | null>
  readonly coordinates: (fields: FieldReader<Name>) => RawCoordinates
}

/** A value of the record that was read last, as a number. */
export interface NumberedField<Value> {
  /** @param numberOf numbers a value; called once for all records that share the value's fields */
  number(numberOf: (value: Value) => number): number
  /** How often `numberOf` was called. */
  readonly size: number
}

/** Reads the records of one database. After `read`, the others give what the record has. */
export interface LocationReader {
  /** Finds the fields of the record at an offset. @throws InvalidDatabaseError when it is damaged */
  read(offset: number): void
  readonly parts: NumberedField<RawParts>
  readonly city: NumberedField<string | null>
  readonly postalCode: NumberedField<string | null>
  coordinates(): RawCoordinates
  /** Estimated memory of all names read so far. */
  readonly retainedBytes: number
}

/** How one vendor writes locations. */
export interface Schema {
  /** Whether a database has this schema, judged by the fields of its records and never by its `database_type`. */
  readonly recognises: (fields: SampledFields) => boolean
  readonly readerFor: (data: DataSection) => LocationReader
}

/**
 * Defines a vendor's schema: which fields of its records to read, and what they mean.
 *
 * @param paths of the fields in a record
 */
export function defineSchema<Name extends string>(
  recognises: (fields: SampledFields) => boolean,
  paths: Readonly<Record<Name, Path>>,
  { parts, city, postalCode, coordinates }: Meaning<NoInfer<Name>>,
): Schema {
  return {
    recognises,
    readerFor: (data) => {
      const fields = new FieldReader(data, paths)
      const translations = new TranslationCache()
      const numbered = <Value>({ from, read }: SharedField<Name, Value>): NumberedField<Value> =>
        new SharedNumbers(fields, from, () => read(fields, translations))
      return {
        read: (offset) => fields.read(offset),
        parts: numbered(parts),
        city: numbered(city),
        postalCode: numbered(postalCode),
        coordinates: () => coordinates(fields),
        get retainedBytes() {
          return translations.retainedBytes
        },
      }
    },
  }
}

/** The numbers of values, by the fields that they are made from. */
class SharedNumbers<Name extends string, Value> implements NumberedField<Value> {
  readonly #fields: FieldReader<Name>
  readonly #from: readonly number[]
  readonly #read: () => Value
  readonly #known: RowSet
  readonly #key: Int32Array
  readonly #numbers: number[] = []

  constructor(fields: FieldReader<Name>, from: readonly Name[], read: () => Value) {
    this.#fields = fields
    this.#from = from.map((name) => fields.indexOf(name))
    this.#read = read
    this.#key = new Int32Array(from.length + 1)
    this.#known = new RowSet(from.length + 1)
  }

  get size(): number {
    return this.#known.size
  }

  number(numberOf: (value: Value) => number): number {
    this.#fields.identify(this.#from, this.#key)
    const known = this.#known.find(this.#key)
    if (known !== ABSENT) return this.#numbers[known] ?? 0
    // Add the key last: reading can throw.
    const number = numberOf(this.#read())
    this.#numbers[this.#known.add(this.#key)] = number
    return number
  }
}

/** Many records, because the first ones of a file can be sparse. */
const MAX_SAMPLED_RECORDS = 1000

/** Keys cached by their offset while sampling. */
const MAX_CACHED_KEYS = 256

/** The type of a field's value. */
export type FieldKind = 'map' | 'array' | 'text' | 'other'

/** The top-level fields of a database's records, from a sample of them. */
export class SampledFields {
  readonly #kinds = new Map<string, Set<FieldKind>>()
  readonly #keyByOffset = new Map<number, string | null>()
  /** Whether the database has no records. */
  readonly isEmpty: boolean

  /** Takes bounded time: no value is decoded, and all records share one budget. */
  constructor(database: OpenDatabase) {
    database.data.beginRecord()
    let records = 0
    for (const offset of database.firstRecords(MAX_SAMPLED_RECORDS)) {
      records++
      try {
        this.#add(database.data, offset)
      } catch (error) {
        // Skip damaged records here: looking one up throws.
        if (!isGeofixError(error)) throw error
      }
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

  #add(data: DataSection, offset: number): void {
    data.open(offset)
    if (data.type !== DataType.map) return
    let at = data.start
    for (let pairs = data.size; pairs > 0; pairs--) {
      const name = this.#keyAt(data, at)
      const value = data.next
      data.open(value)
      if (name !== null) this.#addKind(name, kindOf(data.type))
      at = data.skip(value)
    }
  }

  /** Opens a key; honest files store each key once and point to it. `null` when it is not text, or too long. */
  #keyAt(data: DataSection, at: number): string | null {
    data.open(at)
    if (data.size > MAX_KEY_BYTES) return null
    return remember(this.#keyByOffset, MAX_CACHED_KEYS, data.fieldOffset, () => data.text())
  }

  #addKind(name: string, kind: FieldKind): void {
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

/** The coordinates of a record that has none, or unusable ones. */
export const NO_COORDINATES: Coordinates = Object.freeze({ latitude: null, longitude: null })

/**
 * Both coordinates, or {@link NO_COORDINATES} if one is missing or out of range, or if both are 0: databases
 * write 0, 0 (in the Gulf of Guinea) for an unknown location.
 */
export function coordinatesOf(latitude: number | null, longitude: number | null): Coordinates {
  if (latitude === null || longitude === null) return NO_COORDINATES
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return NO_COORDINATES
  if (latitude === 0 && longitude === 0) return NO_COORDINATES
  return Object.freeze({ latitude: shortest(latitude), longitude: shortest(longitude) })
}

/**
 * The shortest decimal with the same 32-bit float, for a double that is exactly a float: 51.40359878540039 was
 * stored as the float of 51.4036. Other doubles stay as they are.
 */
function shortest(value: number): number {
  if (Math.fround(value) !== value) return value
  const size = Math.abs(value)
  for (const scale of SCALES) {
    // Exact before it is rounded: a float has 24 bits, and the odd factor of a scale at most 26.
    const decimal = Math.round(size * scale) / scale
    if (Math.fround(decimal) === size) return Math.sign(value) * decimal
  }
  for (let digits = 1; digits < 9; digits++) {
    const decimal = Number(value.toPrecision(digits))
    if (Math.fround(decimal) === value) return decimal
  }
  return Number(value.toPrecision(9))
}

/** Decimals from none to 11, which only floats below 0.01 can exceed. */
const SCALES = Array.from({ length: 12 }, (_, decimals) => 10 ** decimals)
