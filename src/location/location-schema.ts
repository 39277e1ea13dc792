// Schemas that programs give: where the fields of a LocationRecord are in the records of their own databases.
import { InvalidSchemaError, isGeofixError, quoted } from '../errors.ts'
import { type FieldReader, MAX_PATH_LENGTH, type Path } from '../mmdb/field-reader.ts'
import { MAX_KEY_BYTES } from '../mmdb/format.ts'
import { nearestName } from '../option-names.ts'
import { defineSchema, type Schema } from './schema.ts'
import type { PartsMaker, Translations } from './shared-parts.ts'

/**
 * Where a value is in a record: the key of the record, or the keys from the record down to the value, at most 7. 0 is the
 * first element of an array: `['subdivisions', 0, 'iso_code']`.
 */
export type SchemaPath = string | readonly (string | number)[]

/** A path, alone or with the type of the value. A value of another type is not used: the field is then `null`. */
export type SchemaField<Type extends 'text' | 'names' | 'number'> =
  | SchemaPath
  | { readonly path: SchemaPath; readonly type?: Type | undefined }
  | null
  | undefined

/**
 * Where the fields of a LocationRecord are in the records of a database. A field that is left out is `null` in each
 * LocationRecord. It needs a path for one of country, region, city and coordinates.
 *
 * `text` is one text; an empty one means unknown. `names` is a map of names by BCP 47 language tag. `number` is a number, or
 * a text of decimal digits such as `"52.52"`.
 */
export interface LocationSchema {
  readonly country?:
    | {
        /** ISO 3166-1 alpha-2, in capitals or not. Other text gives `null`. */
        readonly code?: SchemaField<'text'>
        /** Default type: `text`. Without it, the platform's names of `code` are used. */
        readonly name?: SchemaField<'text' | 'names'>
      }
    | null
    | undefined
  readonly region?:
    | {
        /** ISO 3166-2 with or without the country, such as `US-CA` or `CA`. Other text gives `null`. */
        readonly code?: SchemaField<'text'>
        /** Default type: `text`. */
        readonly name?: SchemaField<'text' | 'names'>
      }
    | null
    | undefined
  /** Default type: `text`. Of `names`, the English one is used, or else the first; with `cityNames: 'locale'`, that of the locale. */
  readonly city?: SchemaField<'text' | 'names'>
  /** Text only: a number has lost its leading zeros. */
  readonly postal_code?: SchemaField<'text'>
  /** WGS 84 in decimal degrees. Both are needed. */
  readonly coordinates?:
    | { readonly latitude: SchemaField<'number'>; readonly longitude: SchemaField<'number'> }
    | null
    | undefined
  /** IANA time zone identifier. The offset is computed for the instant of a lookup. */
  readonly timezone?: { readonly id?: SchemaField<'text'> } | null | undefined
}

/** A schema of the option `schema`. */
export interface RegisteredSchema {
  readonly schema: Schema
  /** What the program gave, as a copy of plain data, for other threads. */
  readonly definition: LocationSchema
}

/** The option `schema`: one for all databases, or an array with one for each. `null`: Geofix recognises the vendor. */
export type SchemaOption = LocationSchema | readonly (LocationSchema | null)[]

type FieldType = 'text' | 'names' | 'number'

interface Field<Type extends FieldType = FieldType> {
  readonly path: Path
  readonly type: Type
}

/** The fields of a schema by the names that the reader of records uses. */
interface Fields {
  readonly countryCode: Field<'text'> | undefined
  readonly countryName: Field<'text' | 'names'> | undefined
  readonly regionCode: Field<'text'> | undefined
  readonly regionName: Field<'text' | 'names'> | undefined
  readonly city: Field<'text' | 'names'> | undefined
  readonly postalCode: Field<'text'> | undefined
  readonly latitude: Field<'number'> | undefined
  readonly longitude: Field<'number'> | undefined
  readonly timeZone: Field<'text'> | undefined
}

/** The types that a field can have. The first one is the default. */
type Types<Type extends FieldType> = readonly [Type, ...Type[]]

const TEXT: Types<'text'> = ['text']
const NAMES: Types<'text' | 'names'> = ['text', 'names']
const NUMBER: Types<'number'> = ['number']

/**
 * Reads the option `schema`. Keeps nothing of the caller's objects, and reads each member once.
 *
 * @param count the number of databases
 * @returns a schema for each database, or `null` for one whose vendor is recognised
 * @throws InvalidSchemaError when a schema is not valid, or their number is not that of the databases
 */
export function readSchemas(option: unknown, count: number): readonly (RegisteredSchema | null)[] {
  if (option === undefined) return []
  try {
    if (!Array.isArray(option)) return new Array(count).fill(registered(option, 'schema'))
    if (option.length !== count) {
      throw refused(
        'schema',
        `it has ${option.length} schemas, and there are ${count} databases: give one for each, or null`,
      )
    }
    return Array.from({ length: count }, (_, index) => {
      const each: unknown = option[index]
      return each === null ? null : registered(each, `schema[${index}]`)
    })
  } catch (cause) {
    if (isGeofixError(cause)) throw cause
    // A getter or a Proxy of the caller.
    throw new InvalidSchemaError('schema: it cannot be read: give plain data', { cause })
  }
}

function registered(value: unknown, name: string): RegisteredSchema {
  const fields = fieldsOf(value, name)
  const { countryCode, countryName, regionCode, regionName, city, latitude, longitude } = fields
  if ((latitude === undefined) !== (longitude === undefined)) {
    const missing = latitude === undefined ? 'latitude' : 'longitude'
    throw refused(
      `${name}.coordinates.${missing}`,
      'it is missing: give the paths of both latitude and longitude',
    )
  }
  if ((countryCode ?? countryName ?? regionCode ?? regionName ?? city ?? latitude) === undefined) {
    throw refused(name, 'it has no location: give the path of a country, region, city or of coordinates')
  }
  const definition: LocationSchema = {
    country: { code: countryCode, name: countryName },
    region: { code: regionCode, name: regionName },
    city,
    postal_code: fields.postalCode,
    coordinates: { latitude, longitude },
    timezone: { id: fields.timeZone },
  }
  return { schema: schemaOf(fields), definition }
}

function schemaOf(schema: Fields): Schema {
  const {
    countryCode,
    countryName,
    regionCode,
    regionName,
    city,
    postalCode,
    latitude,
    longitude,
    timeZone,
  } = schema
  const namesOf = (
    fields: FieldReader<keyof Fields>,
    maker: PartsMaker,
    field: 'countryName' | 'regionName',
  ): Translations =>
    schema[field]?.type === 'names' ? maker.fromMap(fields, field) : maker.ofText(fields.text(field))
  return defineSchema<keyof Fields>(
    () => true,
    {
      countryCode: countryCode?.path,
      countryName: countryName?.path,
      regionCode: regionCode?.path,
      regionName: regionName?.path,
      city: city?.path,
      postalCode: postalCode?.path,
      latitude: latitude?.path,
      longitude: longitude?.path,
      timeZone: timeZone?.path,
    },
    {
      parts: {
        from: ['countryCode', 'countryName', 'regionCode', 'regionName', 'timeZone'],
        read: (fields, maker) => ({
          countryCode: fields.text('countryCode'),
          countryNames: namesOf(fields, maker, 'countryName'),
          regionCode: fields.text('regionCode'),
          regionNames: namesOf(fields, maker, 'regionName'),
          timeZone: fields.text('timeZone'),
        }),
      },
      city: {
        from: ['city'],
        read: (fields) => (city?.type === 'names' ? fields.defaultName('city') : fields.textOffset('city')),
      },
      cityNames: city?.type === 'names' ? 'city' : undefined,
      postalCode: { from: ['postalCode'], read: (fields) => fields.textOffset('postalCode') },
      coordinates: (fields) => [fields.number('latitude'), fields.number('longitude')],
    },
  )
}

/** The fields of a schema. @throws InvalidSchemaError when it has others, or two have the same path */
function fieldsOf(value: unknown, name: string): Fields {
  const all = new Map<string, Path>()
  const field = <Type extends FieldType>(
    given: unknown,
    types: Types<Type>,
    member: string,
  ): Field<Type> | undefined => {
    if (given === undefined || given === null) return undefined
    const read = fieldOf(given, types, `${name}.${member}`)
    all.set(member, read.path)
    return read
  }
  const members = membersOf(
    value,
    ['country', 'region', 'city', 'postal_code', 'coordinates', 'timezone'],
    name,
  )
  const group = (member: string, names: readonly string[]): ReadonlyMap<string, unknown> =>
    membersOf(members.get(member) ?? {}, names, `${name}.${member}`)
  const country = group('country', ['code', 'name'])
  const region = group('region', ['code', 'name'])
  const coordinates = group('coordinates', ['latitude', 'longitude'])
  const fields: Fields = {
    countryCode: field(country.get('code'), TEXT, 'country.code'),
    countryName: field(country.get('name'), NAMES, 'country.name'),
    regionCode: field(region.get('code'), TEXT, 'region.code'),
    regionName: field(region.get('name'), NAMES, 'region.name'),
    city: field(members.get('city'), NAMES, 'city'),
    postalCode: field(members.get('postal_code'), TEXT, 'postal_code'),
    latitude: field(coordinates.get('latitude'), NUMBER, 'coordinates.latitude'),
    longitude: field(coordinates.get('longitude'), NUMBER, 'coordinates.longitude'),
    timeZone: field(group('timezone', ['id']).get('id'), TEXT, 'timezone.id'),
  }
  refuseOverlaps(all, name)
  return fields
}

function fieldOf<Type extends FieldType>(given: unknown, types: Types<Type>, name: string): Field<Type> {
  if (typeof given !== 'object' || Array.isArray(given)) return { path: pathOf(given, name), type: types[0] }
  const members = membersOf(given, ['path', 'type'], name)
  const wanted = members.get('type') ?? types[0]
  const type = types.find((each) => each === wanted)
  if (type === undefined) throw refused(`${name}.type`, `write ${types.map(quoted).join(' or ')}`)
  return { path: pathOf(members.get('path'), `${name}.path`), type }
}

function pathOf(given: unknown, name: string): Path {
  const length = Array.isArray(given) ? given.length : 1
  if (length === 0 || given === '')
    throw refused(name, 'the path is empty: write the key of a field, or an array of keys')
  if (length > MAX_PATH_LENGTH) throw refused(name, `the path has more than ${MAX_PATH_LENGTH} keys`)
  const path = Array.from({ length }, (_, index) => keyOf(Array.isArray(given) ? given[index] : given, name))
  if (path[0] === 0) throw refused(name, 'a record is not an array: begin with the key of a field')
  return path
}

function keyOf(key: unknown, name: string): string | 0 {
  if (key === 0) return 0
  if (typeof key === 'number') {
    throw refused(name, 'write keys as text; of an array only the first element can be used, as 0')
  }
  if (typeof key !== 'string' || key === '')
    throw refused(name, 'write keys as text that is not empty, and 0 for the first element of an array')
  // UTF-8 has at least one byte for each UTF-16 code unit.
  if (key.length > MAX_KEY_BYTES)
    throw refused(name, `a key has more than ${MAX_KEY_BYTES} bytes: no record has such keys`)
  return key
}

/** The own members of an object, each read once. @throws InvalidSchemaError when it has others */
function membersOf(value: unknown, names: readonly string[], name: string): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refused(name, `write an object with ${names.join(', ')}`)
  }
  const members = new Map<string, unknown>(Object.entries(value))
  for (const member of members.keys()) {
    if (names.includes(member)) continue
    const near = nearestName(member, names)
    const advice = near === undefined ? `write ${names.join(', ')} only` : `did you mean ${quoted(near)}?`
    throw refused(name, `it has no field ${quoted(member)}: ${advice}`)
  }
  return members
}

/** @throws InvalidSchemaError when two fields have one path, or the path of one leads through the value of another */
function refuseOverlaps(paths: ReadonlyMap<string, Path>, name: string): void {
  for (const [first, path] of paths) {
    for (const [second, other] of paths) {
      if (first === second || !path.every((key, index) => key === other[index])) continue
      throw refused(
        `${name}.${second}`,
        path.length === other.length
          ? `it has the path of ${first}: each field needs its own`
          : `its path leads through the value of ${first}, which is then not a map with fields`,
      )
    }
  }
}

function refused(name: string, why: string): InvalidSchemaError {
  return new InvalidSchemaError(`${name}: ${why}`)
}
