import type { Locale } from '../location/locale.ts'
import { usualCase } from '../location/locale.ts'
import type { Coordinates } from '../location/location-record.ts'
import type { Location } from '../location/location-table.ts'
import { coordinatesOf } from '../location/schema.ts'
import { type LocalizedCountry, type LocalizedRegion, Translations } from '../location/shared-parts.ts'
import { NO_INSTANT } from '../location/timezone.ts'
import { double, float, type WritableValue } from '../mmdb/writer/value.ts'
import type { ValueTable } from '../mmdb/writer/value-table.ts'

/** The fields of a LocationRecord that a database can hold. */
export const EDITED_FIELDS = ['country', 'region', 'city', 'postal_code', 'coordinates', 'timezone'] as const

export type LocationField = (typeof EDITED_FIELDS)[number]

/** A record with none of these fields is no location: see {@link LocationValues.add}. */
export const PLACE_FIELDS: readonly LocationField[] = ['country', 'region', 'city', 'coordinates']

/** Which fields and names of a location are written. */
export interface Projection {
  readonly fields: ReadonlySet<LocationField>
  /** `null` keeps all names. */
  readonly locales: readonly Locale[] | null
}

/** Writes locations as records with the schema of GeoIP2, which most readers know. */
export class LocationValues {
  /** Language tags of the names written so far. */
  readonly languages = new Set<string>()
  readonly #values: ValueTable
  readonly #projection: Projection
  /** Ids of the values of countries. Many locations share them. */
  readonly #countries = new WeakMap<LocalizedCountry, number>()
  /** Ids of the values of regions, with the country in their codes or without it. */
  readonly #regions = {
    whole: new WeakMap<LocalizedRegion, number>(),
    suffix: new WeakMap<LocalizedRegion, number>(),
  }

  constructor(values: ValueTable, projection: Projection) {
    this.#values = values
    this.#projection = projection
  }

  /**
   * Adds the record of a location to the table. Looking it up gives the kept fields of the location, and `null` for the
   * others.
   *
   * @returns the id of its value; `null` when none of country, region, city and coordinates is left, because that is not
   *   a location
   */
  add({ shared, city, postalCode, coordinates }: Location): number | null {
    const { fields } = this.#projection
    const country = fields.has('country') && !shared.country.isUnknown ? shared.country : null
    const region = fields.has('region') && !shared.region.isUnknown ? shared.region : null
    const town = fields.has('city') ? city : null
    const position = fields.has('coordinates') ? positionOf(coordinates) : null
    if (country === null && region === null && town === null && position === null) return null
    // Without an instant, no offset is computed: it would need a formatter for each zone.
    const zone = fields.has('timezone') ? shared.timezone.at(NO_INSTANT).id : null
    const place = { ...position, ...(zone === null ? {} : { time_zone: zone }) }
    const parts: (readonly [name: string, id: number])[] = []
    const add = (name: string, value: WritableValue): number =>
      parts.push([name, this.#values.add(value, name)])
    if (town !== null) {
      add('city', { names: { en: town } })
      this.languages.add('en')
    }
    if (country !== null) parts.push(['country', this.#countryId(country)])
    if (Object.keys(place).length > 0) add('location', place)
    if (fields.has('postal_code') && postalCode !== null) add('postal', { code: postalCode })
    // GeoIP2 writes the code of a region without the country, unless the record has no country.
    const form = country !== null && country.code !== null ? 'suffix' : 'whole'
    if (region !== null) parts.push(['subdivisions', this.#regionsId(region, form)])
    return this.#values.addMap(parts)
  }

  #countryId(country: LocalizedCountry): number {
    const { code, translations } = country
    return this.#partId(this.#countries, country, () => this.#part(code, translations))
  }

  #regionsId(region: LocalizedRegion, form: 'whole' | 'suffix'): number {
    const { code, translations } = region
    const written = form === 'suffix' && code !== null ? code.slice(code.indexOf('-') + 1) : code
    return this.#partId(this.#regions[form], region, () => [this.#part(written, translations)])
  }

  #partId<Part extends object>(ids: WeakMap<Part, number>, part: Part, make: () => WritableValue): number {
    let id = ids.get(part)
    if (id === undefined) {
      id = this.#values.add(make())
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
    const { locales } = this.#projection
    // Each tag as its own name, so that a lookup tells which tag it uses.
    const tags = new Translations(new Map([...names.keys()].map((tag) => [tag, tag])))
    const used = new Set(locales?.map((locale) => tags.inLanguageOf(locale) ?? tags.fallbackFor(locale)))
    const kept = new Map<string, string>()
    for (const [tag, name] of names) if (locales === null || used.has(tag)) kept.set(usualCase(tag), name)
    return kept
  }
}

/** Decimal degrees: 32-bit floats if a lookup then gives the same, which takes half the room. */
function positionOf({ latitude, longitude }: Coordinates): { readonly [name: string]: WritableValue } | null {
  if (latitude === null || longitude === null) return null
  const rounded = coordinatesOf(Math.fround(latitude), Math.fround(longitude))
  const isSame = rounded.latitude === latitude && rounded.longitude === longitude
  const number = isSame ? float : double
  return { latitude: number(latitude), longitude: number(longitude) }
}
