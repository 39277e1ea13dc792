// The values that vendors have for an address beyond a LocationRecord. Only programs that ask for them load this file.
import { Address, explainMalformed } from '../address/address.ts'
import { MalformedAddressError } from '../errors.ts'
import { decimalOf } from '../mmdb/field-reader.ts'
import { isMap, type MmdbValue } from '../mmdb/record-decoder.ts'
import { checkOptionNames, type NamesOf } from '../option-names.ts'
import { countryCodeOf, isInEuropeanUnion } from './country-codes.ts'
import type { DatabaseSet } from './database-set.ts'
import { type Locale, localeOf } from './locale.ts'
import type { Country, Region } from './location-record.ts'
import { lookupRecord } from './lookup.ts'
import { isCountry, LocalizedCountry, LocalizedRegion, regionCodeOf, Translations } from './shared-parts.ts'
import type { VendorName } from './vendors.ts'

/** A continent. */
export interface Continent {
  /** `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`. */
  readonly code: string | null
  readonly name: string | null
}

/** A part of a country, with its ISO 3166-2 code. */
export interface Subdivision extends Region {
  readonly geonameId: number | null
}

/** What a vendor knows of an address beyond its LocationRecord. `null` is what its database does not have. */
export interface LocationDetails {
  /** The address, as in the LocationRecord. */
  readonly ip: string
  /** The network whose addresses all have these details, as CIDR text. */
  readonly network: string | null
  /** The number of the database in `databases` that answered, from 0; `null` for a location of `overlays`. */
  readonly database: number | null
  readonly continent: Continent
  /**
   * Whether the country of the LocationRecord is in the European Union: as the database says, or else whether it is a member
   * state, or a territory with a code of its own that is part of the Union. `null` without a country.
   */
  readonly isInEuropeanUnion: boolean | null
  /** Subdivisions from the largest to the smallest. The first one is the region of the LocationRecord. */
  readonly subdivisions: readonly Subdivision[]
  /** The GeoName ID of the smallest of city, subdivisions and country that has one. */
  readonly geonameId: number | null
  /** Kilometres around the coordinates within which the address probably is. */
  readonly accuracyRadiusKm: number | null
  /** The metro code of Nielsen, in the United States. */
  readonly metroCode: number | null
  /** The country that the network is registered in. */
  readonly registeredCountry: Country
  /** The country that the users of the network represent, such as that of a military base abroad. */
  readonly representedCountry: Country
}

export interface DetailsOptions {
  /** A BCP 47 language tag for all names. Default: `en`. */
  readonly locale?: string | undefined
}

/** The keys from a record down to a value. */
type Path = readonly string[]

/** Where the values are in the records of a vendor. The first path that has a value is used. */
interface DetailPaths {
  readonly continent?: PartPaths
  /** The code of the country, if a lookup can use the country of registration instead. */
  readonly countryCode?: Path
  readonly isInEuropeanUnion?: Path
  readonly subdivisions?: {
    /** The path of an array with a map for each; without it, they are fields of the record. */
    readonly list?: Path
    readonly parts: readonly (PartPaths & { readonly geonameId?: Path })[]
  }
  readonly cityGeonameId?: Path
  readonly countryGeonameId?: Path
  readonly accuracyRadiusKm?: Path
  readonly metroCode?: Path
  readonly registeredCountry?: PartPaths
  readonly representedCountry?: PartPaths
}

interface PartPaths {
  readonly code?: Path
  /** The path of a text, or of a map of names by language. */
  readonly name: Path
}

const coded = (field: string): PartPaths => ({ code: [field, 'iso_code'], name: [field, 'names'] })

const DETAILS: Readonly<Record<VendorName, DetailPaths>> = {
  GeoIP2: {
    continent: { code: ['continent', 'code'], name: ['continent', 'names'] },
    countryCode: ['country', 'iso_code'],
    isInEuropeanUnion: ['country', 'is_in_european_union'],
    subdivisions: {
      list: ['subdivisions'],
      parts: [{ code: ['iso_code'], name: ['names'], geonameId: ['geoname_id'] }],
    },
    cityGeonameId: ['city', 'geoname_id'],
    countryGeonameId: ['country', 'geoname_id'],
    accuracyRadiusKm: ['location', 'accuracy_radius'],
    metroCode: ['location', 'metro_code'],
    registeredCountry: coded('registered_country'),
    representedCountry: coded('represented_country'),
  },
  IPinfo: {
    continent: { code: ['continent_code'], name: ['continent'] },
    subdivisions: { parts: [{ code: ['region_code'], name: ['region'] }] },
    cityGeonameId: ['geoname_id'],
    accuracyRadiusKm: ['radius'],
    metroCode: ['dma_code'],
  },
  'ip-location-db': { subdivisions: { parts: [{ name: ['state1'] }, { name: ['state2'] }] } },
}

const DETAILS_OPTIONS: NamesOf<DetailsOptions> = { locale: true }

/**
 * The details of an address.
 *
 * @throws the errors of `lookup`
 */
export function detailsOf(set: DatabaseSet, text: string, options?: DetailsOptions): LocationDetails {
  checkOptionNames('details', options, DETAILS_OPTIONS)
  const locale = localeOf(options?.locale)
  const address = new Address()
  if (!address.parse(text)) throw new MalformedAddressError(explainMalformed(text))
  const { ip, country } = lookupRecord(set, address, locale, 0)
  const { number = null, vendor = null } = set.match(address) ?? {}
  const record = set.raw(address) ?? {}
  const paths = vendor === null ? {} : DETAILS[vendor]
  // The subdivisions and the membership of a record are not those of the country of registration.
  const own =
    paths.countryCode === undefined ? country.code : countryCodeOf(textAt(record, paths.countryCode))
  const subdivisions = subdivisionsOf(record, paths, own, locale)
  const ids = [
    numberAt(record, paths.cityGeonameId),
    ...subdivisions.map(({ geonameId }) => geonameId).reverse(),
    numberAt(record, paths.countryGeonameId),
  ]
  const isMember = own === country.code ? valueAt(record, paths.isInEuropeanUnion) : undefined
  const continent = paths.continent
  return {
    ip,
    network: set.network(address),
    database: number,
    continent: {
      code: textAt(record, continent?.code),
      name: namesAt(record, continent?.name).in(locale),
    },
    isInEuropeanUnion: typeof isMember === 'boolean' ? isMember : isInEuropeanUnion(country.code),
    subdivisions,
    geonameId: ids.find((id) => id !== null) ?? null,
    accuracyRadiusKm: numberAt(record, paths.accuracyRadiusKm),
    metroCode: numberAt(record, paths.metroCode),
    registeredCountry: countryAt(record, paths.registeredCountry, locale),
    representedCountry: countryAt(record, paths.representedCountry, locale),
  }
}

function subdivisionsOf(
  record: MmdbValue,
  { subdivisions: { list, parts } = { parts: [] } }: DetailPaths,
  country: string | null,
  locale: Locale,
): Subdivision[] {
  const listed = list === undefined ? [record] : valueAt(record, list)
  return (Array.isArray(listed) ? listed : []).flatMap((each) =>
    parts.flatMap(({ code, name, geonameId }) => {
      const region = new LocalizedRegion(regionCodeOf(country, textAt(each, code)), namesAt(each, name))
      const id = numberAt(each, geonameId)
      return region.isUnknown && id === null ? [] : { ...region.in(locale), geonameId: id }
    }),
  )
}

function countryAt(record: MmdbValue, paths: PartPaths | undefined, locale: Locale): Country {
  const code = textAt(record, paths?.code)
  const names = namesAt(record, paths?.name)
  const known = isCountry(code, names) ? names : Translations.NONE
  return new LocalizedCountry(countryCodeOf(code), known).in(locale)
}

function valueAt(record: MmdbValue, path: Path | undefined): MmdbValue | undefined {
  if (path === undefined) return undefined
  let value: MmdbValue | undefined = record
  for (const key of path) {
    value = value !== undefined && isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

function textAt(record: MmdbValue, path: Path | undefined): string | null {
  const value = valueAt(record, path)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A number, or a text of decimal digits. */
function numberAt(record: MmdbValue, path: Path | undefined): number | null {
  const value = valueAt(record, path)
  return typeof value === 'string' ? decimalOf(value) : typeof value === 'number' ? value : null
}

/** A single text is an English name. */
function namesAt(record: MmdbValue, path: Path | undefined): Translations {
  const value = valueAt(record, path)
  if (value === undefined) return Translations.NONE
  const names = isMap(value) ? Object.entries(value) : [['en', value] as const]
  return new Translations(
    new Map(names.filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '')),
  )
}
