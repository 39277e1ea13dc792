import { describe, expect, it } from 'vitest'
import { localeOf } from '../../src/location/locale.ts'
import { LocalizedCountry, LocalizedRegion } from '../../src/location/named-part.ts'
import { Translations } from '../../src/location/translations.ts'

const names = (byTag: Record<string, string>): Translations =>
  new Translations(new Map(Object.entries(byTag)))
const GERMANY = { de: 'Deutschland', en: 'Germany', fr: 'Allemagne', 'pt-BR': 'Alemanha', 'zh-CN': '德国' }

describe('the name of a country', () => {
  const germany = new LocalizedCountry('DE', names(GERMANY))
  it.each([
    ['en', 'Germany', 'exact'],
    ['fr-CA', 'Allemagne', 'RFC 4647 lookup'],
    ['PT-BR', 'Alemanha', 'case plays no part'],
    ['pt', 'Alemanha', 'by language'],
    ['pt-PT', 'Alemanha', 'by language, from another region'],
    ['zh', '德国', 'by language'],
    ['zh-Hant', '德國', "another script than the database's: the platform"],
    ['it', 'Germania', 'not in the database: the platform'],
    ['sv-FI', 'Tyskland', 'the platform, by its own lookup'],
    ['tlh', 'Germany', 'in no data anywhere: English'],
  ])('in %s: %s (%s)', (locale, name) => {
    expect(germany.in(localeOf(locale))).toEqual({ code: 'DE', name })
  })

  it('comes from the platform in any language when the database has codes only', () => {
    const bare = new LocalizedCountry('DE', Translations.NONE)
    expect(bare.in(localeOf('en')).name).toBe('Germany')
    expect(bare.in(localeOf('ja')).name).toBe('ドイツ')
    expect(bare.in(localeOf('tlh')).name).toBe('Germany')
  })

  it('is whatever there is, at last', () => {
    const odd = new LocalizedCountry(null, names({ ru: 'Страна' }))
    expect(odd.in(localeOf('de'))).toEqual({ code: null, name: 'Страна' })
    expect(new LocalizedCountry(null, Translations.NONE).in(localeOf('de'))).toEqual({
      code: null,
      name: null,
    })
  })

  it('is null for a code that nobody knows', () => {
    expect(new LocalizedCountry('ZQ', Translations.NONE).in(localeOf('en')).name).toBeNull()
  })
})

describe('the name of a region', () => {
  it.each([
    ['de', 'Kalifornien', 'exact'],
    ['de-AT', 'Kalifornien', 'RFC 4647 lookup'],
    ['zh-Hant', '加利福尼亚州', 'the same language in another script, since platforms know no regions'],
    ['it', 'California', 'English'],
  ])('in %s: %s (%s)', (locale, name) => {
    const california = new LocalizedRegion(
      'US-CA',
      names({ en: 'California', de: 'Kalifornien', 'zh-CN': '加利福尼亚州' }),
    )
    expect(california.in(localeOf(locale))).toEqual({ code: 'US-CA', name })
  })
})

describe('a part of records', () => {
  it('answers in more locales than it remembers', () => {
    const part = new LocalizedCountry('DE', names(GERMANY))
    for (const language of ['de', 'fr', 'en', 'pt']) {
      const regions = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))
      for (const letter of regions) {
        expect(part.in(localeOf(`${language}-A${letter}`)).name).toBe(part.in(localeOf(language)).name)
      }
    }
  })

  it('is frozen, and one object for all records in a locale', () => {
    const part = new LocalizedCountry('DE', names(GERMANY))
    const german = part.in(localeOf('de'))
    part.in(localeOf('fr'))
    expect(part.in(localeOf('de'))).toBe(german)
    expect(Object.isFrozen(german)).toBe(true)
  })
})
