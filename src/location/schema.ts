import { RowSet } from '../bytes/tables.ts'
import type { DataSection } from '../mmdb/data-section.ts'
import { decimalOf, FieldReader, NO_TEXT, type Path } from '../mmdb/field-reader.ts'
import type { Locale } from './locale.ts'
import type { Coordinates } from './location-record.ts'
import { isCountry, PartsMaker, type RawParts, type SharedParts, Translations } from './shared-parts.ts'

/**
 * How a value is written:
 * - `text`: one text; an empty one means unknown
 * - `names`: a map of names by language
 * - `name`: one text, the name in every language
 * - `number`: a number, or a text of decimal digits
 * - `code`, `not-code`: a text that is, or is not, two letters
 * - `first`, `second`: a part of a text with two numbers, such as `52.52,13.4`
 * - `asn`: as `number`, or a text such as `AS3320`
 */
export type FieldType =
  | 'text'
  | 'names'
  | 'name'
  | 'number'
  | 'code'
  | 'not-code'
  | 'first'
  | 'second'
  | 'asn'

/** Where a value can be in a record. */
export interface Source {
  readonly path: Path
  readonly type: FieldType
  /** The path as one text. */
  readonly key: string
}

/** A value of a type at a path. */
export function placed(path: Path, type: FieldType): Source {
  return { path, type, key: JSON.stringify(path) }
}

/** The fields of a location. */
export type FieldName =
  | 'countryCode'
  | 'countryName'
  // The country of registration, for records without another one.
  | 'registeredCode'
  | 'registeredName'
  | 'regionCode'
  | 'regionName'
  | 'city'
  | 'postalCode'
  | 'latitude'
  | 'longitude'
  | 'timeZone'

/** Where the fields of a location are in the records of a database. The first source that has a value is used. Plain data. */
export type SchemaFields = { readonly [Name in FieldName]?: readonly Source[] }

/** The values that can be left out, and the fields that each of them is made from. */
const OPTIONAL_VALUES = {
  registration: ['registeredCode', 'registeredName'],
  region: ['regionCode', 'regionName'],
  timezone: ['timeZone'],
  city: ['city'],
  postalCode: ['postalCode'],
  coordinates: ['latitude', 'longitude'],
} as const satisfies Readonly<Record<string, readonly FieldName[]>>

/** The values of a location that can be left out. */
export type OptionalValue = keyof typeof OPTIONAL_VALUES

const TWO_LETTERS = /^[A-Za-z]{2}$/
const AS_NUMBER = /^AS(\d{1,10})$/i
const NO_SOURCES: readonly Source[] = []

/** Reads values from the first of several sources that has one. */
export class SourceReader extends FieldReader {
  /** @param sources all that are read */
  constructor(data: DataSection, sources: readonly Source[]) {
    super(data, Object.fromEntries(sources.map(({ key, path }) => [key, path])))
  }

  firstText(sources: readonly Source[] = NO_SOURCES): string | null {
    for (const { key, type } of sources) {
      const text = this.text(key)
      if (text !== null && (type !== 'code' || TWO_LETTERS.test(text))) return text
    }
    return null
  }

  firstNumber(sources: readonly Source[] = NO_SOURCES): number | null {
    for (const source of sources) {
      const number = source.type === 'number' ? this.number(source.key) : this.#numberIn(source)
      if (number !== null) return number
    }
    return null
  }

  /** Where a text is. Of names, the English one is used, or else the first. `NO_TEXT` without one. */
  firstTextOffset(sources: readonly Source[] = NO_SOURCES): number {
    for (const { key, type } of sources) {
      const offset = type === 'names' ? this.defaultName(key) : this.textOffset(key)
      if (offset !== NO_TEXT) return offset
    }
    return NO_TEXT
  }

  firstNames(maker: PartsMaker, sources: readonly Source[] = NO_SOURCES): Translations {
    for (const { key, type } of sources) {
      if (type === 'names') return maker.fromMap(this, key)
      const text = this.text(key)
      if (text !== null && !(type === 'not-code' && TWO_LETTERS.test(text)))
        return maker.ofText(text, type === 'name')
    }
    return Translations.NONE
  }

  #numberIn({ key, type }: Source): number | null {
    const text = this.text(key)
    if (type === 'asn') {
      const digits = AS_NUMBER.exec(text ?? '')?.[1]
      return digits === undefined ? this.number(key) : Number(digits)
    }
    const [first = null, second = null, ...rest] = text?.split(',').map(decimalOf) ?? []
    if (first === null || second === null || rest.length > 0) return null
    return type === 'first' ? first : second
  }
}

/** Reads the records of one database. After `read`, the other members describe that record. */
export class LocationReader {
  readonly parts: SharedValues<SharedParts>
  /** Offsets of texts, or `NO_TEXT`. */
  readonly city: SharedValues<number>
  readonly postalCode: SharedValues<number>
  readonly #schema: SchemaFields
  readonly #fields: SourceReader
  readonly #maker = new PartsMaker()
  /** Where the names of cities are, by number of a city. */
  readonly #cityMaps: number[] = []

  /** @param omitted values that are not read, as if no record had them */
  constructor(data: DataSection, schema: SchemaFields, omitted: readonly OptionalValue[] = []) {
    const left = new Set<string>(omitted.flatMap((value) => OPTIONAL_VALUES[value]))
    this.#schema = Object.fromEntries(Object.entries(schema).filter(([name]) => !left.has(name)))
    const { city = [], postalCode = [], latitude = [], longitude = [], ...shared } = this.#schema
    const parts = Object.values(shared).flat()
    const fields = new SourceReader(data, [...parts, ...city, ...postalCode, ...latitude, ...longitude])
    this.#fields = fields
    this.parts = new SharedValues(fields, parts, () => this.#maker.make(this.#rawParts()))
    const cityNames = city.find(({ type }) => type === 'names')
    this.city = new SharedValues(fields, city, (number) => {
      const offset = this.#textOffset(city)
      if (cityNames !== undefined) this.#cityMaps[number] = fields.mapOffset(cityNames.key) ?? NO_TEXT
      return offset
    })
    this.postalCode = new SharedValues(fields, postalCode, () => this.#textOffset(postalCode))
  }

  /** Estimated memory of all names, shared parts and long texts read so far. */
  get retainedBytes(): number {
    return this.#maker.retainedBytes
  }

  /** Finds the fields of the record at an offset. @throws InvalidDatabaseError when it is damaged */
  read(offset: number): void {
    this.#fields.read(offset)
  }

  /** The name of the city with a number in the language of a locale, or else as {@link city} has it. */
  cityIn(number: number, locale: Locale): string | null {
    const offset = this.city.values[number] ?? NO_TEXT
    if (offset === NO_TEXT) return null
    const map = this.#cityMaps[number] ?? NO_TEXT
    const name = this.textAt(offset)
    if (map === NO_TEXT) return name
    return new Translations(this.#fields.textsAt(map).offsets, (place) => this.textAt(place)).in(locale)
  }

  coordinates(): RawCoordinates {
    const { latitude, longitude } = this.#schema
    return coordinatesOf(this.#fields.firstNumber(latitude), this.#fields.firstNumber(longitude))
  }

  /** The text at an offset. */
  textAt(offset: number): string {
    return this.#fields.textAt(offset)
  }

  #rawParts(): RawParts {
    const schema = this.#schema
    const fields = this.#fields
    const countryCode = fields.firstText(schema.countryCode)
    const countryNames = fields.firstNames(this.#maker, schema.countryName)
    const isRegistered = schema.registeredCode !== undefined && !isCountry(countryCode, countryNames)
    return {
      countryCode: isRegistered ? fields.firstText(schema.registeredCode) : countryCode,
      countryNames: isRegistered ? fields.firstNames(this.#maker, schema.registeredName) : countryNames,
      // The code of a region is one of the country that the record does not have.
      regionCode: isRegistered ? null : fields.firstText(schema.regionCode),
      regionNames: fields.firstNames(this.#maker, schema.regionName),
      timeZone: fields.firstText(schema.timeZone),
    }
  }

  #textOffset(sources: readonly Source[]): number {
    const offset = this.#fields.firstTextOffset(sources)
    if (offset !== NO_TEXT) this.#maker.countText(this.#fields.textBytes(offset))
    return offset
  }
}

/** Values that are made from the same fields, each made once for all records that share these fields. */
class SharedValues<Value> {
  /** Values by their numbers. A value that cannot be read is absent. */
  readonly values: Value[] = []
  readonly #from: readonly number[]
  readonly #known: RowSet
  readonly #key: Int32Array

  /** @param read makes the value of the record that was read last, whose number it gets */
  constructor(
    readonly fields: SourceReader,
    sources: readonly Source[],
    readonly read: (number: number) => Value,
  ) {
    this.#from = [...new Set(sources.map(({ key }) => fields.indexOf(key)))]
    this.#key = new Int32Array(this.#from.length + 1)
    this.#known = new RowSet(this.#key.length)
  }

  get size(): number {
    return this.#known.size
  }

  /** The number of the value of the record that was read last. @throws InvalidDatabaseError when it is damaged */
  number(): number {
    this.fields.identify(this.#from, this.#key)
    const number = this.#known.add(this.#key)
    if (this.values[number] === undefined) this.values[number] = this.read(number)
    return number
  }
}

/** The coordinates of a record that has none, or unusable ones. */
export const NO_COORDINATES: Coordinates = Object.freeze({ latitude: null, longitude: null })

/**
 * `NaN` for both if they are unknown. A pair of numbers, because V8 leaves its compiled code when the field of an object first gets a
 * whole number, or `null`: 4% of cold lookups.
 */
export type RawCoordinates = readonly [latitude: number, longitude: number]

const NOWHERE: RawCoordinates = [Number.NaN, Number.NaN]

/**
 * Both coordinates, or `NaN` for both if one is missing or out of range, or if both are 0: databases write 0, 0 (in the Gulf
 * of Guinea) for an unknown location.
 */
export function coordinatesOf(latitude: number | null, longitude: number | null): RawCoordinates {
  if (latitude === null || longitude === null || !(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180))
    return NOWHERE
  return latitude === 0 && longitude === 0 ? NOWHERE : [shortest(latitude), shortest(longitude)]
}

/**
 * The shortest decimal with the same 32-bit float, for a double that is exactly a float: 51.40359878540039 was
 * stored as the float of 51.4036. Other doubles stay as they are.
 */
function shortest(value: number): number {
  if (Math.fround(value) !== value) return value
  const size = Math.abs(value)
  for (const scale of SCALES) {
    // The product is exact before it is rounded: a float has 24 bits, and the odd factor of a scale at most 26.
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
