import type { FieldReader } from '../mmdb/field-reader.ts'
import { remember } from '../remember.ts'
import { Translations } from './translations.ts'

/** Names kept at most. Databases hold some thousand countries and regions; a hostile one any number. */
const MAX_NAMES = 8192

/** The names in one database, each object once: what is the same in the file is the same here. */
export class TranslationCache {
  readonly #byOffset = new Map<number, Translations>()
  readonly #byText = new Map<string, Translations>()
  #weight = 0

  /** About as many bytes as all names that were made take in memory, those that nobody keeps any more too. */
  get retainedBytes(): number {
    return this.#weight
  }

  /** The names in a map by language, which records share through pointers. */
  fromMap<Name extends string>(fields: FieldReader<Name>, name: Name): Translations {
    const offset = fields.mapOffset(name)
    if (offset === null) return Translations.NONE
    return remember(this.#byOffset, MAX_NAMES, offset, () => this.#made(new Translations(fields.texts(name))))
  }

  /** One name alone, which vendors write in English. */
  ofText(text: string | null): Translations {
    if (text === null) return Translations.NONE
    return remember(this.#byText, MAX_NAMES, text, () =>
      this.#made(new Translations(new Map([['en', text]]))),
    )
  }

  #made(names: Translations): Translations {
    this.#weight += names.retainedBytes
    return names
  }
}
