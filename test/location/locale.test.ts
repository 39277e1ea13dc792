import { describe, expect, it } from 'vitest'
import { InvalidLocaleError } from '../../src/errors.ts'
import { Locale, localeOf, usualCase } from '../../src/location/locale.ts'
import { platformCountryName } from '../../src/location/shared-parts.ts'
import { tableOf } from '../table-of.ts'

const tagOf = ({ range: [tag = ''] }: Locale): string => usualCase(tag)

describe('localeOf', () => {
  it('is English by default, in canonical spelling, and one object for a tag, so that caches can compare identities', () => {
    expect(tagOf(localeOf(undefined))).toBe('en')
    expect([tagOf(localeOf('PT-br')), tagOf(localeOf('zh-hant-tw'))]).toEqual(['pt-BR', 'zh-Hant-TW'])
    expect(localeOf('de-CH')).toBe(localeOf('de-CH'))
  })

  it.each([
    ['empty', ''],
    ['a private use tag without a subtag', 'x'],
    ['a private use suffix without a subtag', 'en-x'],
    ['an unregistered tag that starts with i-', 'i-unheard'],
    ['two regions', 'de-419-DE'],
    ['a repeated variant', 'de-1996-1996'],
    ['a repeated extension', 'en-a-bbb-A-ccc'],
    ['an empty extension', 'en-a-x-b'],
    ['four extended languages', 'zh-aaa-bbb-ccc-ddd'],
    ['a character that is only ASCII in lower case', '\u212ala'],
    ['the same in a grandfathered tag', 'i-\u212alingon'],
    ['a well-formed tag that is too long', `de-x-${'a-'.repeat(100)}a`],
    ['null, as URLSearchParams.get returns it', null],
    ['a number', 7],
    ['a symbol', Symbol('en')],
  ])('refuses %s', (_, tag) => {
    expect(() => localeOf(tag)).toThrow(InvalidLocaleError)
    expect(() => localeOf(tag)).toThrow(/BCP 47/)
  })

  it('limits its cache when every request has another tag', () => {
    const first = localeOf('de-x-first')
    for (let i = 0; i < 600; i++) localeOf(`de-x-a${i}`)
    expect(localeOf('de-x-first')).not.toBe(first)
    expect(tagOf(localeOf('de-x-first'))).toBe(tagOf(first))
  })
})

describe('Locale', () => {
  // RFC 4647 section 3.4: a single letter or digit is removed with the subtag after it.
  it.each([
    ['fr-CA', ['fr-ca', 'fr']],
    [
      'zh-Hant-CN-x-private1-private2',
      ['zh-hant-cn-x-private1-private2', 'zh-hant-cn-x-private1', 'zh-hant-cn', 'zh-hant', 'zh'],
    ],
    ['en-x-a-b', ['en-x-a-b', 'en']],
    ['en', ['en']],
  ])('shortens %s', (tag, range) => {
    expect(new Locale(tag).range).toEqual(range)
  })

  it.each([
    ...tableOf(import.meta.dirname, 'matches.tsv'),
    // Too long for a tag, whatever it starts with.
    ['de', `de-CH${'-1996'.repeat(1000)}`, 'none'],
  ])('matches %s and %s: %s', (locale, tag, match) => {
    expect(new Locale(locale).match(tag)).toBe(match)
  })
})

describe('tags that the platform does not support', () => {
  it.each([
    // Extended languages (RFC 5646 section 2.2.2), and their prefixes.
    ['zh-yue', 'yue', ['yue', 'zh-yue', 'zh']],
    ['zh-yue-HK', 'yue-HK', ['yue-hk', 'yue', 'zh-yue-hk', 'zh-yue', 'zh']],
    ['zh-cmn-Hans', 'zh-Hans', ['zh-hans', 'zh', 'zh-cmn-hans', 'zh-cmn']],
    ['zh-gan-hak-min', 'zh', ['zh', 'zh-gan-hak-min', 'zh-gan-hak', 'zh-gan']],
    // Private use (section 2.2.7).
    ['x-private', 'x-private', ['x-private']],
    ['X-a-b', 'x-a-b', ['x-a-b']],
    // Irregular and regular grandfathered tags (section 2.2.8).
    ['i-klingon', 'tlh', ['tlh', 'i-klingon']],
    ['I-LUX', 'lb', ['lb', 'i-lux']],
    ['i-default', 'i-default', ['i-default']],
    ['sgn-BE-FR', 'sfb', ['sfb', 'sgn-be-fr', 'sgn-be', 'sgn']],
    ['en-GB-oed', 'en-GB-oxendict', ['en-gb-oxendict', 'en-gb', 'en', 'en-gb-oed']],
    ['zh-min-nan', 'nan', ['nan', 'zh-min-nan', 'zh-min', 'zh']],
    ['no-bok', 'nb', ['nb', 'no-bok', 'no']],
    // Valid in RFC 5646, but not in Unicode's grammar.
    ['abcd-latn-de', 'abcd-Latn-DE', ['abcd-latn-de', 'abcd-latn', 'abcd']],
    ['en-t-jp-0-true', 'en-t-jp-0-true', ['en-t-jp-0-true', 'en-t-jp', 'en']],
    ['de-u-kk-x0-yy', 'de-u-kk-x0-yy', ['de-u-kk-x0-yy', 'de-u-kk-x0', 'de-u-kk', 'de']],
  ])('are accepted if they are well-formed: %s', (tag, canonical, range) => {
    const locale = new Locale(tag)
    expect(tagOf(locale)).toBe(canonical)
    expect(locale.range).toEqual(range)
  })

  it('include all grandfathered tags', () => {
    const irregular =
      'en-GB-oed i-ami i-bnn i-default i-enochian i-hak i-klingon i-lux i-mingo i-navajo i-pwn i-tao i-tay i-tsu sgn-BE-FR sgn-BE-NL sgn-CH-DE'
    const regular = 'art-lojban cel-gaulish no-bok no-nyn zh-guoyu zh-hakka zh-min zh-min-nan zh-xiang'
    for (const tag of `${irregular} ${regular}`.split(' ')) {
      expect(new Locale(tag).range).toContain(tag.toLowerCase())
      expect(platformCountryName('GB', new Locale(tag))).not.toBe('')
    }
  })

  it.each([
    ['zh-yue', '英國'],
    ['en-GB-oed', 'United Kingdom'],
    ['no-bok', 'Storbritannia'],
    ['de-u-kk-x0-yy', 'Vereinigtes Königreich'],
    ['x-private', null],
    ['i-klingon', null],
  ])('have country names from the platform: %s', (tag, name) => {
    expect(platformCountryName('GB', localeOf(tag))).toBe(name)
  })
})
