import { describe, expect, it } from 'vitest'
import { localeOf } from '../../src/location/locale.ts'
import {
  LocalizedCountry,
  LocalizedRegion,
  PartsMaker,
  Translations,
} from '../../src/location/shared-parts.ts'

const names = (byTag: Record<string, string>): Translations =>
  new Translations(new Map(Object.entries(byTag)))

const BRITTANY = {
  countryCode: 'FR',
  countryNames: names({ en: 'France', de: 'Frankreich' }),
  regionCode: 'BRE',
  regionNames: names({ en: 'Brittany', de: 'Bretagne' }),
  timeZone: 'Europe/Paris',
}

describe('PartsMaker', () => {
  it('makes one object for each country, region and time zone', () => {
    const maker = new PartsMaker()
    const parts = maker.make(BRITTANY)
    expect(maker.make({ ...BRITTANY, countryCode: 'fr', regionCode: 'FR-BRE' })).toBe(parts)
    expect([parts.country.code, parts.region.code, parts.timezone.at(0).id]).toEqual([
      'FR',
      'FR-BRE',
      'Europe/Paris',
    ])
    const others = [
      { timeZone: 'Asia/Tokyo' },
      { regionNames: names({ en: 'Brittany', de: 'Bretagne' }) },
      { countryNames: names({}) },
      { regionCode: 'IDF' },
      { countryCode: 'GB' },
    ].map((changes) => maker.make({ ...BRITTANY, ...changes }))
    expect(new Set([parts, ...others]).size).toBe(6)
    expect(others.map(({ country }) => country === parts.country)).toEqual([true, true, false, true, false])
    expect(others.map(({ region }) => region === parts.region)).toEqual([true, false, true, false, false])
  })

  it('counts the memory of what it makes once', () => {
    const maker = new PartsMaker()
    maker.make(BRITTANY)
    const { retainedBytes } = maker
    expect(retainedBytes).toBeGreaterThan(0)
    maker.make(BRITTANY)
    expect(maker.retainedBytes).toBe(retainedBytes)
    for (const id of Intl.supportedValuesOf('timeZone')) {
      expect(maker.make({ ...BRITTANY, timeZone: id }).timezone.at(0).id).toBe(id)
    }
    expect(maker.retainedBytes).toBeGreaterThan(retainedBytes + 400 * 200)
  })
})

describe('SharedParts', () => {
  const parts = new PartsMaker().make(BRITTANY)

  it('has both parts in the requested locale, whatever the previous one was, and one object each time', () => {
    const expected: Record<string, string[]> = { en: ['France', 'Brittany'], de: ['Frankreich', 'Bretagne'] }
    for (const tag of ['en', 'de', 'de', 'en', 'de']) {
      const [country, region] = [parts.countryIn(localeOf(tag)), parts.regionIn(localeOf(tag))]
      expect([country.name, region.name]).toEqual(expected[tag])
      expect([parts.regionIn(localeOf(tag)), parts.countryIn(localeOf(tag))]).toEqual([region, country])
      expect(parts.countryIn(localeOf(tag))).toBe(country)
      expect(parts.countryIn(localeOf('en')).name).toBe('France')
    }
  })
})

const GERMANY = { de: 'Deutschland', en: 'Germany', fr: 'Allemagne', 'pt-BR': 'Alemanha', 'zh-CN': '德国' }

describe('the name of a country', () => {
  const germany = new LocalizedCountry('DE', names(GERMANY))
  it.each([
    ['en', 'Germany', 'exact'],
    ['fr-CA', 'Allemagne', 'RFC 4647 lookup'],
    ['PT-BR', 'Alemanha', 'case is ignored'],
    ['pt', 'Alemanha', 'by language'],
    ['pt-PT', 'Alemanha', 'by language, from another region'],
    ['zh', '德国', 'by language'],
    ['zh-Hant', '德國', "another script than the database's: the platform"],
    ['it', 'Germania', 'not in the database: the platform'],
    ['sv-FI', 'Tyskland', 'the platform, by its own lookup'],
    ['tlh', 'Germany', 'in neither: English'],
  ])('in %s: %s (%s)', (locale, name) => {
    expect(germany.in(localeOf(locale))).toEqual({ code: 'DE', name })
  })

  it.each([
    ['DE', {}, 'en', 'Germany'],
    ['DE', {}, 'ja', 'ドイツ'],
    ['DE', {}, 'tlh', 'Germany'],
    // In any language if nothing else matches.
    [null, { ru: 'Страна' }, 'de', 'Страна'],
    [null, {}, 'de', null],
    ['ZQ', {}, 'en', null],
  ])('of the code %j and the names %j in %s is %s', (code, byTag, locale, name) => {
    expect(new LocalizedCountry(code, names(byTag)).in(localeOf(locale))).toEqual({ code, name })
  })
})

describe('the name of a region', () => {
  it.each([
    ['de', 'Kalifornien', 'exact'],
    ['de-AT', 'Kalifornien', 'RFC 4647 lookup'],
    ['zh-Hant', '加利福尼亚州', 'the same language in another script, since platforms have no region names'],
    ['it', 'California', 'English'],
  ])('in %s: %s (%s)', (locale, name) => {
    const california = new LocalizedRegion(
      'US-CA',
      names({ en: 'California', de: 'Kalifornien', 'zh-CN': '加利福尼亚州' }),
    )
    expect(california.in(localeOf(locale))).toEqual({ code: 'US-CA', name })
  })
})

describe('LocalizedPart', () => {
  it('works in more locales than it caches', () => {
    const part = new LocalizedCountry('DE', names(GERMANY))
    for (const language of ['de', 'fr', 'en', 'pt']) {
      const regions = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))
      for (const letter of regions) {
        expect(part.in(localeOf(`${language}-A${letter}`)).name).toBe(part.in(localeOf(language)).name)
      }
    }
  })
})
