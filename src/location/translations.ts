import type { Locale } from './locale.ts'

/** The names that a database has for one thing, by language tag. */
export class Translations {
  static readonly NONE = new Translations(new Map())

  /** About as many bytes as they take in memory. */
  readonly retainedBytes: number
  readonly #byTag: ReadonlyMap<string, string>
  /** The same with tags in lower case, for RFC 4647, which ignores case. */
  readonly #byLowerTag: ReadonlyMap<string, string>

  /** @param byTag in the database's order; no name is empty */
  constructor(byTag: ReadonlyMap<string, string>) {
    this.#byTag = byTag
    this.retainedBytes = weigh(byTag)
    this.#byLowerTag = new Map(Array.from(byTag, ([tag, name]) => [tag.toLowerCase(), name]))
  }

  /** The name in a locale's own language: by RFC 4647 lookup (`fr-CA`, `fr`), then `pt-BR` for `pt`. */
  inLanguageOf(locale: Locale): string | null {
    for (const tag of locale.range) {
      const name = this.#byLowerTag.get(tag)
      if (name !== undefined) return name
    }
    return this.#byKinship(locale, 'same')
  }

  /** The name for a reader whose language is not there: in another script, in English, or any. */
  fallbackFor(locale: Locale): string | null {
    return this.#byKinship(locale, 'other-script') ?? this.english
  }

  /** The English name, or the first there is. */
  get english(): string | null {
    return this.#byLowerTag.get('en') ?? this.#byTag.values().next().value ?? null
  }

  #byKinship(locale: Locale, kinship: 'same' | 'other-script'): string | null {
    for (const [tag, name] of this.#byTag) if (locale.match(tag) === kinship) return name
    return null
  }
}

/** Of one name: its tag, once more in lower case, and its text, each with a header, in two maps. Bytes. */
const NAME_WEIGHT = 160

function weigh(byTag: ReadonlyMap<string, string>): number {
  let weight = 0
  for (const [tag, name] of byTag) weight += NAME_WEIGHT + 2 * (2 * tag.length + name.length)
  return weight
}
