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
