import { quoted } from '../address/quoted.ts'
import { InvalidLocaleError } from '../errors.ts'
import { remember } from '../remember.ts'

/** Locales remembered at most; a caller who passes on hostile tags must not fill the memory. */
const MAX_REMEMBERED = 256

/** Tags of databases remembered at most: the languages that a place can have names in, and more. */
const MAX_TAGS = 4096

/** What all tags look like; to ask Intl about a text that is none takes a hundred times longer. */
const TAG = /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i

/** No sensible tag is longer (RFC 5646 section 4.4.1 asks for room for 35 characters). */
const MAX_TAG = 128

/** A language to name places in: a validated BCP 47 tag. */
export class Locale {
  /** Canonical spelling, such as `pt-BR`. */
  readonly tag: string
  /** Lower-case tags from the most to the least specific, as RFC 4647 section 3.4 (lookup) shortens them. */
  readonly range: readonly string[]
  readonly #language: string
  readonly #script: string | undefined

  /** @throws InvalidLocaleError when the tag is not one of BCP 47 */
  constructor(tag: unknown) {
    const read = readTag(tag)
    if (read === undefined) {
      throw new InvalidLocaleError(
        `${typeof tag === 'string' ? quoted(tag) : tag === null ? 'null' : typeof tag} is not a BCP 47 language tag; write one such as "en", "pt-BR" or "zh-Hant"`,
      )
    }
    this.tag = read.canonical
    this.range = shortened(read.canonical.toLowerCase())
    this.#language = read.full.language
    this.#script = read.full.script
  }

  /** How near a tag of a database is to this locale; the same language in another script is not the same. */
  match(tag: string): LanguageMatch {
    // Longer ones are no tags, and would be remembered for good.
    if (tag.length > MAX_TAG) return 'none'
    const other = remember(writings, MAX_TAGS, tag, writingOf)
    if (other.language !== this.#language) return 'none'
    return other.script === this.#script ? 'same' : 'other-script'
  }
}

export type LanguageMatch = 'same' | 'other-script' | 'none'

/** What a tag is written in; without a language where it is no tag. */
interface Writing {
  readonly language?: string
  readonly script?: string | undefined
}

const NOT_WRITTEN: Writing = {}
const writings = new Map<string, Writing>()

function writingOf(tag: string): Writing {
  const full = readTag(tag)?.full
  return full === undefined ? NOT_WRITTEN : { language: full.language, script: full.script }
}

/** The default of every lookup. */
let english: Locale | undefined
const locales = new Map<string, Locale>()

/**
 * The locale of an option's value, `en` when it is not given. The same tag gives the same object while it
 * is remembered.
 *
 * @throws InvalidLocaleError
 */
export function localeOf(tag: unknown): Locale {
  if (tag === undefined) {
    english ??= new Locale('en')
    return english
  }
  if (typeof tag !== 'string') return new Locale(tag)
  return remember(locales, MAX_REMEMBERED, tag, makeLocale)
}

function makeLocale(tag: string): Locale {
  return new Locale(tag)
}

/** A tag in canonical spelling, and with the script and region that it most likely means. */
function readTag(tag: unknown): { readonly canonical: string; readonly full: Intl.Locale } | undefined {
  if (typeof tag !== 'string' || tag.length > MAX_TAG || !TAG.test(tag)) return undefined
  try {
    const [canonical = ''] = Intl.getCanonicalLocales(tag)
    // V8 makes of some rare tags a spelling that it refuses itself.
    return { canonical, full: new Intl.Locale(canonical).maximize() }
  } catch {
    return undefined
  }
}

function shortened(tag: string): string[] {
  const range: string[] = []
  for (let rest = tag; rest !== ''; ) {
    range.push(rest)
    rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))
    // A single letter announces what follows it and means nothing at the end; there can be two.
    while (/(^|-)[0-9a-z]$/.test(rest)) rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))
  }
  return range
}
