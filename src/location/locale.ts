import { quoted } from '../address/quoted.ts'
import { InvalidLocaleError } from '../errors.ts'
import { remember } from '../remember.ts'

/** Bounds the memory when a caller passes on hostile tags. */
const MAX_CACHED_LOCALES = 256

/** Language tags of databases cached: more than one set of names can have. */
const MAX_CACHED_TAGS = 4096

/** The shape of every tag. Intl takes a hundred times longer to refuse a text. */
const TAG = /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i

/** Longer tags are refused. RFC 5646 section 4.4.1 asks for room for 35 characters. */
const MAX_TAG_LENGTH = 128

/** A validated BCP 47 language tag, for the names of countries and regions. */
export class Locale {
  /** Canonical spelling, such as `pt-BR`. */
  readonly tag: string
  /** Lower-case tags from most to least specific, shortened as in RFC 4647 section 3.4 (lookup). */
  readonly range: readonly string[]
  readonly #language: string
  readonly #script: string | undefined

  /** @throws InvalidLocaleError when it is not a BCP 47 tag */
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

  /** Compares a database's language tag with this locale by language and script. */
  match(tag: string): LanguageMatch {
    // Do not cache long texts: they are not tags.
    if (tag.length > MAX_TAG_LENGTH) return 'none'
    const other = remember(languageAndScripts, MAX_CACHED_TAGS, tag, languageAndScriptOf)
    if (other.language !== this.#language) return 'none'
    return other.script === this.#script ? 'same' : 'other-script'
  }
}

/** `same` is the same language in the same script. */
export type LanguageMatch = 'same' | 'other-script' | 'none'

/** The language and script of a tag, both absent when it is not a valid tag. */
interface LanguageAndScript {
  readonly language?: string
  readonly script?: string | undefined
}

const INVALID_TAG: LanguageAndScript = {}
const languageAndScripts = new Map<string, LanguageAndScript>()

function languageAndScriptOf(tag: string): LanguageAndScript {
  const full = readTag(tag)?.full
  return full === undefined ? INVALID_TAG : { language: full.language, script: full.script }
}

/** The default locale. */
let english: Locale | undefined
const locales = new Map<string, Locale>()

/**
 * The locale of the option `locale`. Default: `en`. The same tag gives the same object while it is cached.
 *
 * @throws InvalidLocaleError when it is not a BCP 47 tag
 */
export function localeOf(tag: unknown): Locale {
  if (tag === undefined) {
    english ??= new Locale('en')
    return english
  }
  if (typeof tag !== 'string') return new Locale(tag)
  return remember(locales, MAX_CACHED_LOCALES, tag, makeLocale)
}

function makeLocale(tag: string): Locale {
  return new Locale(tag)
}

/** A tag in canonical spelling, and with its likely script and region. */
function readTag(tag: unknown): { readonly canonical: string; readonly full: Intl.Locale } | undefined {
  if (typeof tag !== 'string' || tag.length > MAX_TAG_LENGTH || !TAG.test(tag)) return undefined
  try {
    const [canonical = ''] = Intl.getCanonicalLocales(tag)
    // For some rare tags, V8 returns a canonical spelling that Intl.Locale refuses.
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
    // A single letter introduces the next subtag, so remove it with that subtag; there can be two.
    while (/(^|-)[0-9a-z]$/.test(rest)) rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))
  }
  return range
}
