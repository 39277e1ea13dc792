import assert from 'node:assert/strict'
import fc from 'fast-check'
import { InvalidLocaleError } from '../../../src/errors.ts'
import { Locale, localeOf, usualCase } from '../../../src/location/locale.ts'
import { platformCountryName } from '../../../src/location/shared-parts.ts'
import { anyCharacter } from '../../any-character.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

const TAGS = [
  ...'en pt-BR zh-Hant-TW sr-Latn de-CH-1996 x-private i-klingon art-lojban en-GB-oed zh-yue-HK'.split(' '),
  ...'zh-min-nan sgn-BE-FR de-u-co-phonebk en-t-jp-m0-true a-x zh-cmn-Hans-CN sl-rozaj-biske-1994'.split(' '),
  ...'und root iw en_US C * de-x-a-b hy-Latn-IT-arevela es-419 en-a-bbb-x-a-ccc mo sh no'.split(' '),
]

const subtag = fc.stringMatching(/^[A-Za-z0-9]{1,9}$/)
const inputs: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: mutatedText(fc.constantFrom(...TAGS), 'abzXU019-_*. \u0131\u212aé') },
  { weight: 3, arbitrary: fc.array(subtag, { maxLength: 8 }).map((parts) => parts.join('-')) },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) },
  { weight: 1, arbitrary: fc.nat(60).map((times) => `de-x${'-abc'.repeat(times)}`) },
)

const MAX_TAG_LENGTH = 128

/** RFC 5646 section 2.2.8. */
const GRANDFATHERED =
  'en-gb-oed i-ami i-bnn i-default i-enochian i-hak i-klingon i-lux i-mingo i-navajo i-pwn i-tao i-tay i-tsu sgn-be-fr sgn-be-nl sgn-ch-de art-lojban cel-gaulish no-bok no-nyn zh-guoyu zh-hakka zh-min zh-min-nan zh-xiang'.split(
    ' ',
  )

/** The grammar of RFC 5646 section 2.1, subtag by subtag from the left. */
function isWellFormed(tag: string): boolean {
  if (!/^[A-Za-z0-9-]*$/.test(tag)) return false
  if (GRANDFATHERED.includes(tag.toLowerCase())) return true
  const rest = tag.split('-').map((subtag) => subtag.toLowerCase())
  if (rest.some((subtag) => !/^[a-z0-9]{1,8}$/.test(subtag))) return false
  const take = (pattern: RegExp): string | undefined =>
    pattern.test(rest[0] ?? '') ? rest.shift() : undefined
  const privateUse = (): boolean => rest.length === 0 || (rest[0] === 'x' && rest.length > 1)
  if (rest[0] === 'x') return privateUse()
  const language = take(/^[a-z]{2,8}$/)
  if (language === undefined) return false
  if (language.length <= 3) for (let i = 0; i < 3; i++) take(/^[a-z]{3}$/)
  take(/^[a-z]{4}$/)
  take(/^([a-z]{2}|[0-9]{3})$/)
  const seen = new Set<string>()
  const isNew = (subtag: string): boolean => !seen.has(subtag) && seen.add(subtag).has(subtag)
  for (let variant = take(/^(.{5,8}|[0-9].{3})$/); variant !== undefined; ) {
    if (!isNew(variant)) return false
    variant = take(/^(.{5,8}|[0-9].{3})$/)
  }
  for (let singleton = take(/^[^x]$/); singleton !== undefined; singleton = take(/^[^x]$/)) {
    if (!isNew(singleton) || take(/^.{2,8}$/) === undefined) return false
    while (take(/^.{2,8}$/) !== undefined);
  }
  return privateUse()
}

/** `null` where the platform does not know the tag. */
function canonicalOf(tag: string): string | null {
  try {
    const [canonical = ''] = Intl.getCanonicalLocales(tag)
    // V8 makes of some rare tags a spelling that it refuses itself.
    new Intl.Locale(canonical)
    return canonical
  } catch {
    return null
  }
}

export const locale: Target<string> = {
  name: 'locale',
  inputs,
  shortRuns: 800,
  check(tag) {
    const isTag = tag.length <= MAX_TAG_LENGTH && isWellFormed(tag)
    const expected = canonicalOf(tag)
    let found: Locale
    try {
      found = localeOf(tag)
    } catch (error) {
      assert.ok(error instanceof InvalidLocaleError, String(error))
      assert.ok(!isTag, 'it is in the grammar')
      assert.ok(expected === null || tag.length > MAX_TAG_LENGTH, 'Intl takes it')
      assert.match(error.message, /^[\x20-\x7e]{0,600}$/)
      return
    }
    assert.ok(isTag, 'it is not in the grammar')
    const canonical = usualCase(found.range[0] ?? '')
    if (expected !== null && !GRANDFATHERED.includes(tag.toLowerCase())) {
      // V8 looks up no alias for two lower-case letters: "BH" is "bho", "bh" stays.
      assert.ok([expected, canonicalOf(tag.toLowerCase())].includes(canonical), canonical)
    }
    for (const shorter of found.range) {
      assert.ok([canonical, tag].some((whole) => `${whole.toLowerCase()}-`.startsWith(`${shorter}-`)))
      const isWhole = [canonical, tag].some((whole) => whole.toLowerCase() === shorter)
      if (!isWhole)
        assert.doesNotMatch(shorter, /(^|-)[0-9a-z]$/, 'a single letter announces nothing at the end')
    }
    const name = platformCountryName('GB', found)
    assert.ok(name === null || name !== '')
    if (found.platformTag !== null) assert.equal(found.match(canonical), 'same')
    assert.ok(['same', 'other-script', 'none'].includes(new Locale('en').match(tag)))
  },
}
