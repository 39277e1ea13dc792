import { type Area, AreaTable } from './area.ts'
import { coordinatesOf, NO_COORDINATES } from './coordinates.ts'
import type { Facts } from './facts.ts'
import type { Locale } from './locale.ts'
import type { Coordinates, LocationRecord } from './location-record.ts'
import { NamedCountry, NamedRegion } from './named-part.ts'
import type { Names } from './names.ts'
import { timezoneOf } from './timezone.ts'

const COUNTRY_CODE = /^[A-Z]{2}$/
/** The part behind the country: "up to three alphanumeric characters", ISO 3166-2 section 5.2. */
const REGION_SUFFIX = /^[A-Z0-9]{1,3}$/

/** Codes remembered beside the same names, at most; a hostile file can have any number. */
const MAX_CODES = 4096

/** What a country or region takes, in a few languages. Bytes. */
export const PART_WEIGHT = 1000

/** What an area takes, with its place in the table. Bytes. */
export const AREA_WEIGHT = 250

/** No name of a place that is longer is many. Characters. */
const USUAL_TEXT = 32

/** One record of a database as a place, ready to be put into LocationRecords. */
export class Place {
  constructor(
    readonly area: Area,
    readonly city: string | null,
    readonly postalCode: string | null,
    readonly coordinates: Coordinates,
  ) {}

  /**
   * @param ip canonical text of the address asked for
   * @param at milliseconds since 1970
   */
  record(ip: string, locale: Locale, at: number): LocationRecord {
    const { area } = this
    return {
      ip,
      country: area.countryIn(locale),
      region: area.regionIn(locale),
      city: this.city,
      postal_code: this.postalCode,
      coordinates: this.coordinates,
      timezone: area.timezone.at(at),
    }
  }

  /** Whether both give the same records. Areas are made once, so they are compared as objects. */
  equals(other: Place): boolean {
    return (
      this.area === other.area &&
      this.city === other.city &&
      this.postalCode === other.postalCode &&
      this.coordinates.latitude === other.coordinates.latitude &&
      this.coordinates.longitude === other.coordinates.longitude
    )
  }
}

/** Makes the places of one database, which share their countries and regions. */
export class PlaceMaker {
  readonly #countries = new WeakMap<Names, Map<string | null, NamedCountry>>()
  readonly #regions = new WeakMap<Names, Map<string | null, NamedRegion>>()
  readonly #areas = new AreaTable()
  #weight = 0

  /**
   * About as many bytes as all that was made takes in memory, but for names and for places whose texts are
   * short: of those a cache has a number. Counts also what nobody keeps any more.
   */
  get weight(): number {
    return this.#weight + this.#areas.made * AREA_WEIGHT
  }

  /** @returns `null` for facts that are no location: none of country, region, city and coordinates */
  place(facts: Facts): Place | null {
    const countryCode = validCode(facts.countryCode, COUNTRY_CODE)
    const country = this.#shared(this.#countries, facts.countryNames, countryCode, NamedCountry)
    const regionCode = regionCodeOf(countryCode, facts.regionCode)
    const region = this.#shared(this.#regions, facts.regionNames, regionCode, NamedRegion)
    const coordinates = coordinatesOf(facts.latitude, facts.longitude)
    const isLocation =
      !isUnknown(country) || !isUnknown(region) || facts.city !== null || coordinates !== NO_COORDINATES
    if (!isLocation) return null
    const { city, postalCode, timeZone } = facts
    const area = this.#areas.of(country, region, timezoneOf(timeZone))
    for (const text of [city, postalCode, timeZone]) this.#weight += longTextWeight(text)
    return new Place(area, city, postalCode, coordinates)
  }

  #shared<Part>(
    parts: WeakMap<Names, Map<string | null, Part>>,
    names: Names,
    code: string | null,
    Kind: new (code: string | null, names: Names) => Part,
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
      this.#weight += PART_WEIGHT
    }
    return part
  }
}

/** What a text of a place takes that is longer than usual ones. Bytes. */
export function longTextWeight(text: string | null): number {
  return text !== null && text.length > USUAL_TEXT ? 2 * text.length : 0
}

function isUnknown(part: NamedCountry | NamedRegion): boolean {
  return part.code === null && part.names.english === null
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
