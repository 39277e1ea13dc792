import type { Locale } from './locale.ts'
import type { Country, Region } from './location-record.ts'
import type { LocalizedCountry, LocalizedRegion } from './named-part.ts'
import type { Timezone } from './timezone.ts'

/**
 * What many places share: country, region and time zone. Databases have hundreds of thousands of places in a few
 * thousand areas, so what a lookup reads of an area is in the processor's cache.
 */
export class SharedParts {
  /** In the language last asked for, because nearly all callers have one. */
  #locale: Locale | undefined
  #country: Country | undefined
  #region: Region | undefined

  constructor(
    readonly country: LocalizedCountry,
    readonly region: LocalizedRegion,
    readonly timezone: Timezone,
  ) {}

  countryIn(locale: Locale): Country {
    return locale === this.#locale && this.#country !== undefined
      ? this.#country
      : this.#turnTo(locale).country
  }

  regionIn(locale: Locale): Region {
    return locale === this.#locale && this.#region !== undefined ? this.#region : this.#turnTo(locale).region
  }

  #turnTo(locale: Locale): { country: Country; region: Region } {
    const country = this.country.in(locale)
    const region = this.region.in(locale)
    this.#locale = locale
    this.#country = country
    this.#region = region
    return { country, region }
  }
}

/** Time zones that the areas of one region have at most, where a file is honest. */
const MAX_ZONES = 16

/** Makes the areas of one database, each once. */
export class SharedPartsTable {
  readonly #areas = new WeakMap<LocalizedCountry, WeakMap<LocalizedRegion, SharedParts[]>>()
  #made = 0

  /** How many were made. */
  get created(): number {
    return this.#made
  }

  of(country: LocalizedCountry, region: LocalizedRegion, timezone: Timezone): SharedParts {
    const byRegion = this.#areas.get(country) ?? new WeakMap<LocalizedRegion, SharedParts[]>()
    this.#areas.set(country, byRegion)
    const areas = byRegion.get(region) ?? []
    byRegion.set(region, areas)
    let area = areas.find((each) => each.timezone === timezone)
    if (area === undefined) {
      area = new SharedParts(country, region, timezone)
      this.#made++
      if (areas.length >= MAX_ZONES) areas.length = 0
      areas.push(area)
    }
    return area
  }
}
