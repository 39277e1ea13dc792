import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCoordinates, readZoneTab, TimeZones } from '../../../scripts/build-data/time-zone.ts'

const tab = readZoneTab(join(import.meta.dirname, '../../../scripts/build-data/input/zone.tab'))
const cities = [
  { country: 'US', latitude: 40.71, longitude: -74.01, zone: 'America/New_York' },
  { country: 'US', latitude: 34.05, longitude: -118.24, zone: 'America/Los_Angeles' },
  { country: 'CA', latitude: 62.45, longitude: -114.37, zone: 'America/Yellowknife' },
  { country: 'CA', latitude: 42.3, longitude: -83.02, zone: 'America/Detroit' }, // not a zone of Canada
  { country: 'RU', latitude: 64.73, longitude: 177.5, zone: 'Asia/Anadyr' },
  { country: 'RU', latitude: 55.75, longitude: 37.62, zone: 'Europe/Moscow' },
]
const zones = new TimeZones(
  tab,
  cities,
  { 'America/Yellowknife': 'America/Edmonton' },
  { 'CL-AI': 'America/Coyhaique' },
)

describe('TimeZones', () => {
  it.each<[string, string, string | null, number, number, string | null, string]>([
    ['the only zone of a country', 'GB', 'GB-ENG', 51.5, -0.1, 'Europe/London', 'only-zone'],
    ['Kosovo, which is missing in zone.tab', 'XK', null, 42.7, 21.2, 'Europe/Belgrade', 'only-zone'],
    ['Vietnam, independently of cities', 'VN', null, 21, 105.8, 'Asia/Ho_Chi_Minh', 'only-zone'],
    ['the nearest city', 'US', 'US-NV', 36.2, -115.1, 'America/Los_Angeles', 'nearest-city'],
    ['a city next door', 'US', 'US-NJ', 40.73, -74.17, 'America/New_York', 'nearest-city'],
    ['a renamed zone', 'CA', null, 62.4, -114.4, 'America/Edmonton', 'nearest-city'],
    ['not a city with a zone of another country', 'CA', null, 42.3, -83, 'America/Edmonton', 'nearest-city'],
    ['across the antimeridian', 'RU', null, 65.5, -172, 'Asia/Anadyr', 'nearest-city'],
    ['a zone that is newer than the cities', 'CL', 'CL-AI', -45.57, -72.07, 'America/Coyhaique', 'region'],
    [
      'without cities: the nearest location in zone.tab',
      'AQ',
      null,
      -77.8,
      166.6,
      'Antarctica/McMurdo',
      'nearest-zone',
    ],
    ['no zone at all', 'BV', null, -54.4, 3.4, null, 'none'],
    ['an unknown country', 'ZZ', null, 0, 0, null, 'none'],
  ])('%s', (_, country, region, latitude, longitude, zone, rule) => {
    expect(zones.find(country, region, latitude, longitude)).toEqual({ zone, rule })
  })

  it('refuses a zone of a region that the country does not have', () => {
    expect(() => new TimeZones(tab, [], {}, { 'CL-AI': 'America/Lima' })).toThrow(
      'America/Lima is not in zone.tab',
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
