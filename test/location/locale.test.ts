import { describe, expect, it } from 'vitest'
import { InvalidLocaleError } from '../../src/errors.ts'
import { Locale, localeOf } from '../../src/location/locale.ts'

describe('localeOf', () => {
  it('is English by default', () => {
    expect(localeOf(undefined).tag).toBe('en')
  })

  it('returns the same object for the same tag, so that caches can compare identities', () => {
    expect(localeOf('de-CH')).toBe(localeOf('de-CH'))
  })

  it('writes tags in canonical spelling', () => {
    expect(localeOf('PT-br').tag).toBe('pt-BR')
    expect(localeOf('zh-hant-tw').tag).toBe('zh-Hant-TW')
  })

  it.each([
    ['empty', ''],
    ['too short', 'e'],
    ['a POSIX name', 'en_US'],
    ['a space', 'english language'],
    ['an empty subtag', 'en-'],
    ['a tag whose canonical spelling V8 refuses', 'en-t-jp-0-true'],
    ['a range, not a tag', '*'],
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
    expect(localeOf('de-x-first').tag).toBe(first.tag)
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
    ['pt', 'pt-BR', 'same'],
    ['zh', 'zh-CN', 'same'],
    ['zh-TW', 'zh-CN', 'other-script'],
    ['sr-Latn', 'sr', 'other-script'],
    ['de', 'en', 'none'],
    ['de', 'not a tag', 'none'],
    ['en', 'en-t-jp-0-true', 'none'],
  ])('matches %s and %s: %s', (locale, tag, match) => {
    expect(new Locale(locale).match(tag)).toBe(match)
  })
})
