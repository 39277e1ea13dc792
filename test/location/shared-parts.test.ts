import { describe, expect, it } from 'vitest'
import { localeOf } from '../../src/location/locale.ts'
import {
  LocalizedCountry,
  LocalizedRegion,
  SharedPartsTable,
  Translations,
} from '../../src/location/shared-parts.ts'
import { timezoneOf } from '../../src/location/timezone.ts'

const france = new LocalizedCountry(
  'FR',
  new Translations(new Map(Object.entries({ en: 'France', de: 'Frankreich' }))),
)
const brittany = new LocalizedRegion(
  'FR-BRE',
  new Translations(new Map(Object.entries({ en: 'Brittany', de: 'Bretagne' }))),
)
const paris = timezoneOf('Europe/Paris')

describe('SharedPartsTable', () => {
  it('has one object for each country, region and time zone', () => {
    const table = new SharedPartsTable()
    const parts = table.of(france, brittany, paris)
    expect(table.of(france, brittany, paris)).toBe(parts)
    expect([parts.country, parts.region, parts.timezone]).toEqual([france, brittany, paris])
    expect(table.of(france, brittany, timezoneOf('Asia/Tokyo'))).not.toBe(parts)
    expect(table.of(france, new LocalizedRegion('FR-BRE', brittany.translations), paris)).not.toBe(parts)
  })

  it('is correct when a hostile file gives a region more zones than are stored', () => {
    const table = new SharedPartsTable()
    for (const id of Intl.supportedValuesOf('timeZone')) {
      expect(table.of(france, brittany, timezoneOf(id)).timezone.at(0).id).toBe(id)
    }
  })
})

describe('SharedParts', () => {
  it('returns both parts in the requested locale, whatever the previous one was', () => {
    const parts = new SharedPartsTable().of(france, brittany, paris)
    const actual: [string, string, string][] = []
    for (const tag of ['en', 'de', 'de', 'en', 'de']) {
      actual.push([
        tag,
        String(parts.countryIn(localeOf(tag)).name),
        String(parts.regionIn(localeOf(tag)).name),
      ])
      actual.push([
        tag,
        String(parts.countryIn(localeOf('en')).name),
        String(parts.regionIn(localeOf(tag)).name),
      ])
    }
    const names = { en: ['France', 'Brittany'], de: ['Frankreich', 'Bretagne'] }
    const expected = actual.map(([tag], i) => {
      const [country, region] = tag === 'en' ? names.en : names.de
      return [tag, i % 2 === 0 ? country : names.en[0], region]
    })
    expect(actual).toEqual(expected)
  })

  it('returns the same object each time', () => {
    const parts = new SharedPartsTable().of(france, brittany, paris)
    const english = localeOf('en')
    expect(parts.countryIn(english)).toBe(parts.countryIn(english))
    expect(parts.regionIn(english)).toBe(parts.regionIn(english))
  })
})

const names = (byTag: Record<string, string>): Translations =>
  new Translations(new Map(Object.entries(byTag)))
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

  it('comes from the platform when the database only has codes', () => {
    const bare = new LocalizedCountry('DE', Translations.NONE)
    expect(bare.in(localeOf('en')).name).toBe('Germany')
    expect(bare.in(localeOf('ja')).name).toBe('ドイツ')
    expect(bare.in(localeOf('tlh')).name).toBe('Germany')
  })

  it('is in any language if nothing else matches', () => {
    const odd = new LocalizedCountry(null, names({ ru: 'Страна' }))
    expect(odd.in(localeOf('de'))).toEqual({ code: null, name: 'Страна' })
    expect(new LocalizedCountry(null, Translations.NONE).in(localeOf('de'))).toEqual({
      code: null,
      name: null,
    })
  })

  it('is null for an unknown code', () => {
    expect(new LocalizedCountry('ZQ', Translations.NONE).in(localeOf('en')).name).toBeNull()
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

  it('is one frozen object for all records in a locale', () => {
    const part = new LocalizedCountry('DE', names(GERMANY))
    const german = part.in(localeOf('de'))
    part.in(localeOf('fr'))
    expect(part.in(localeOf('de'))).toBe(german)
    expect(Object.isFrozen(german)).toBe(true)
  })
})
