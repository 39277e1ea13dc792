import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { GeonamesCity } from '../../../scripts/build-data/geonames.ts'
import {
  readCoordinates,
  readZoneTab,
  TimeZones,
  type ZoneCorrections,
} from '../../../scripts/build-data/time-zone.ts'

const tab = readZoneTab(join(import.meta.dirname, '../../../scripts/build-data/input/zone.tab'))
const city = (country: string, latitude: number, longitude: number, zone: string): GeonamesCity => ({
  name: zone,
  country,
  admin1: '',
  latitude,
  longitude,
  zone,
})
const inNevada = [
  city('US', 36.17, -115.14, 'America/Los_Angeles'),
  city('US', 40.74, -114.07, 'America/Denver'), // West Wendover
  city('US', 35.11, -114.62, 'America/Phoenix'), // Arizona's, across the river
]
const inPernambuco = [city('BR', -8.05, -34.88, 'America/Recife')]
const cities = [
  ...inNevada,
  ...inPernambuco,
  city('US', 40.71, -74.01, 'America/New_York'),
  city('CA', 62.45, -114.37, 'America/Yellowknife'),
  city('CA', 42.3, -83.02, 'America/Detroit'), // not a zone of Canada
  city('RU', 64.73, 177.5, 'Asia/Anadyr'),
  city('RU', 55.75, 37.62, 'Europe/Moscow'),
]
const regions = new Map([
  ['US-NV', inNevada],
  ['BR-PE', inPernambuco],
  ['US-NJ', [city('US', 40.73, -74.17, 'America/New_York')]],
])
const corrections = {
  renames: { 'America/Yellowknife': 'America/Edmonton' },
  regions: { 'CL-AI': 'America/Coyhaique', 'FR-971': 'America/Guadeloupe' },
  cities: [{ region: 'BR-PE', latitude: -3.85, longitude: -32.42, zone: 'America/Noronha' }],
  never: { 'US-NV': ['America/Phoenix'] },
}
const zones = new TimeZones(tab, cities, regions, corrections)

describe('TimeZones', () => {
  it.each<[string, string, string | null, [number, number] | null, string | null, string]>([
    ['the only zone of a country', 'GB', 'GB-ENG', [51.5, -0.1], 'Europe/London', 'only-zone'],
    ['the only zone without a position', 'GB', 'GB-ENG', null, 'Europe/London', 'only-zone'],
    ['Kosovo, which is missing in zone.tab', 'XK', null, [42.7, 21.2], 'Europe/Belgrade', 'only-zone'],
    ['the nearest city of the region', 'US', 'US-NV', [40.7, -114.2], 'America/Denver', 'city-of-region'],
    ['not a nearer city of another region', 'US', 'US-NV', [41, -75], 'America/Denver', 'city-of-region'],
    ['a zone that it never has', 'US', 'US-NV', [35.1, -114.6], 'America/Los_Angeles', 'city-of-region'],
    ['the only zone, without a position', 'US', 'US-NJ', null, 'America/New_York', 'city-of-region'],
    ['none of several zones of a region without a position', 'US', 'US-NV', null, null, 'none'],
    ['none of several zones of a country without a position', 'US', null, null, null, 'none'],
    ['another city of a region', 'BR', 'BR-PE', [-3.84, -32.41], 'America/Noronha', 'city-of-region'],
    [
      'a region without cities: the nearest city of the country',
      'US',
      'US-NY',
      [40.7, -74],
      'America/New_York',
      'city-of-country',
    ],
    ['a renamed zone', 'CA', null, [62.4, -114.4], 'America/Edmonton', 'city-of-country'],
    ['a zone of another country', 'CA', null, [42.3, -83], 'America/Toronto', 'city-of-country'],
    ['across the antimeridian', 'RU', null, [65.5, -172], 'Asia/Anadyr', 'city-of-country'],
    ['a zone that is newer than the cities', 'CL', 'CL-AI', [-45.57, -72.07], 'America/Coyhaique', 'region'],
    ['an overseas region', 'FR', 'FR-971', [16.2, -61.5], 'America/Guadeloupe', 'region'],
    ['a country without cities', 'AQ', null, [-77.8, 166.6], 'Antarctica/McMurdo', 'city-of-country'],
    ['no zone at all', 'BV', null, [-54.4, 3.4], null, 'none'],
    ['an unknown country', 'ZZ', null, [0, 0], null, 'none'],
  ])('%s', (_, country, region, position, zone, rule) => {
    const [latitude = 0, longitude = 0] = position ?? []
    const point = position === null ? null : { latitude, longitude }
    expect(zones.find(country, region, point)).toEqual({ zone, rule })
    if (zone !== null) expect(zones.hasZone(country, region, zone)).toBe(true)
  })

  it.each([
    ['US', 'US-NJ', 'America/Los_Angeles'],
    ['FR', 'FR-971', 'Europe/Paris'],
    ['GB', null, 'Europe/Paris'],
  ])('knows that %s %s does not have %s', (country, region, zone) => {
    expect(zones.hasZone(country, region, zone)).toBe(false)
  })

  it('refuses corrections that correct nothing', () => {
    const withCorrections = (change: Partial<ZoneCorrections>) => () =>
      new TimeZones(tab, cities, regions, { ...corrections, ...change })
    expect(withCorrections({ regions: { 'CL-AI': 'America/Nowhere' } })).toThrow(
      'America/Nowhere is not in zone.tab',
    )
    expect(withCorrections({ never: { 'US-NV': ['America/Boise'] } })).toThrow(
      'no city of US-NV has America/Boise',
    )
  })

  it('has only zones that the platform has', () => {
    const unknown = [...tab.values()].flat().filter(({ zone }) => {
      try {
        return new Intl.DateTimeFormat('en', { timeZone: zone }) === undefined
      } catch {
        return true
      }
    })
    // Some releases of Node 20 have older time-zone data.
    expect(unknown.map(({ zone }) => zone).filter((zone) => zone !== 'America/Coyhaique')).toEqual([])
  })
})

describe('readCoordinates', () => {
  it('reads minutes and seconds', () => {
    expect(readCoordinates('+5130-00007')).toEqual({ latitude: 51.5, longitude: -7 / 60 })
    expect(readCoordinates('-690022+0393524')).toEqual({
      latitude: -(69 + 22 / 3600),
      longitude: 39 + 35 / 60 + 24 / 3600,
    })
    expect(() => readCoordinates('51.5,-0.1')).toThrow('is not in ISO 6709')
  })
})
