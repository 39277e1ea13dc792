import { platformCountryName, platformEnglishName } from './country-name.ts'
import type { Locale } from './locale.ts'
import type { Country, Region } from './location-record.ts'
import type { Translations } from './translations.ts'

/** Locales whose parts one place remembers at most. */
const MAX_LOCALES = 16

/** A country or region of one database, which becomes a part of records in any locale. */
export abstract class LocalizedPart<Part extends Country | Region> {
  #lastLocale: Locale | undefined
  #last: Part | undefined
  readonly #parts = new Map<Locale, Part>()

  constructor(
    readonly code: string | null,
    readonly translations: Translations,
  ) {}

  /** The frozen part of a record, the same object for all records in this locale. */
  in(locale: Locale): Part {
    if (locale === this.#lastLocale && this.#last !== undefined) return this.#last
    let part = this.#parts.get(locale)
    if (part === undefined) {
      part = this.make(this.nameIn(locale))
      if (this.#parts.size >= MAX_LOCALES) this.#parts.clear()
      this.#parts.set(locale, part)
    }
    this.#lastLocale = locale
    this.#last = part
    return part
  }

  protected abstract make(name: string | null): Part
  protected abstract nameIn(locale: Locale): string | null
}

/** Its names: the database's in the language of the locale, the platform's, the database's in another. */
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
      (code === null ? null : platformEnglishName(code))
    )
  }
}

/** Its names: the database's in the language of the locale, else in another; platforms know none. */
export class LocalizedRegion extends LocalizedPart<Region> {
  protected override make(name: string | null): Region {
    return Object.freeze({ name, code: this.code })
  }

  protected override nameIn(locale: Locale): string | null {
    return this.translations.inLanguageOf(locale) ?? this.translations.fallbackFor(locale)
  }
}
