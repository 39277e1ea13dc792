/** RFC 5646 section 2.1, but for the tags that were registered before that grammar. */
const LANGUAGE_TAG =
  /^(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?<variants>(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*)(?<extensions>(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*)(?:-x(?:-[a-z\d]{1,8})+)?|x(?:-[a-z\d]{1,8})+)$/i

/** A language and its extended language subtags (section 2.2.2). */
const EXTENDED = /^([a-z]{2,3})-([a-z]{3})\b((?:-[a-z]{3}\b)*)/

/** Language, script and region. */
const BASE = /^[a-z]{2,8}(?:-[a-z]{4}\b)?(?:-(?:[a-z]{2}|\d{3})\b)?/

/**
 * The tags of section 2.2.8, irregular ones first, with what the IANA registry prefers; those without a preference
 * have the nearest language that CLDR knows, or stand for themselves.
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
 * Whether a text is a language tag of BCP 47, in the grammar of RFC 5646. No variant and no extension may come twice
 * (sections 2.2.5 and 2.2.6).
 */
export function isLanguageTag(text: string): boolean {
  // Only of ASCII: the Kelvin sign has a small letter, too, which is a k.
  if (/^[a-z-]+$/i.test(text) && Object.hasOwn(GRANDFATHERED, text.toLowerCase())) return true
  const match = LANGUAGE_TAG.exec(text)
  if (match === null) return false
  const { variants = '', extensions = '' } = match.groups ?? {}
  const singletons = extensions.split('-').filter((subtag) => subtag.length === 1)
  const once = [...variants.split('-').slice(1), ...singletons].map((subtag) => subtag.toLowerCase())
  return new Set(once).size === once.length
}

/**
 * The tag to use instead of one with an extended language, or of before the grammar (section 4.5); else the same.
 *
 * @param tag in lower case, as is the result
 */
export function preferredTag(tag: string): string {
  if (Object.hasOwn(GRANDFATHERED, tag)) return GRANDFATHERED[tag] ?? tag
  // An extended language is a language by itself. What several in a row mean is not defined.
  return tag.replace(EXTENDED, (_, language: string, extended: string, more: string) =>
    more === '' ? extended : language,
  )
}

/** Language, script and region of a tag in lower case; '' of one for private use. */
export function baseOf(tag: string): string {
  return BASE.exec(tag)?.[0] ?? ''
}

/** A tag in lower case as section 2.1.1 writes it: `sr-Latn-RS`. */
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
