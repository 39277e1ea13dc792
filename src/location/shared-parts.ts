import { remember } from '../bytes/tables.ts'
import type { FieldReader } from '../mmdb/field-reader.ts'
import { countryCodeOf } from './country-codes.ts'
import { type Locale, localeOf } from './locale.ts'
import type { Country, Region } from './location-record.ts'
import { type Timezone, timezoneOf } from './timezone.ts'

/** Overhead of one name: the header of a text, and an entry in a map. All sizes here are estimates. */
const NAME_BYTES = 120
/** A country or region with its names in a few languages. */
export const LOCALIZED_PART_BYTES = 1000
/** A SharedParts object and its entry in the table. */
export const SHARED_PARTS_BYTES = 250
/** Texts up to this many characters are not counted individually. */
const MAX_UNCOUNTED_LENGTH = 32

/** Bytes of a text that is longer than most; 0 for other texts. */
export function longTextBytes(text: string | null): number {
  return text !== null && text.length > MAX_UNCOUNTED_LENGTH ? 2 * text.length : 0
}

/** The names that a database has for one country or region, by language tag. */
export class Translations {
  static readonly NONE = new Translations(new Map())

  /** Names by lower-case tag, because RFC 4647 ignores case. A number is the place of a name that is read when it is needed. */
  readonly #names = new Map<string, string | number>()
  readonly #textAt: ((place: number) => string) | undefined

  /**
   * @param byTag in the database's order, without empty names
   * @param textAt reads the name at a place; not needed for names that are texts
   */
  constructor(byTag: ReadonlyMap<string, string | number>, textAt?: (place: number) => string) {
    for (const [tag, name] of byTag) this.#names.set(tag.toLowerCase(), name)
    this.#textAt = textAt
  }

  /** All names, by lower-case tag. */
  get names(): ReadonlyMap<string, string> {
    return new Map([...this.#names].map(([tag, name]) => [tag, this.#text(name)]))
  }

  /** How many names there are. */
  get size(): number {
    return this.#names.size
  }

  /** The name in the locale's own language: by RFC 4647 lookup (`fr-CA`, `fr`), then `pt-BR` for `pt`. */
  inLanguageOf(locale: Locale): string | null {
    for (const tag of locale.range) {
      const name = this.#names.get(tag)
      if (name !== undefined) return this.#text(name)
    }
    return this.#firstMatch(locale, 'same')
  }

  /** The name to use without one in the locale's language: in another script, in English, or any. */
  fallbackFor(locale: Locale): string | null {
    return this.#firstMatch(locale, 'other-script') ?? this.english
  }

  /** The name in the locale's language, or else another one. */
  in(locale: Locale): string | null {
    return this.inLanguageOf(locale) ?? this.fallbackFor(locale)
  }

  /** The English name, or else the first one. */
  get english(): string | null {
    const name = this.#names.get('en') ?? this.#names.values().next().value
    return name === undefined ? null : this.#text(name)
  }

  #firstMatch(locale: Locale, match: 'same' | 'other-script'): string | null {
    for (const [tag, name] of this.#names) if (locale.match(tag) === match) return this.#text(name)
    return null
  }

  #text(name: string | number): string {
    return typeof name === 'string' ? name : (this.#textAt?.(name) ?? '')
  }
}

/** A name for all languages. */
class GivenName extends Translations {
  override inLanguageOf(): string | null {
    return this.english
  }
}

/** Locales cached for one country or region. */
const MAX_LOCALES = 16

/** A country or region of one database, from which parts of records are made in any locale. */
abstract class LocalizedPart<Part extends Country | Region> {
  readonly #parts = new Map<Locale, Part>()

  constructor(
    readonly code: string | null,
    readonly translations: Translations,
  ) {}

  get isUnknown(): boolean {
    return this.code === null && this.translations.size === 0
  }

  /** The frozen part of a record: one object for all records in this locale. */
  in(locale: Locale): Part {
    return remember(this.#parts, MAX_LOCALES, locale, () => Object.freeze(this.make(locale)))
  }

  protected abstract make(locale: Locale): Part
}

/** Takes the database's name in the locale's language, then the platform's, then the database's in another. */
export class LocalizedCountry extends LocalizedPart<Country> {
  protected override make(locale: Locale): Country {
    const { code, translations } = this
    const name =
      translations.inLanguageOf(locale) ??
      platformCountryName(code, locale) ??
      translations.fallbackFor(locale) ??
      platformCountryName(code, localeOf(undefined))
    return { code, name }
  }
}

/** Takes the database's name in the locale's language, then in another; platforms have no names of regions. */
export class LocalizedRegion extends LocalizedPart<Region> {
  protected override make(locale: Locale): Region {
    const { code, translations } = this
    return { name: translations.in(locale), code }
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
export function platformCountryName(code: string | null, { platformTag }: Locale): string | null {
  if (code === null || platformTag === null) return null
  return remember(formatters, MAX_FORMATTERS, platformTag, makeFormatter)?.of(code) ?? null
}

function makeFormatter(tag: string): Intl.DisplayNames | null {
  // For an unsupported language, Intl.DisplayNames would use the system's language.
  const supported = Intl.DisplayNames.supportedLocalesOf([tag]).length > 0
  return supported ? new Intl.DisplayNames([tag], { type: 'region', fallback: 'none' }) : null
}

const UNKNOWN: Country & Region = Object.freeze({ code: null, name: null })

/**
 * What many locations have in common. Databases have hundreds of thousands of locations but only a few thousand of
 * these, so lookups find them in the processor's cache.
 */
export class SharedParts {
  /** The last locale. Nearly all callers use one, so its parts are kept: without that, a lookup takes 1.05 of the time. */
  #locale: Locale | undefined
  #country: Country = UNKNOWN
  #region: Region = UNKNOWN

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
    if (locale !== this.#locale) this.#switchTo(locale)
    return this.#country
  }

  regionIn(locale: Locale): Region {
    if (locale !== this.#locale) this.#switchTo(locale)
    return this.#region
  }

  #switchTo(locale: Locale): void {
    this.#country = this.country.in(locale)
    this.#region = this.region.in(locale)
    this.#locale = locale
  }
}

/** The country, region and time zone of a record of any vendor. `null` means that the record does not have it. */
export interface RawParts {
  /** The ISO 3166-1 alpha-2 code, as the file spells it. */
  readonly countryCode: string | null
  readonly countryNames: Translations
  /** The ISO 3166-2 code, with or without the country code. */
  readonly regionCode: string | null
  readonly regionNames: Translations
  /** IANA time zone identifier. */
  readonly timeZone: string | null
}

/** Makes the names, countries, regions and shared parts of one database. Equal ones are one object. */
export class PartsMaker {
  /** Estimated memory of everything made so far. The owner bounds it, so the maps below need no bounds of their own. */
  retainedBytes = 0
  readonly #namesByOffset = new Map<number, Translations>()
  readonly #namesByText = new Map<string, Translations>()
  readonly #countries = new Map<Translations, Map<string | null, LocalizedCountry>>()
  readonly #regions = new Map<Translations, Map<string | null, LocalizedRegion>>()
  readonly #shared = new Map<LocalizedCountry, Map<LocalizedRegion, Map<string | null, SharedParts>>>()

  /** The names in a map by language, which records share through pointers. */
  fromMap(fields: FieldReader, name: string): Translations {
    const offset = fields.mapOffset(name)
    if (offset === null) return Translations.NONE
    return keep(this.#namesByOffset, offset, () => {
      const { offsets, bytes } = fields.textsAt(offset)
      this.retainedBytes += offsets.size * NAME_BYTES + 2 * bytes
      return new Translations(offsets, (place) => fields.textAt(place))
    })
  }

  /**
   * A single name, which vendors write in English.
   *
   * @param isForAll whether it is the name in all languages; the same for all names of a database
   */
  ofText(text: string, isForAll: boolean): Translations {
    return keep(this.#namesByText, text, () => {
      this.retainedBytes += NAME_BYTES + 2 * text.length
      return new (isForAll ? GivenName : Translations)(new Map([['en', text]]))
    })
  }

  make({ countryCode, countryNames, regionCode, regionNames, timeZone }: RawParts): SharedParts {
    const code = countryCodeOf(countryCode)
    const names = isCountry(countryCode, countryNames) ? countryNames : Translations.NONE
    const country = this.#part(this.#countries, names, code, LocalizedCountry)
    const region = this.#part(this.#regions, regionNames, regionCodeOf(code, regionCode), LocalizedRegion)
    const byRegion = keep(this.#shared, country, () => new Map())
    return keep(
      keep(byRegion, region, () => new Map<string | null, SharedParts>()),
      timeZone,
      () => {
        this.retainedBytes += SHARED_PARTS_BYTES + longTextBytes(timeZone)
        return new SharedParts(country, region, timezoneOf(timeZone))
      },
    )
  }

  /** Counts the memory of a text that the owner keeps. @param size its bytes in the file */
  countText(size: number): void {
    if (size > MAX_UNCOUNTED_LENGTH) this.retainedBytes += 2 * size
  }

  #part<Part>(
    parts: Map<Translations, Map<string | null, Part>>,
    names: Translations,
    code: string | null,
    Kind: new (code: string | null, names: Translations) => Part,
  ): Part {
    return keep(
      keep(parts, names, () => new Map<string | null, Part>()),
      code,
      () => {
        this.retainedBytes += LOCALIZED_PART_BYTES
        return new Kind(code, names)
      },
    )
  }
}

/** Lookups read this variable and not a constant of Number: see the test of these constants in test/architecture.test.ts. */
const UNBOUNDED = Number.POSITIVE_INFINITY

function keep<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  return remember(map, UNBOUNDED, key, make)
}

/** A code like those of ISO 3166-1 alpha-2. Vendors write A1 and A2 for kinds of networks. */
const TWO_LETTERS = /^[A-Z][A-Z0-9]$/i
/** ISO 3166-2 section 5.2: "up to three alphanumeric characters" after the country code. */
const REGION_SUFFIX = /^[A-Z0-9]{1,3}$/

/**
 * Whether a record has a country: a code of ISO 3166-1, or only a name. The name beside another code of two letters, such as
 * "Europe" for EU, is that of an area or of a kind of network.
 */
export function isCountry(code: string | null, names: Translations): boolean {
  return countryCodeOf(code) !== null || (names.size > 0 && !TWO_LETTERS.test(code ?? ''))
}

/** `US-CA` from `CA` or `US-CA`; `null` without a valid suffix, or if neither names the country. */
export function regionCodeOf(countryCode: string | null, code: string | null): string | null {
  const [, prefix = '', rest = ''] = /^(..)-(.*)$/s.exec(code ?? '') ?? []
  const ofPrefix = countryCodeOf(prefix)
  const country = countryCode ?? ofPrefix
  if (country === null || code === null) return null
  const suffix = (ofPrefix === country ? rest : code).toUpperCase()
  return REGION_SUFFIX.test(suffix) ? `${country}-${suffix}` : null
}
