import type { Bytes } from '../bytes/byte-source.ts'
import { InvalidDatabaseError, quoted } from '../errors.ts'
import { countryCodesOf } from '../location/country-codes.ts'
import { DatabaseSet } from '../location/database-set.ts'
import { type Locale, localeOf, usualCase } from '../location/locale.ts'
import type { Coordinates } from '../location/location-record.ts'
import { type Location, NO_LOCATION } from '../location/location-table.ts'
import { coordinatesOf } from '../location/schema.ts'
import { type LocalizedCountry, type LocalizedRegion, Translations } from '../location/shared-parts.ts'
import { NO_INSTANT } from '../location/timezone.ts'
import type { Database } from '../mmdb/database.ts'
import { DataSectionEncoder, encodeDatabase } from '../mmdb/writer/database-encoder.ts'
import { EMPTY, type Link, linkToValue, NodeTable } from '../mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../mmdb/writer/search-tree-encoder.ts'
import { double, float, type WritableValue } from '../mmdb/writer/value.ts'
import { ValueTable } from '../mmdb/writer/value-table.ts'
import { checkOptionNames, type NamesOf } from '../option-names.ts'
import { copyTree, type EditedDatabase, editedMetadata, openForEdit, written } from './edited-database.ts'

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
 * that are left out. Cities only have the name that lookups give by default. Its records have the schema of GeoIP2, and have nothing that is not in a LocationRecord. Networks
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
  /** `null` keeps all names. */
  readonly locales: readonly Locale[] | null
  readonly countries: ReadonlySet<string> | null
  readonly ipv4Only: boolean
}

/** Throws the errors of {@link slim}. */
export function checkSlimOptions(
  options: Omit<SlimOptions, 'fields'> & { readonly fields?: readonly string[] | undefined } = {},
): CheckedSlimOptions {
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
interface SlimmedDatabase extends EditedDatabase {
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
    ...(locales === null
      ? []
      : [`names in ${locales.map(({ range: [tag = ''] }) => usualCase(tag)).join(', ')}`]),
    ...(countries === null ? [] : [`networks in ${[...countries].join(', ')}`]),
    ...(ipv4Only ? ['IPv4 only'] : []),
  ].join('; ')
}

/** The fields of a LocationRecord that a database can hold. */
const EDITED_FIELDS = ['country', 'region', 'city', 'postal_code', 'coordinates', 'timezone'] as const

export type LocationField = (typeof EDITED_FIELDS)[number]

/** A record with none of these fields is no location: see {@link LocationValues.add}. */
const PLACE_FIELDS: readonly LocationField[] = ['country', 'region', 'city', 'coordinates']

/** Writes locations as records with the schema of GeoIP2, which most readers know. */
class LocationValues {
  /** Language tags of the names written so far. */
  readonly languages = new Set<string>()
  /** Ids of the values of countries. Many locations share them. */
  readonly #countries = new WeakMap<LocalizedCountry, number>()
  /** Ids of the values of regions, with the country in their codes or without it. */
  readonly #regions = {
    whole: new WeakMap<LocalizedRegion, number>(),
    suffix: new WeakMap<LocalizedRegion, number>(),
  }

  constructor(
    private readonly values: ValueTable,
    private readonly projection: Pick<CheckedSlimOptions, 'fields' | 'locales'>,
  ) {}

  /**
   * Adds the record of a location to the table. Looking it up gives the kept fields of the location, and `null` for the
   * others.
   *
   * @returns the id of its value; `null` when none of country, region, city and coordinates is left, because that is not
   *   a location
   */
  add({ shared, city, postalCode, coordinates }: Location): number | null {
    const { fields } = this.projection
    const country = fields.has('country') && !shared.country.isUnknown ? shared.country : null
    const region = fields.has('region') && !shared.region.isUnknown ? shared.region : null
    const town = fields.has('city') ? city : null
    const position = fields.has('coordinates') ? positionOf(coordinates) : null
    if (country === null && region === null && town === null && position === null) return null
    // Without an instant, no offset is computed, which would need a formatter for each zone.
    const zone = fields.has('timezone') ? shared.timezone.at(NO_INSTANT).id : null
    const place = { ...position, ...(zone === null ? {} : { time_zone: zone }) }
    const parts: (readonly [name: string, id: number])[] = []
    const add = (name: string, value: WritableValue): number =>
      parts.push([name, this.values.add(value, name)])
    if (town !== null) {
      add('city', { names: { en: town } })
      this.languages.add('en')
    }
    if (country !== null) {
      const { code, translations } = country
      parts.push(['country', this.#partId(this.#countries, country, () => this.#part(code, translations))])
    }
    if (Object.keys(place).length > 0) add('location', place)
    if (fields.has('postal_code') && postalCode !== null) add('postal', { code: postalCode })
    // GeoIP2 writes the code of a region without the country, unless the record has no country.
    const form = country !== null && country.code !== null ? 'suffix' : 'whole'
    if (region !== null) {
      const { code, translations } = region
      const written = form === 'suffix' && code !== null ? code.slice(code.indexOf('-') + 1) : code
      const make = () => [this.#part(written, translations)]
      parts.push(['subdivisions', this.#partId(this.#regions[form], region, make)])
    }
    return this.values.addMap(parts)
  }

  #partId<Part extends object>(ids: WeakMap<Part, number>, part: Part, make: () => WritableValue): number {
    let id = ids.get(part)
    if (id === undefined) {
      id = this.values.add(make())
      ids.set(part, id)
    }
    return id
  }

  #part(code: string | null, { names }: Translations): WritableValue {
    const kept = this.#kept(names)
    for (const tag of kept.keys()) this.languages.add(tag)
    return {
      ...(code === null ? {} : { iso_code: code }),
      ...(kept.size === 0 ? {} : { names: kept }),
    }
  }

  /** The names that lookups in the locales use, in the order of the database. */
  #kept(names: ReadonlyMap<string, string>): Map<string, string> {
    const { locales } = this.projection
    // Each tag as its own name, so that a lookup tells which tag it uses.
    const tags = new Translations(new Map([...names.keys()].map((tag) => [tag, tag])))
    const used = new Set(locales?.map((locale) => tags.in(locale)))
    const kept = new Map<string, string>()
    for (const [tag, name] of names) if (locales === null || used.has(tag)) kept.set(usualCase(tag), name)
    return kept
  }
}

/** Decimal degrees: 32-bit floats if a lookup then gives the same, which takes half the room. */
function positionOf({ latitude, longitude }: Coordinates): { readonly [name: string]: WritableValue } | null {
  if (latitude === null || longitude === null) return null
  const [north, east] = coordinatesOf(Math.fround(latitude), Math.fround(longitude))
  const isSame = north === latitude && east === longitude
  const number = isSame ? float : double
  return { latitude: number(latitude), longitude: number(longitude) }
}
