// The option `schema`: where the fields of a LocationRecord are in the records of a database.
import { InvalidSchemaError, isGeofixError, quoted } from '../errors.ts'
import { MAX_PATH_LENGTH, type Path } from '../mmdb/field-reader.ts'
import { MAX_KEY_BYTES } from '../mmdb/format.ts'
import { nearestName } from '../option-names.ts'
import { type FieldName, type FieldType, placed, type SchemaFields, type Source } from './schema.ts'

/**
 * Where a value is in a record: the key of the record, or the keys from the record down to the value, at most 7. 0 is the
 * first element of an array: `['subdivisions', 0, 'iso_code']`.
 */
export type SchemaPath = string | readonly (string | number)[]

/** A path, alone or with the type of the value. A value of another type is not used: the field is then `null`. */
export type SchemaField<Type extends FieldType> =
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
  /**
   * Default type: `text`. With `names`, the English name is used, or else the first one; with `cityNames: 'locale'`, the name
   * in the locale.
   */
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

/** The types that a field can have. The first one is the default. */
type Types = readonly [FieldType, ...FieldType[]]

/** The fields by their members in a schema, and the types that they can have. */
const MEMBERS: ReadonlyMap<string, { readonly field: FieldName; readonly types: Types }> =
  /* @__PURE__ */ new Map([
    ['country.code', { field: 'countryCode', types: ['text'] }],
    ['country.name', { field: 'countryName', types: ['text', 'names'] }],
    ['region.code', { field: 'regionCode', types: ['text'] }],
    ['region.name', { field: 'regionName', types: ['text', 'names'] }],
    ['city', { field: 'city', types: ['text', 'names'] }],
    ['postal_code', { field: 'postalCode', types: ['text'] }],
    ['coordinates.latitude', { field: 'latitude', types: ['number'] }],
    ['coordinates.longitude', { field: 'longitude', types: ['number'] }],
    ['timezone.id', { field: 'timeZone', types: ['text'] }],
  ])

const PART = { code: null, name: null }
/** The members of a schema, and of the record of an overlay. */
export const MEMBER_NAMES: MemberNames = {
  country: PART,
  region: PART,
  city: null,
  postal_code: null,
  coordinates: { latitude: null, longitude: null },
  timezone: { id: null },
}

/** A schema needs a path for another field: with these alone, no record has a location. */
const NO_PLACES: readonly string[] = ['postalCode', 'timeZone']

/**
 * Reads the option `schema`. Keeps nothing of the caller's objects, and reads each member once.
 *
 * @param count the number of databases
 * @returns a schema for each database, or `null` for one whose vendor is recognised
 * @throws InvalidSchemaError when a schema is not valid, or their number is not that of the databases
 */
export function readSchemas(option: unknown, count: number): readonly (SchemaFields | null)[] {
  try {
    if (!Array.isArray(option)) return new Array(count).fill(readSchema(option, 'schema'))
    if (option.length !== count) {
      throw refused(
        'schema',
        `it has ${option.length} schemas, and there are ${count} databases: give one for each, or null`,
      )
    }
    return Array.from({ length: count }, (_, index) => {
      const each: unknown = option[index]
      return each === null ? null : readSchema(each, `schema[${index}]`)
    })
  } catch (cause) {
    if (isGeofixError(cause)) throw cause
    // A getter or a Proxy of the caller can throw anything.
    throw new InvalidSchemaError('schema: it cannot be read: give plain data', { cause })
  }
}

function readSchema(value: unknown, name: string): SchemaFields {
  const paths = new Map<string, Path>()
  const fields: { [Name in FieldName]?: readonly Source[] } = {}
  const refuse = (path: string, why: string) => refused(path === '' ? name : `${name}.${path}`, why)
  for (const [member, given] of membersIn(value, MEMBER_NAMES, refuse)) {
    const known = MEMBERS.get(member)
    if (known === undefined) continue
    const source = sourceOf(given, known.types, `${name}.${member}`)
    paths.set(member, source.path)
    fields[known.field] = [source]
  }
  refuseOverlaps(paths, name)
  if ((fields.latitude === undefined) !== (fields.longitude === undefined)) {
    const missing = fields.latitude === undefined ? 'latitude' : 'longitude'
    throw refused(
      `${name}.coordinates.${missing}`,
      'it is missing: give the paths of both latitude and longitude',
    )
  }
  if (Object.keys(fields).every((field) => NO_PLACES.includes(field))) {
    throw refused(name, 'it has no location: give the path of a country, region, city or of coordinates')
  }
  return fields
}

function sourceOf(given: unknown, types: Types, name: string): Source {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return placed(pathOf(given, name), types[0])
  }
  const members = membersIn(given, { path: null, type: null }, (_, why) => refused(name, why))
  const wanted = members.get('type') ?? types[0]
  const type = types.find((each) => each === wanted)
  if (type === undefined) throw refused(`${name}.type`, `write ${types.map(quoted).join(' or ')}`)
  return placed(pathOf(members.get('path'), `${name}.path`), type)
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

/** The names of members, and the names of their own members. */
export interface MemberNames {
  readonly [name: string]: MemberNames | null
}

/**
 * The members of plain data by their paths, such as `country.code`. Each is read once. Those that are `undefined` or `null` are
 * left out.
 *
 * @param names that it can have, in the order of the result
 * @param refuse makes the error for the member at a path; the path is empty for the value itself
 */
export function membersIn(
  value: unknown,
  names: MemberNames,
  refuse: (path: string, why: string) => Error,
  prefix = '',
  found = new Map<string, unknown>(),
): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuse(prefix.slice(0, -1), `write an object with ${Object.keys(names).join(', ')}`)
  }
  const members: Readonly<Record<string, unknown>> = { ...value }
  for (const name of Object.keys(members)) {
    if (Object.hasOwn(names, name)) continue
    const known = Object.keys(names)
    const near = nearestName(name, known)
    const advice = near === undefined ? `write ${known.join(', ')} only` : `did you mean ${quoted(near)}?`
    throw refuse(prefix.slice(0, -1), `it has no field ${quoted(name)}: ${advice}`)
  }
  for (const name of Object.keys(names)) {
    const [given, inner] = [members[name], names[name] ?? null]
    if (given === undefined || given === null) continue
    if (inner === null) found.set(prefix + name, given)
    else membersIn(given, inner, refuse, `${prefix}${name}.`, found)
  }
  return found
}
