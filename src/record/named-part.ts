import { platformCountryName, platformEnglishName } from './country-name.ts'
import type { Locale } from './locale.ts'
import type { Country, Region } from './location-record.ts'
import type { Names } from './names.ts'

/** Locales whose parts one place remembers at most. */
const MAX_LOCALES = 16

/** A country or region of one database, which becomes a part of records in any locale. */
export abstract class NamedPart<Part extends Country | Region> {
  #lastLocale: Locale | undefined
  #last: Part | undefined
  readonly #parts = new Map<Locale, Part>()

  constructor(
    readonly code: string | null,
    readonly names: Names,
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
export class NamedCountry extends NamedPart<Country> {
  protected override make(name: string | null): Country {
    return Object.freeze({ code: this.code, name })
  }

  protected override nameIn(locale: Locale): string | null {
    const { code, names } = this
    return (
      names.inLanguageOf(locale) ??
      (code === null ? null : platformCountryName(code, locale)) ??
      names.insteadFor(locale) ??
      (code === null ? null : platformEnglishName(code))
    )
  }
}

/** Its names: the database's in the language of the locale, else in another; platforms know none. */
export class NamedRegion extends NamedPart<Region> {
  protected override make(name: string | null): Region {
    return Object.freeze({ name, code: this.code })
  }

  protected override nameIn(locale: Locale): string | null {
    return this.names.inLanguageOf(locale) ?? this.names.insteadFor(locale)
  }
}
