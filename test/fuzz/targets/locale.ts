import assert from 'node:assert/strict'
import fc from 'fast-check'
import { InvalidLocaleError } from '../../../src/errors.ts'
import { Locale, localeOf } from '../../../src/location/locale.ts'
import { platformCountryName } from '../../../src/location/shared-parts.ts'
import { mutatedText } from '../mutation.ts'
import type { Target } from '../target.ts'

const TAGS = [
  ...[
    'en',
    'pt-BR',
    'zh-Hant-TW',
    'sr-Latn',
    'de-CH-1996',
    'x-private',
    'i-klingon',
    'art-lojban',
    'en-GB-oed',
  ],
  ...[
    'de-u-co-phonebk',
    'en-t-jp-m0-true',
    'a-x',
    'zh-cmn-Hans-CN',
    'sl-rozaj-biske-1994',
    'und',
    'root',
    'iw',
  ],
  ...['en_US', 'C', '*', 'de-x-a-b', 'hy-Latn-IT-arevela', 'es-419', 'en-a-bbb-x-a-ccc', 'mo', 'sh', 'no'],
]

const subtag = fc.stringMatching(/^[A-Za-z0-9]{1,9}$/)
const inputs: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: mutatedText(fc.constantFrom(...TAGS), 'abzXU019-_*. \u0131\u212aé') },
  { weight: 3, arbitrary: fc.array(subtag, { maxLength: 8 }).map((parts) => parts.join('-')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.nat(60).map((times) => `de-x${'-abc'.repeat(times)}`) },
)

const MAX_TAG = 128

function canonicalOf(tag: string): string | null {
  if (tag.length > MAX_TAG) return null
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
    const expected = canonicalOf(tag)
    let found: Locale
    try {
      found = localeOf(tag)
    } catch (error) {
      assert.ok(error instanceof InvalidLocaleError, String(error))
      assert.equal(expected, null, 'Intl takes it')
      assert.match(error.message, /^[\x20-\x7e]{0,600}$/)
      return
    }
    assert.equal(found.tag, expected)
    assert.equal(found.range[0], found.tag.toLowerCase())
    for (const [index, shorter] of found.range.slice(1).entries()) {
      assert.ok(found.range[index]?.startsWith(`${shorter}-`))
      assert.doesNotMatch(shorter, /(^|-)[0-9a-z]$/, 'a single letter announces nothing at the end')
    }
    const name = platformCountryName('GB', found)
    assert.ok(name === null || name !== '')
    assert.equal(found.match(found.tag), 'same')
    assert.ok(['same', 'other-script', 'none'].includes(new Locale('en').match(tag)))
  },
}
