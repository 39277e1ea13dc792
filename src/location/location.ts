import { remember } from '../remember.ts'
import type { Locale } from './locale.ts'
import type { Coordinates, LocationRecord } from './location-record.ts'
import type { RawParts } from './schema.ts'
import { LocalizedCountry, LocalizedRegion, type SharedParts, SharedPartsTable } from './shared-parts.ts'
import { timezoneOf } from './timezone.ts'
import type { Translations } from './translations.ts'

const COUNTRY_CODE = /^[A-Z]{2}$/
/** ISO 3166-2 section 5.2: "up to three alphanumeric characters" after the country code. */
const REGION_SUFFIX = /^[A-Z0-9]{1,3}$/

/** Codes cached for one set of names; a hostile file can have any number. */
const MAX_CODES = 4096

/** Estimated memory of a country or region with its names in a few languages. */
export const LOCALIZED_PART_BYTES = 1000

/** Estimated memory of a SharedParts object and its entry in the table. */
export const SHARED_PARTS_BYTES = 250

/** Texts up to this many characters are not counted individually. */
const MAX_UNCOUNTED_LENGTH = 32

/** One distinct location of a database. */
export class Location {
  constructor(
    readonly shared: SharedParts,
    readonly city: string | null,
    readonly postalCode: string | null,
    readonly coordinates: Coordinates,
  ) {}

  /**
   * @param ip canonical text of the address that was looked up
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
}

/** Makes the countries, regions and time zones of one database: equal ones are one object. */
export class PartsMaker {
  readonly #countries = new WeakMap<Translations, Map<string | null, LocalizedCountry>>()
  readonly #regions = new WeakMap<Translations, Map<string | null, LocalizedRegion>>()
  readonly #sharedParts = new SharedPartsTable()
  #partBytes = 0

  /** Estimated memory of everything made so far, without names, which the reader counts. */
  get retainedBytes(): number {
    return this.#partBytes + this.#sharedParts.created * SHARED_PARTS_BYTES
  }

  make(raw: RawParts): SharedParts {
    const countryCode = validCode(raw.countryCode, COUNTRY_CODE)
    const country = this.#part(this.#countries, raw.countryNames, countryCode, LocalizedCountry)
    const regionCode = regionCodeOf(countryCode, raw.regionCode)
    const region = this.#part(this.#regions, raw.regionNames, regionCode, LocalizedRegion)
    this.#partBytes += longTextBytes(raw.timeZone)
    return this.#sharedParts.of(country, region, timezoneOf(raw.timeZone))
  }

  #part<Part>(
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
    return remember(byCode, MAX_CODES, code, () => {
      this.#partBytes += LOCALIZED_PART_BYTES
      return new Kind(code, names)
    })
  }
}

/** Memory of a text that is longer than most; 0 for other texts. */
export function longTextBytes(text: string | null): number {
  return text !== null && text.length > MAX_UNCOUNTED_LENGTH ? 2 * text.length : 0
}

function validCode(code: string | null, pattern: RegExp): string | null {
  const upper = code?.toUpperCase() ?? ''
  return pattern.test(upper) ? upper : null
}

/** `US-CA` from `CA` or `US-CA`; `null` without a country or a valid suffix. */
function regionCodeOf(countryCode: string | null, code: string | null): string | null {
  if (countryCode === null || code === null) return null
  const prefix = `${countryCode}-`
  const suffix = code.toUpperCase().startsWith(prefix) ? code.slice(prefix.length) : code
  const valid = validCode(suffix, REGION_SUFFIX)
  return valid === null ? null : prefix + valid
}

/** The coordinates of a record that has none, or unusable ones. */
export const NO_COORDINATES: Coordinates = Object.freeze({ latitude: null, longitude: null })

/**
 * Both coordinates, or {@link NO_COORDINATES} if one is missing or out of range, or if both are 0: databases
 * write 0, 0 (in the Gulf of Guinea) for an unknown location.
 */
export function coordinatesOf(latitude: number | null, longitude: number | null): Coordinates {
  if (latitude === null || longitude === null) return NO_COORDINATES
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return NO_COORDINATES
  if (latitude === 0 && longitude === 0) return NO_COORDINATES
  return Object.freeze({ latitude: shortest(latitude), longitude: shortest(longitude) })
}

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

/** Decimals from none to 11, which only floats below 0.01 can exceed. */
const SCALES = Array.from({ length: 12 }, (_, decimals) => 10 ** decimals)
