import type { FieldReader } from '../mmdb/field-reader.ts'
import { type Locale, localeOf } from './locale.ts'
import type { Country, Region } from './location-record.ts'
import { remember } from './tables.ts'
import { type Timezone, timezoneOf } from './timezone.ts'

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

/** The names that a database has for one country or region, by language tag. */
export class Translations {
  static readonly NONE = new Translations(new Map())

  /** Estimated memory of the names. */
  readonly retainedBytes: number
  readonly #byTag: ReadonlyMap<string, string>
  /** The same by lower-case tag, since RFC 4647 ignores case. */
  readonly #byLowerTag: ReadonlyMap<string, string>

  /** @param byTag in the database's order, without empty names */
  constructor(byTag: ReadonlyMap<string, string>) {
    this.#byTag = byTag
    this.retainedBytes = estimateBytes(byTag)
    this.#byLowerTag = new Map(Array.from(byTag, ([tag, name]) => [tag.toLowerCase(), name]))
  }

  /** The name in the locale's own language: by RFC 4647 lookup (`fr-CA`, `fr`), then `pt-BR` for `pt`. */
  inLanguageOf(locale: Locale): string | null {
    for (const tag of locale.range) {
      const name = this.#byLowerTag.get(tag)
      if (name !== undefined) return name
    }
    return this.#firstMatch(locale, 'same')
  }

  /** The name to use without one in the locale's language: in another script, in English, or any. */
  fallbackFor(locale: Locale): string | null {
    return this.#firstMatch(locale, 'other-script') ?? this.english
  }

  /** The English name, or else the first one. */
  get english(): string | null {
    return this.#byLowerTag.get('en') ?? this.#byTag.values().next().value ?? null
  }

  #firstMatch(locale: Locale, match: 'same' | 'other-script'): string | null {
    for (const [tag, name] of this.#byTag) if (locale.match(tag) === match) return name
    return null
  }
}

/** Overhead of one name: the headers of two tags and a text, and entries in two maps. */
const NAME_BYTES = 160

function estimateBytes(byTag: ReadonlyMap<string, string>): number {
  let bytes = 0
  for (const [tag, name] of byTag) bytes += NAME_BYTES + 2 * (2 * tag.length + name.length)
  return bytes
}

/** Limit for cached names. Databases have a few thousand countries and regions; a hostile one can have any number. */
const MAX_NAMES = 8192

/** Makes the names of one database: the same names in the file are the same object. */
export class TranslationCache {
  readonly #byOffset = new Map<number, Translations>()
  readonly #byText = new Map<string, Translations>()
  #retainedBytes = 0

  /** Estimated memory of all names made so far, including names that are no longer referenced. */
  get retainedBytes(): number {
    return this.#retainedBytes
  }

  /** The names in a map by language, which records share through pointers. */
  fromMap<Name extends string>(fields: FieldReader<Name>, name: Name): Translations {
    const offset = fields.mapOffset(name)
    if (offset === null) return Translations.NONE
    return remember(this.#byOffset, MAX_NAMES, offset, () =>
      this.#counted(new Translations(fields.texts(name))),
    )
  }

  /** A single name, which vendors write in English. */
  ofText(text: string | null): Translations {
    if (text === null) return Translations.NONE
    return remember(this.#byText, MAX_NAMES, text, () =>
      this.#counted(new Translations(new Map([['en', text]]))),
    )
  }

  #counted(names: Translations): Translations {
    this.#retainedBytes += names.retainedBytes
    return names
  }
}

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

/** The country, region and time zone of a record of any vendor. `null` means that the record does not have it. */
export interface RawParts {
  /** ISO 3166-1 alpha-2, as the file spells it. */
  readonly countryCode: string | null
  readonly countryNames: Translations
  /** The ISO 3166-2 code, with or without the country code. */
  readonly regionCode: string | null
  readonly regionNames: Translations
  /** IANA time zone identifier. */
  readonly timeZone: string | null
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
