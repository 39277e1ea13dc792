import { remember } from '../bytes/tables.ts'
import { InvalidLocaleError, quoted } from '../errors.ts'

/** Bounds the memory when a caller passes on hostile tags. */
const MAX_CACHED_LOCALES = 256

/** Language tags of databases that are cached: more than the names of one location can have. */
const MAX_CACHED_TAGS = 4096

/** Longer tags are refused. RFC 5646 section 4.4.1 asks for room for 35 characters. */
const MAX_TAG_LENGTH = 128

/** The language of city names: `en` is English if the database has it, and `locale` is the language of countries and regions. */
export type CityNames = (typeof CITY_NAMES)[number]
export const CITY_NAMES = ['en', 'locale'] as const

/** A validated BCP 47 language tag, for the names of countries and regions. */
export class Locale {
  /** The tag to use with `Intl`; `null` when the platform supports none, as for private use tags. */
  readonly platformTag: string | null
  /**
   * Lower-case tags from most to least specific, shortened as in RFC 4647 section 3.4 (lookup): first those of the
   * canonical tag, then those of the tag as given, since `zh-yue` is `yue` but should also find `zh`.
   */
  readonly range: readonly string[]
  /** The languages of the canonical tag and of the tag as given. */
  readonly #languages: readonly (string | undefined)[]
  readonly #script: string | undefined

  /**
   * @param hasCities whether it is for the names of cities too
   * @throws InvalidLocaleError when it is not a BCP 47 tag
   */
  constructor(
    tag: unknown,
    readonly hasCities = false,
  ) {
    const parsed = parseTag(tag)
    if (parsed === undefined) {
      throw new InvalidLocaleError(
        `${typeof tag === 'string' ? quoted(tag) : tag === null ? 'null' : typeof tag} is not a BCP 47 language tag; write one such as "en", "pt-BR" or "zh-Hant"`,
      )
    }
    const { given, canonical, platform, full } = parsed
    this.platformTag = platform
    this.range = [...new Set([...shortened(canonical), ...shortened(given)])]
    this.#languages = [full?.language, given.split('-', 1)[0]]
    this.#script = full?.script
  }

  /** Compares a database's language tag with this locale by language and script. */
  match(tag: string): LanguageMatch {
    // Do not cache long texts: they are not tags.
    if (tag.length > MAX_TAG_LENGTH) return 'none'
    const [language, script] = remember(languagesAndScripts, MAX_CACHED_TAGS, tag, languageAndScriptOf)
    if (language === undefined || !this.#languages.includes(language)) return 'none'
    return script === this.#script ? 'same' : 'other-script'
  }
}

/** `same` is the same language in the same script. */
export type LanguageMatch = 'same' | 'other-script' | 'none'

/** The language and script of each tag in databases: `undefined` when it is not a valid tag. */
const languagesAndScripts = new Map<string, readonly (string | undefined)[]>()

function languageAndScriptOf(tag: string): readonly (string | undefined)[] {
  const full = parseTag(tag)?.full
  return [full?.language, full?.script]
}

/** The default locale. */
let english: Locale | undefined
const locales: Readonly<Record<CityNames, Map<string, Locale>>> = { en: new Map(), locale: new Map() }

/**
 * The locale of the options `locale` and `cityNames`. Default: `en`. The same options give the same object while it is cached.
 *
 * @throws InvalidLocaleError when the tag is not a BCP 47 tag
 * @throws TypeError when the second option is another value
 */
export function localeOf(tag: unknown, cityNames: unknown = 'en'): Locale {
  const language = CITY_NAMES.find((each) => each === cityNames)
  if (language === undefined) throw new TypeError("cityNames must be 'en' or 'locale'")
  if (tag === undefined) {
    english ??= new Locale('en')
    return english
  }
  if (typeof tag !== 'string') return new Locale(tag)
  return remember(locales[language], MAX_CACHED_LOCALES, tag, () => new Locale(tag, language === 'locale'))
}

interface ParsedTag {
  /** The tag as given, in lower case. */
  readonly given: string
  /** The canonical tag in lower case. */
  readonly canonical: string
  readonly platform: string | null
  /** The tag with its likely script and region; `undefined` when the platform does not support the tag. */
  readonly full: Pick<Intl.Locale, 'language' | 'script'> | undefined
}

/** The tag of the default locale, without asking the platform, whose first answer takes 13 ms. */
const ENGLISH: ParsedTag = {
  given: 'en',
  canonical: 'en',
  platform: 'en',
  full: { language: 'en', script: 'Latn' },
}

function parseTag(tag: unknown): ParsedTag | undefined {
  if (tag === 'en') return ENGLISH
  if (typeof tag !== 'string' || tag.length > MAX_TAG_LENGTH || !isLanguageTag(tag)) return undefined
  const given = tag.toLowerCase()
  const preferred = preferredTag(given)
  const supported = onPlatform(preferred)
  if (supported !== undefined) return { given, canonical: supported.platform.toLowerCase(), ...supported }
  // The platform refuses, for example, a "-u-" field without a value. That does not change the language.
  const base = onPlatform(baseOf(preferred))
  return { given, canonical: preferred, platform: null, full: undefined, ...base }
}

function onPlatform(tag: string): { readonly platform: string; readonly full: Intl.Locale } | undefined {
  try {
    const [platform = ''] = Intl.getCanonicalLocales(tag)
    // For some rare tags, V8 returns a canonical spelling that Intl.Locale refuses.
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
    // A single letter introduces the next subtag, so remove it with that subtag; there can be two.
    while (/(^|-)[0-9a-z]$/.test(rest)) rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))
  }
  return range
}

/** The grammar of RFC 5646 section 2.1, without grandfathered tags. */
const LANGUAGE_TAG =
  /^(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?<variants>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*)(?<extensions>(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*)(?:-x(?:-[a-z\d]{1,8})+)?|x(?:-[a-z\d]{1,8})+)$/i

/** A language and its extended language subtags (section 2.2.2). */
const EXTENDED = /^([a-z]{2,3})-([a-z]{3})\b((?:-[a-z]{3}\b)*)/

/** Language, script and region. */
const BASE = /^[a-z]{2,8}(?:-[a-z]{4}\b)?(?:-(?:[a-z]{2}|\d{3})\b)?/

/**
 * The grandfathered tags of section 2.2.8, irregular ones first, with the preferred tag of the IANA registry. Without
 * one, the nearest language in CLDR, or the tag itself.
 */
const GRANDFATHERED: Readonly<Record<string, string>> = {
  'en-gb-oed': 'en-gb-oxendict',
  'i-ami': 'ami',
  'i-bnn': 'bnn',
  'i-default': 'i-default',
  'i-enochian': 'i-enochian',
  'i-hak': 'hak',
  'i-klingon': 'tlh',
  'i-lux': 'lb',
  'i-mingo': 'see',
  'i-navajo': 'nv',
  'i-pwn': 'pwn',
  'i-tao': 'tao',
  'i-tay': 'tay',
  'i-tsu': 'tsu',
  'sgn-be-fr': 'sfb',
  'sgn-be-nl': 'vgt',
  'sgn-ch-de': 'sgg',
  'art-lojban': 'jbo',
  'cel-gaulish': 'xtg',
  'no-bok': 'nb',
  'no-nyn': 'nn',
  'zh-guoyu': 'cmn',
  'zh-hakka': 'hak',
  'zh-min': 'nan',
  'zh-min-nan': 'nan',
  'zh-xiang': 'hsn',
}

/**
 * Whether a text is a BCP 47 language tag in the grammar of RFC 5646. Variants and extensions must not be repeated
 * (sections 2.2.5 and 2.2.6).
 */
export function isLanguageTag(text: string): boolean {
  // Check for ASCII first: the Kelvin sign is a k in lower case.
  if (/^[a-z-]+$/i.test(text) && Object.hasOwn(GRANDFATHERED, text.toLowerCase())) return true
  const match = LANGUAGE_TAG.exec(text)
  if (match === null) return false
  const { variants = '', extensions = '' } = match.groups ?? {}
  const singletons = extensions.split('-').filter((subtag) => subtag.length === 1)
  const once = [...variants.split('-').slice(1), ...singletons].map((subtag) => subtag.toLowerCase())
  return new Set(once).size === once.length
}

/**
 * The preferred tag for a tag with an extended language or a grandfathered one (section 4.5), or else the same tag.
 *
 * @param tag in lower case, like the result
 */
export function preferredTag(tag: string): string {
  if (Object.hasOwn(GRANDFATHERED, tag)) return GRANDFATHERED[tag] ?? tag
  // An extended language subtag is a language by itself. Several of them have no defined meaning.
  return tag.replace(EXTENDED, (_, language: string, extended: string, more: string) =>
    more === '' ? extended : language,
  )
}

/** The language, script and region of a lower-case tag; empty for a private use tag. */
export function baseOf(tag: string): string {
  return BASE.exec(tag)?.[0] ?? ''
}

/** A lower-case tag in the spelling of section 2.1.1: `sr-Latn-RS`. */
export function usualCase(tag: string): string {
  let isAfterSingleton = false
  return tag
    .split('-')
    .map((subtag, index) => {
      isAfterSingleton ||= subtag.length === 1
      if (index === 0 || isAfterSingleton) return subtag
      if (subtag.length === 2) return subtag.toUpperCase()
      return subtag.length === 4 ? subtag.charAt(0).toUpperCase() + subtag.slice(1) : subtag
    })
    .join('-')
}
