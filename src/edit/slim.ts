import type { Bytes } from '../bytes/byte-source.ts'
import { InvalidDatabaseError, quoted } from '../errors.ts'
import { countryCodesOf } from '../location/country-codes.ts'
import { DatabaseSet } from '../location/database-set.ts'
import { type Locale, localeOf } from '../location/locale.ts'
import { type Location, NO_LOCATION } from '../location/location-table.ts'
import type { Database } from '../mmdb/database.ts'
import { DataSectionEncoder } from '../mmdb/writer/data-section-encoder.ts'
import { encodeDatabase } from '../mmdb/writer/database-encoder.ts'
import { EMPTY, type Link, linkToValue, NodeTable } from '../mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../mmdb/writer/search-tree-encoder.ts'
import { ValueTable } from '../mmdb/writer/value-table.ts'
import { checkOptionNames, type NamesOf } from '../option-names.ts'
import { copyTree, type EditedDatabase, editedMetadata, openForEdit, written } from './edited-database.ts'
import { EDITED_FIELDS, type LocationField, LocationValues, PLACE_FIELDS } from './location-values.ts'

/** What {@link slim} keeps. Everything that is left out stays. */
export interface SlimOptions {
  /**
   * Fields of the LocationRecord: `country`, `region`, `city`, `postal_code`, `coordinates`, `timezone`. At least one of
   * the first three or `coordinates`, because an entry without them is not a location.
   */
  readonly fields?: readonly LocationField[] | undefined
  /** BCP 47 language tags. Names of countries and regions that lookups in these locales use are kept. */
  readonly locales?: readonly string[] | undefined
  /** ISO 3166-1 alpha-2 codes; `EU` stands for the member states. Networks in other countries, or in none, are left out. */
  readonly countries?: readonly string[] | undefined
  /** Leaves out IPv6 networks: the result has an IPv4 search tree. */
  readonly ipv4Only?: boolean | undefined
}

const SLIM_OPTIONS: NamesOf<SlimOptions> = {
  fields: true,
  locales: true,
  countries: true,
  ipv4Only: true,
}

/**
 * Makes a smaller database of a database. A lookup in it gives the same as in the original, with `null` for the fields
 * that are left out. Its records have the schema of GeoIP2, and have nothing that is not in a LocationRecord. Networks
 * with equal records are merged. The same bytes and options always give the same file.
 *
 * A city database takes half a minute, and about eight times its size in memory.
 *
 * @param bytes an uncompressed `.mmdb` file, or a packed one
 * @throws InvalidDatabaseError when it is not a database, is damaged, or has no locations
 * @throws InvalidLocaleError when a locale is not a BCP 47 tag
 * @throws TypeError when another option is invalid
 */
export function slim(bytes: Bytes, options?: SlimOptions): Uint8Array {
  const checked = checkSlimOptions(options)
  return slimDatabase(openForEdit(bytes), checked).bytes
}

/** Options of {@link slim}, checked. */
export interface CheckedSlimOptions {
  readonly fields: ReadonlySet<LocationField>
  readonly locales: readonly Locale[] | null
  readonly countries: ReadonlySet<string> | null
  readonly ipv4Only: boolean
}

/** Throws the errors of {@link slim}. */
export function checkSlimOptions(
  options: Omit<SlimOptions, 'fields'> & { readonly fields?: readonly string[] | undefined } = {},
): CheckedSlimOptions {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError("the options of slim must be an object, such as { fields: ['country'] }")
  }
  checkOptionNames('slim', options, SLIM_OPTIONS)
  const { fields = EDITED_FIELDS, locales, countries, ipv4Only = false } = options
  const checkedFields = new Set(listOf('fields', fields).map(fieldOf))
  if (!PLACE_FIELDS.some((field) => checkedFields.has(field))) {
    throw new TypeError(
      `fields must have one of ${PLACE_FIELDS.join(', ')}: an entry without them is not a location`,
    )
  }
  if (typeof ipv4Only !== 'boolean') throw new TypeError('ipv4Only must be true or false')
  return {
    fields: checkedFields,
    locales: locales === undefined ? null : listOf('locales', locales).map((tag) => localeOf(tag)),
    countries: countries === undefined ? null : new Set(countryCodesOf(listOf('countries', countries))),
    ipv4Only,
  }
}

function listOf(name: string, value: readonly unknown[]): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return Array.from(value)
  throw new TypeError(`${name} must be an array with at least one text`)
}

function fieldOf(value: unknown): LocationField {
  const field = EDITED_FIELDS.find((each) => each === value)
  if (field !== undefined) return field
  throw new TypeError(`${quoted(String(value))} is not a field: write one of ${EDITED_FIELDS.join(', ')}`)
}

/** A slimmed database, and the given countries that it has no network of. */
export interface SlimmedDatabase extends EditedDatabase {
  readonly missingCountries: readonly string[]
}

/** Does what `slim` does, and counts the records. */
export function slimDatabase(database: Database, options: CheckedSlimOptions): SlimmedDatabase {
  const { fields, locales, countries, ipv4Only } = options
  const { tree, metadata, path } = database
  if (metadata.overlayBytes > 0) {
    throw new InvalidDatabaseError(
      'it has networks of geofix overlay, which would lose their place',
      { path },
      'use slim first, then overlay',
    )
  }
  const set = new DatabaseSet([database])
  if (set.noLocationsError !== null) throw set.noLocationsError
  const [locations] = set.locationTables
  const values = new ValueTable()
  const records = new LocationValues(values, { fields, locales })
  const found = new Set<string>()
  /** The link for each number of a location. Several records can have one location. */
  const links = new Map<number, Link>()
  let generation = 0
  let originalRecordCount = 0
  const linkTo = (location: Location): Link => {
    const country = location.shared.country.code
    if (countries !== null && (country === null || !countries.has(country))) return EMPTY
    if (country !== null) found.add(country)
    const id = records.add(location)
    return id === null ? EMPTY : linkToValue(id)
  }
  const linkOf = (offset: number): Link => {
    originalRecordCount++
    const number = locations?.at(offset) ?? NO_LOCATION
    if (locations === undefined || number === NO_LOCATION) return EMPTY
    if (locations.generation !== generation) links.clear()
    generation = locations.generation
    const link = links.get(number) ?? linkTo(locations.location(number))
    links.set(number, link)
    return link
  }
  return written(path, () => {
    const table = new NodeTable()
    const ipVersion = ipv4Only ? 4 : metadata.ipVersion
    const root = copyTree(database, ipv4Only ? tree.ipv4Root : 0, ipVersion === 4 ? 32 : 128, table, linkOf)
    const encoder = new SearchTreeEncoder(table, root)
    const bytes = encodeDatabase(encoder, new DataSectionEncoder(values), {
      ...editedMetadata(database, changeOf(options)),
      ipVersion,
      languages: [...records.languages].sort(),
    })
    return {
      bytes,
      recordCount: encoder.values().length,
      originalRecordCount,
      missingCountries: [...(countries ?? [])].filter((code) => !found.has(code)),
    }
  })
}

/** Says what was left out, for the description of the database. */
function changeOf({ fields, locales, countries, ipv4Only }: CheckedSlimOptions): string {
  const kept = EDITED_FIELDS.filter((field) => fields.has(field))
  return [
    `only ${kept.join(', ')}`,
    ...(locales === null ? [] : [`names in ${locales.map(({ tag }) => tag).join(', ')}`]),
    ...(countries === null ? [] : [`networks in ${[...countries].join(', ')}`]),
    ...(ipv4Only ? ['IPv4 only'] : []),
  ].join('; ')
}
