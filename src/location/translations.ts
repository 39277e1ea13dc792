import type { FieldReader } from '../mmdb/field-reader.ts'
import { remember } from '../remember.ts'
import type { Locale } from './locale.ts'

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
