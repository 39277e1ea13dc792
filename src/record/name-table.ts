import type { FieldReader } from '../mmdb/field-reader.ts'
import { Names } from './names.ts'
import { remember } from './remember.ts'

/** Names kept at most. Databases hold some thousand countries and regions; a hostile one any number. */
const MAX_NAMES = 8192

/** The names in one database, each object once: what is the same in the file is the same here. */
export class NameTable {
  readonly #byOffset = new Map<number, Names>()
  readonly #byText = new Map<string, Names>()
  #weight = 0

  /** About as many bytes as all names that were made take in memory, those that nobody keeps any more too. */
  get weight(): number {
    return this.#weight
  }

  /** The names in a map by language, which records share through pointers. */
  inMap<Name extends string>(fields: FieldReader<Name>, name: Name): Names {
    const offset = fields.mapOffset(name)
    if (offset === null) return Names.NONE
    return remember(this.#byOffset, MAX_NAMES, offset, () => this.#made(new Names(fields.texts(name))))
  }

  /** One name alone, which vendors write in English. */
  only(text: string | null): Names {
    if (text === null) return Names.NONE
    return remember(this.#byText, MAX_NAMES, text, () => this.#made(new Names(new Map([['en', text]]))))
  }

  #made(names: Names): Names {
    this.#weight += names.weight
    return names
  }
}
