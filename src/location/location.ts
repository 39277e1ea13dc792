import { coordinatesOf, NO_COORDINATES } from './coordinates.ts'
import type { RawLocation } from './facts.ts'
import type { Locale } from './locale.ts'
import type { Coordinates, LocationRecord } from './location-record.ts'
import { LocalizedCountry, LocalizedRegion } from './named-part.ts'
import { type SharedParts, SharedPartsTable } from './shared-parts.ts'
import { timezoneOf } from './timezone.ts'
import type { Translations } from './translations.ts'

const COUNTRY_CODE = /^[A-Z]{2}$/
/** The part behind the country: "up to three alphanumeric characters", ISO 3166-2 section 5.2. */
const REGION_SUFFIX = /^[A-Z0-9]{1,3}$/

/** Codes remembered beside the same names, at most; a hostile file can have any number. */
const MAX_CODES = 4096

/** What a country or region takes, in a few languages. Bytes. */
export const LOCALIZED_PART_BYTES = 1000

/** What an area takes, with its place in the table. Bytes. */
export const SHARED_PARTS_BYTES = 250

/** No name of a place that is longer is many. Characters. */
const MAX_UNCOUNTED_LENGTH = 32

/** One record of a database as a place, ready to be put into LocationRecords. */
export class Location {
  constructor(
    readonly shared: SharedParts,
    readonly city: string | null,
    readonly postalCode: string | null,
    readonly coordinates: Coordinates,
  ) {}

  /**
   * @param ip canonical text of the address asked for
   * @param at milliseconds since 1970
   */
  record(ip: string, locale: Locale, at: number): LocationRecord {
    const { shared } = this
    return {
      ip,
      country: shared.countryIn(locale),
      region: shared.regionIn(locale),
      city: this.city,
      postal_code: this.postalCode,
      coordinates: this.coordinates,
      timezone: shared.timezone.at(at),
    }
  }

  /** Whether both give the same records. Areas are made once, so they are compared as objects. */
  equals(other: Location): boolean {
    return (
      this.shared === other.shared &&
      this.city === other.city &&
      this.postalCode === other.postalCode &&
      this.coordinates.latitude === other.coordinates.latitude &&
      this.coordinates.longitude === other.coordinates.longitude
    )
  }
}

/** Makes the places of one database, which share their countries and regions. */
export class LocationMaker {
  readonly #countries = new WeakMap<Translations, Map<string | null, LocalizedCountry>>()
  readonly #regions = new WeakMap<Translations, Map<string | null, LocalizedRegion>>()
  readonly #areas = new SharedPartsTable()
  #weight = 0

  /**
   * About as many bytes as all that was made takes in memory, but for names and for places whose texts are
   * short: of those a cache has a number. Counts also what nobody keeps any more.
   */
  get retainedBytes(): number {
    return this.#weight + this.#areas.created * SHARED_PARTS_BYTES
  }

  /** @returns `null` for facts that are no location: none of country, region, city and coordinates */
  make(facts: RawLocation): Location | null {
    const countryCode = validCode(facts.countryCode, COUNTRY_CODE)
    const country = this.#shared(this.#countries, facts.countryNames, countryCode, LocalizedCountry)
    const regionCode = regionCodeOf(countryCode, facts.regionCode)
    const region = this.#shared(this.#regions, facts.regionNames, regionCode, LocalizedRegion)
    const coordinates = coordinatesOf(facts.latitude, facts.longitude)
    const isLocation =
      !isUnknown(country) || !isUnknown(region) || facts.city !== null || coordinates !== NO_COORDINATES
    if (!isLocation) return null
    const { city, postalCode, timeZone } = facts
    const area = this.#areas.of(country, region, timezoneOf(timeZone))
    for (const text of [city, postalCode, timeZone]) this.#weight += longTextBytes(text)
    return new Location(area, city, postalCode, coordinates)
  }

  #shared<Part>(
    parts: WeakMap<Translations, Map<string | null, Part>>,
    names: Translations,
    code: string | null,
    Kind: new (code: string | null, names: Translations) => Part,
  ): Part {
    let byCode = parts.get(names)
    if (byCode === undefined) {
      byCode = new Map()
      parts.set(names, byCode)
    }
    let part = byCode.get(code)
    if (part === undefined) {
      part = new Kind(code, names)
      if (byCode.size >= MAX_CODES) byCode.clear()
      byCode.set(code, part)
      this.#weight += LOCALIZED_PART_BYTES
    }
    return part
  }
}

/** What a text of a place takes that is longer than usual ones. Bytes. */
export function longTextBytes(text: string | null): number {
  return text !== null && text.length > MAX_UNCOUNTED_LENGTH ? 2 * text.length : 0
}

function isUnknown(part: LocalizedCountry | LocalizedRegion): boolean {
  return part.code === null && part.translations.english === null
}

function validCode(code: string | null, pattern: RegExp): string | null {
  const upper = code?.toUpperCase() ?? ''
  return pattern.test(upper) ? upper : null
}

/** `US-CA` from `CA` or `US-CA`; `null` where the country or a valid suffix is missing. */
function regionCodeOf(countryCode: string | null, code: string | null): string | null {
  if (countryCode === null || code === null) return null
  const prefix = `${countryCode}-`
  const suffix = code.toUpperCase().startsWith(prefix) ? code.slice(prefix.length) : code
  const valid = validCode(suffix, REGION_SUFFIX)
  return valid === null ? null : prefix + valid
}
