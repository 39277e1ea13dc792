import { quoted } from '../address/quoted.ts'
import { InvalidLocaleError } from '../errors.ts'
import { baseOf, isLanguageTag, preferredTag, usualCase } from './language-tag.ts'
import { remember } from './remember.ts'

/** Locales remembered at most; a caller who passes on hostile tags must not fill the memory. */
const MAX_REMEMBERED = 256

/** Tags of databases remembered at most: the languages that a place can have names in, and more. */
const MAX_TAGS = 4096

/** No sensible tag is longer (RFC 5646 section 4.4.1 asks for room for 35 characters). */
const MAX_TAG = 128

/** A language to name places in: a validated BCP 47 tag. */
export class Locale {
  /** Canonical spelling, such as `pt-BR`. */
  readonly tag: string
  /** What the platform knows the locale as, for `Intl`; `null` where it cannot: for private use tags. */
  readonly platformTag: string | null
  /**
   * Lower-case tags from the most to the least specific, as RFC 4647 section 3.4 (lookup) shortens them: of the
   * canonical tag, then of the tag as it was given, since `zh-yue` is `yue` and leads to `zh` too.
   */
  readonly range: readonly string[]
  /** Of the canonical tag, and of the tag as it was given. */
  readonly #languages: readonly (string | undefined)[]
  readonly #script: string | undefined

  /** @throws InvalidLocaleError when the tag is not one of BCP 47 */
  constructor(tag: unknown) {
    const read = readTag(tag)
    if (read === undefined) {
      throw new InvalidLocaleError(
        `${typeof tag === 'string' ? quoted(tag) : tag === null ? 'null' : typeof tag} is not a BCP 47 language tag; write one such as "en", "pt-BR" or "zh-Hant"`,
      )
    }
    const { given, canonical, platform, full } = read
    this.tag = canonical
    this.platformTag = platform
    this.range = [...new Set([...shortened(canonical.toLowerCase()), ...shortened(given)])]
    this.#languages = [full?.language, given.split('-', 1)[0]]
    this.#script = full?.script
  }

  /** How near a tag of a database is to this locale; the same language in another script is not the same. */
  kinship(tag: string): Kinship {
    // Longer ones are no tags, and would be remembered for good.
    if (tag.length > MAX_TAG) return 'none'
    const other = remember(writings, MAX_TAGS, tag, writingOf)
    if (other.language === undefined || !this.#languages.includes(other.language)) return 'none'
    return other.script === this.#script ? 'same' : 'other-script'
  }
}

export type Kinship = 'same' | 'other-script' | 'none'

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

interface ReadTag {
  /** In lower case. */
  readonly given: string
  readonly canonical: string
  readonly platform: string | null
  /** With the script and region that it most likely means; `undefined` where the platform cannot tell. */
  readonly full: Intl.Locale | undefined
}

function readTag(tag: unknown): ReadTag | undefined {
  if (typeof tag !== 'string' || tag.length > MAX_TAG || !isLanguageTag(tag)) return undefined
  const given = tag.toLowerCase()
  const preferred = preferredTag(given)
  const known = onPlatform(preferred)
  if (known !== undefined) return { given, canonical: known.platform, ...known }
  // What the platform refuses, such as a field of "-u-" without a value, does not change the language.
  const base = onPlatform(baseOf(preferred))
  return { given, canonical: usualCase(preferred), platform: null, full: undefined, ...base }
}

function onPlatform(tag: string): { readonly platform: string; readonly full: Intl.Locale } | undefined {
  try {
    const [platform = ''] = Intl.getCanonicalLocales(tag)
    // V8 makes of some rare tags a spelling that it refuses itself.
    return { platform, full: new Intl.Locale(platform).maximize() }
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
