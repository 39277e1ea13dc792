import { describe, expect, it } from 'vitest'
import { localeOf } from '../../src/location/locale.ts'
import { LocalizedCountry, LocalizedRegion } from '../../src/location/named-part.ts'
import { SharedPartsTable } from '../../src/location/shared-parts.ts'
import { timezoneOf } from '../../src/location/timezone.ts'
import { Translations } from '../../src/location/translations.ts'

const france = new LocalizedCountry(
  'FR',
  new Translations(new Map(Object.entries({ en: 'France', de: 'Frankreich' }))),
)
const brittany = new LocalizedRegion(
  'FR-BRE',
  new Translations(new Map(Object.entries({ en: 'Brittany', de: 'Bretagne' }))),
)
const paris = timezoneOf('Europe/Paris')

describe('AreaTable', () => {
  it('makes an area once for its country, region and time zone', () => {
    const areas = new SharedPartsTable()
    const area = areas.of(france, brittany, paris)
    expect(areas.of(france, brittany, paris)).toBe(area)
    expect([area.country, area.region, area.timezone]).toEqual([france, brittany, paris])
    expect(areas.of(france, brittany, timezoneOf('Asia/Tokyo'))).not.toBe(area)
    expect(areas.of(france, new LocalizedRegion('FR-BRE', brittany.translations), paris)).not.toBe(area)
  })

  it('stays right when a hostile file gives a region more zones than it keeps', () => {
    const areas = new SharedPartsTable()
    for (const id of Intl.supportedValuesOf('timeZone')) {
      expect(areas.of(france, brittany, timezoneOf(id)).timezone.at(0).id).toBe(id)
    }
  })
})

describe('Area', () => {
  it('gives both parts in the language asked for, whatever was asked before', () => {
    const area = new SharedPartsTable().of(france, brittany, paris)
    const asked: [string, string, string][] = []
    for (const tag of ['en', 'de', 'de', 'en', 'de']) {
      asked.push([tag, String(area.countryIn(localeOf(tag)).name), String(area.regionIn(localeOf(tag)).name)])
      asked.push([
        tag,
        String(area.countryIn(localeOf('en')).name),
        String(area.regionIn(localeOf(tag)).name),
      ])
    }
    const names = { en: ['France', 'Brittany'], de: ['Frankreich', 'Bretagne'] }
    const expected = asked.map(([tag], i) => {
      const [country, region] = tag === 'en' ? names.en : names.de
      return [tag, i % 2 === 0 ? country : names.en[0], region]
    })
    expect(asked).toEqual(expected)
  })

  it('gives the same object each time', () => {
    const area = new SharedPartsTable().of(france, brittany, paris)
    const english = localeOf('en')
    expect(area.countryIn(english)).toBe(area.countryIn(english))
    expect(area.regionIn(english)).toBe(area.regionIn(english))
  })
})
