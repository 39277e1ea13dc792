import { remember } from '../remember.ts'
import { type Locale, localeOf } from './locale.ts'
import type { Country, Region } from './location-record.ts'
import type { Timezone } from './timezone.ts'
import type { Translations } from './translations.ts'

/**
 * What many locations have in common: country, region and time zone. Databases have hundreds of thousands of
 * locations but only a few thousand of these, so lookups find them in the processor's cache.
 */
export class SharedParts {
  /** Caches the parts in one locale, since nearly all callers use one. */
  #locale: Locale | undefined
  #country: Country | undefined
  #region: Region | undefined

  constructor(
    readonly country: LocalizedCountry,
    readonly region: LocalizedRegion,
    readonly timezone: Timezone,
  ) {}

  /** Whether both country and region have neither a code nor a name. */
  get isUnknown(): boolean {
    return this.country.isUnknown && this.region.isUnknown
  }

  countryIn(locale: Locale): Country {
    return locale === this.#locale && this.#country !== undefined
      ? this.#country
      : this.#switchTo(locale).country
  }

  regionIn(locale: Locale): Region {
    return locale === this.#locale && this.#region !== undefined
      ? this.#region
      : this.#switchTo(locale).region
  }

  #switchTo(locale: Locale): { country: Country; region: Region } {
    const country = this.country.in(locale)
    const region = this.region.in(locale)
    this.#locale = locale
    this.#country = country
    this.#region = region
    return { country, region }
  }
}

/** Time zones stored for one region; only hostile files have more. */
const MAX_ZONES = 16

/** The shared parts of one database: one object for each combination of country, region and time zone. */
export class SharedPartsTable {
  readonly #byCountry = new WeakMap<LocalizedCountry, WeakMap<LocalizedRegion, SharedParts[]>>()
  #created = 0

  /** How many objects were created. */
  get created(): number {
    return this.#created
  }

  of(country: LocalizedCountry, region: LocalizedRegion, timezone: Timezone): SharedParts {
    const byRegion = this.#byCountry.get(country) ?? new WeakMap<LocalizedRegion, SharedParts[]>()
    this.#byCountry.set(country, byRegion)
    const byZone = byRegion.get(region) ?? []
    byRegion.set(region, byZone)
    let parts = byZone.find((each) => each.timezone === timezone)
    if (parts === undefined) {
      parts = new SharedParts(country, region, timezone)
      this.#created++
      if (byZone.length >= MAX_ZONES) byZone.length = 0
      byZone.push(parts)
    }
    return parts
  }
}

/** Locales cached for one country or region. */
const MAX_LOCALES = 16

/** A country or region of one database, from which parts of records are made in any locale. */
export abstract class LocalizedPart<Part extends Country | Region> {
  #lastLocale: Locale | undefined
  #last: Part | undefined
  readonly #parts = new Map<Locale, Part>()

  constructor(
    readonly code: string | null,
    readonly translations: Translations,
  ) {}

  get isUnknown(): boolean {
    return this.code === null && this.translations.english === null
  }

  /** The frozen part of a record: one object for all records in this locale. */
  in(locale: Locale): Part {
    if (locale === this.#lastLocale && this.#last !== undefined) return this.#last
    const part = remember(this.#parts, MAX_LOCALES, locale, () => this.make(this.nameIn(locale)))
    this.#lastLocale = locale
    this.#last = part
    return part
  }

  protected abstract make(name: string | null): Part
  protected abstract nameIn(locale: Locale): string | null
}

/** Takes the database's name in the locale's language, then the platform's, then the database's in another. */
export class LocalizedCountry extends LocalizedPart<Country> {
  protected override make(name: string | null): Country {
    return Object.freeze({ code: this.code, name })
  }

  protected override nameIn(locale: Locale): string | null {
    const { code, translations } = this
    return (
      translations.inLanguageOf(locale) ??
      (code === null ? null : platformCountryName(code, locale)) ??
      translations.fallbackFor(locale) ??
      (code === null ? null : platformCountryName(code, localeOf(undefined)))
    )
  }
}

/** Takes the database's name in the locale's language, then in another; platforms have no names of regions. */
export class LocalizedRegion extends LocalizedPart<Region> {
  protected override make(name: string | null): Region {
    return Object.freeze({ name, code: this.code })
  }

  protected override nameIn(locale: Locale): string | null {
    return this.translations.inLanguageOf(locale) ?? this.translations.fallbackFor(locale)
  }
}

/** Each formatter holds its locale's data in native memory. */
const MAX_FORMATTERS = 64

const formatters = new Map<string, Intl.DisplayNames | null>()

/**
 * A country's name from the platform's CLDR data; `null` if the platform does not have the language or the code.
 *
 * @param code ISO 3166-1 alpha-2, upper case
 */
export function platformCountryName(code: string, locale: Locale): string | null {
  const { platformTag } = locale
  if (platformTag === null) return null
  return remember(formatters, MAX_FORMATTERS, platformTag, makeFormatter)?.of(code) ?? null
}

function makeFormatter(tag: string): Intl.DisplayNames | null {
  // For an unsupported language, Intl.DisplayNames would use the system's language.
  const supported = Intl.DisplayNames.supportedLocalesOf([tag]).length > 0
  return supported ? new Intl.DisplayNames([tag], { type: 'region', fallback: 'none' }) : null
}
