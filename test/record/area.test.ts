import { describe, expect, it } from 'vitest'
import { AreaTable } from '../../src/record/area.ts'
import { localeOf } from '../../src/record/locale.ts'
import { NamedCountry, NamedRegion } from '../../src/record/named-part.ts'
import { Names } from '../../src/record/names.ts'
import { timezoneOf } from '../../src/record/timezone.ts'

const france = new NamedCountry('FR', new Names(new Map(Object.entries({ en: 'France', de: 'Frankreich' }))))
const brittany = new NamedRegion(
  'FR-BRE',
  new Names(new Map(Object.entries({ en: 'Brittany', de: 'Bretagne' }))),
)
const paris = timezoneOf('Europe/Paris')

describe('AreaTable', () => {
  it('makes an area once for its country, region and time zone', () => {
    const areas = new AreaTable()
    const area = areas.of(france, brittany, paris)
    expect(areas.of(france, brittany, paris)).toBe(area)
    expect([area.country, area.region, area.timezone]).toEqual([france, brittany, paris])
    expect(areas.of(france, brittany, timezoneOf('Asia/Tokyo'))).not.toBe(area)
    expect(areas.of(france, new NamedRegion('FR-BRE', brittany.names), paris)).not.toBe(area)
  })

  it('stays right when a hostile file gives a region more zones than it keeps', () => {
    const areas = new AreaTable()
    for (const id of Intl.supportedValuesOf('timeZone')) {
      expect(areas.of(france, brittany, timezoneOf(id)).timezone.at(0).id).toBe(id)
    }
  })
})

describe('Area', () => {
  it('gives both parts in the language asked for, whatever was asked before', () => {
    const area = new AreaTable().of(france, brittany, paris)
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
    const area = new AreaTable().of(france, brittany, paris)
    const english = localeOf('en')
    expect(area.countryIn(english)).toBe(area.countryIn(english))
    expect(area.regionIn(english)).toBe(area.regionIn(english))
  })
})
