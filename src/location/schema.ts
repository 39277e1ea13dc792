import { isGeofixError, quoted, ReadFailure } from '../errors.ts'
import type { DataSection } from '../mmdb/data-section.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { type FieldPaths, FieldReader, NO_TEXT } from '../mmdb/field-reader.ts'
import { DataType, MAX_KEY_BYTES } from '../mmdb/format.ts'
import type { Locale } from './locale.ts'
import type { Coordinates } from './location-record.ts'
import { PartsMaker, type RawParts, type SharedParts, Translations } from './shared-parts.ts'
import { RowSet } from './tables.ts'

/** Decimal degrees. */
export type RawCoordinates = readonly [latitude: number | null, longitude: number | null]

/** A value that is made from some fields of a record. */
interface SharedField<Name extends string, Value> {
  /** All fields that it is made from. */
  readonly from: readonly Name[]
  readonly read: (fields: FieldReader<Name>, names: PartsMaker) => Value
}

/** What the fields of a vendor's records mean. */
interface Meaning<Name extends string> {
  readonly parts: SharedField<Name, RawParts>
  /** Read as the offset of the text, or `NO_TEXT`. */
  readonly city: SharedField<Name, number>
  /** The field with the names of the city by language, if the vendor has them. */
  readonly cityNames?: Name | undefined
  readonly postalCode: SharedField<Name, number>
  readonly coordinates: (fields: FieldReader<Name>) => RawCoordinates
}

/** Reads the records of one database. After `read`, the other members describe that record. */
export interface LocationReader {
  /** Finds the fields of the record at an offset. @throws InvalidDatabaseError when it is damaged */
  read(offset: number): void
  readonly parts: SharedValues<SharedParts>
  /** Offsets of texts, or `NO_TEXT`. */
  readonly city: SharedValues<number>
  readonly postalCode: SharedValues<number>
  /** The name of the city with a number in the language of a locale, or else as {@link city} has it. */
  cityIn(number: number, locale: Locale): string | null
  /** Both coordinates, or `null` for both. */
  coordinates(): RawCoordinates
  /** The text at an offset. */
  textAt(offset: number): string
  /** Estimated memory of all names, shared parts and long texts read so far. */
  readonly retainedBytes: number
}

/** Chooses some fields. */
export type ChoosePaths = <Name extends string>(paths: FieldPaths<Name>) => FieldPaths<Name>

/** How one vendor writes locations. */
export interface Schema {
  /** Whether a database has this schema, judged by the fields of its records and never by its `database_type`. */
  readonly recognises: (fields: SampledFields) => boolean
  /** @param choose leaves out the paths of fields that are not read, as if no record had them */
  readonly readerFor: (data: DataSection, choose?: ChoosePaths) => LocationReader
}

/**
 * Defines a vendor's schema: which fields of its records to read, and what they mean.
 *
 * @param paths of the fields in a record
 */
export function defineSchema<Name extends string>(
  recognises: (fields: SampledFields) => boolean,
  paths: FieldPaths<Name>,
  { parts, city, cityNames, postalCode, coordinates }: Meaning<NoInfer<Name>>,
): Schema {
  return {
    recognises,
    readerFor: (data, choose = (all) => all) => {
      const fields = new FieldReader(data, choose(paths))
      const maker = new PartsMaker()
      const text = (
        { from, read }: Meaning<Name>['city'],
        onRead?: (number: number) => void,
      ): SharedValues<number> =>
        new SharedValues(
          fields,
          from.map((name) => fields.indexOf(name)),
          (number) => {
            const offset = read(fields, maker)
            if (offset !== NO_TEXT) maker.countText(fields.textBytes(offset))
            onRead?.(number)
            return offset
          },
        )
      /** Where the names of cities are, by number of a city. */
      const cityMaps: number[] = []
      const cities =
        cityNames === undefined
          ? text(city)
          : text(city, (number) => {
              cityMaps[number] = fields.mapOffset(cityNames) ?? NO_TEXT
            })
      return {
        read: (offset) => fields.read(offset),
        parts: new SharedValues(
          fields,
          parts.from.map((name) => fields.indexOf(name)),
          () => maker.make(parts.read(fields, maker)),
        ),
        city: cities,
        cityIn: (number, locale) => {
          const offset = cities.values[number] ?? NO_TEXT
          if (offset === NO_TEXT) return null
          const map = cityMaps[number] ?? NO_TEXT
          if (map === NO_TEXT) return fields.textAt(offset)
          const names = new Translations(fields.textsAt(map).offsets, (place) => fields.textAt(place))
          return names.inLanguageOf(locale) ?? names.fallbackFor(locale)
        },
        postalCode: text(postalCode),
        coordinates: () => usable(...coordinates(fields)),
        textAt: (offset) => fields.textAt(offset),
        get retainedBytes() {
          return maker.retainedBytes
        },
      }
    },
  }
}

/** Values that are made from the same fields, each made once for all records that share these fields. */
class SharedValues<Value> {
  /** By number. A value that cannot be read is absent. */
  readonly values: Value[] = []
  readonly #known: RowSet
  readonly #key: Int32Array

  /** @param read makes the value of the record that was read last, whose number it gets */
  constructor(
    readonly fields: Pick<FieldReader<string>, 'identify'>,
    readonly from: readonly number[],
    readonly read: (number: number) => Value,
  ) {
    this.#key = new Int32Array(from.length + 1)
    this.#known = new RowSet(from.length + 1)
  }

  get size(): number {
    return this.#known.size
  }

  /** The number of the value of the record that was read last. @throws InvalidDatabaseError when it is damaged */
  number(): number {
    this.fields.identify(this.from, this.#key)
    const number = this.#known.add(this.#key)
    if (this.values[number] === undefined) this.values[number] = this.read(number)
    return number
  }
}

/** Many records, because the first ones of a file can be sparse. */
export const MAX_SAMPLED_RECORDS = 1000

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

/** The coordinates of a record that has none, or unusable ones. */
export const NO_COORDINATES: Coordinates = Object.freeze({ latitude: null, longitude: null })

/**
 * Both coordinates, or {@link NO_COORDINATES} if one is missing or out of range, or if both are 0: databases
 * write 0, 0 (in the Gulf of Guinea) for an unknown location.
 */
export function coordinatesOf(latitude: number | null, longitude: number | null): Coordinates {
  const [north, east] = usable(latitude, longitude)
  return north === null ? NO_COORDINATES : Object.freeze({ latitude: north, longitude: east })
}

function usable(latitude: number | null, longitude: number | null): RawCoordinates {
  if (latitude === null || longitude === null) return NOWHERE
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return NOWHERE
  if (latitude === 0 && longitude === 0) return NOWHERE
  return [shortest(latitude), shortest(longitude)]
}

const NOWHERE: RawCoordinates = [null, null]

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

/** Powers of ten for 0 to 11 decimals. Only floats below 0.01 can need more. */
const SCALES = Array.from({ length: 12 }, (_, decimals) => 10 ** decimals)
