import { describe, expect, it } from 'vitest'
import { CitiesByName, citiesOfRegions, type GeonamesCity } from '../../../scripts/build-data/geonames.ts'

const city = (name: string, admin1: string, latitude: number, longitude = 0): GeonamesCity => ({
  name,
  country: 'AA',
  admin1,
  latitude,
  longitude,
  zone: 'Etc/UTC',
})
const located = (name: string, regionCode: string | null, latitude: number) => ({
  country: 'AA',
  regionCode,
  city: name,
  latitude,
  longitude: 0,
})

const cities = [
  ...['One', 'Two', 'Three', 'Four', 'Five', 'Six'].map((name, i) => city(name, '07', i)),
  ...['Seven', 'Eight'].map((name, i) => city(name, '08', 10 + i)),
  city('Far', '09', 30),
]

describe('citiesOfRegions', () => {
  it('finds the codes of regions by cities with the same name at the same place', () => {
    const regions = citiesOfRegions(cities, [
      located('One', 'AA-N', 0),
      located('Two', 'AA-N', 1),
      located('Three', 'AA-N', 2),
      located('Four', 'AA-N', 3),
      located('Five', 'AA-X', 4), // one of five: the source is wrong
      located('Seven', 'AA-S', 10),
      located('Eight', 'AA-T', 11), // ISO has divided the region
      located('Far', 'AA-Y', 0), // another city with the name
      located('Six', null, 5),
    ])
    const names = [...regions].map(([code, found]) => [code, found.map(({ name }) => name).join(' ')])
    expect(names).toEqual([
      ['AA-N', 'One Two Three Four Five Six'],
      ['AA-S', 'Seven Eight'],
      ['AA-T', 'Seven Eight'],
    ])
  })
})

describe('CitiesByName', () => {
  it('finds the nearest city with the name, in any spelling', () => {
    const saint = city("Saint Mary's", '07', 1)
    const byName = new CitiesByName([city('St. Marys', '07', 2), saint])
    expect(byName.find({ country: 'AA', city: 'St Marys', latitude: 1.1, longitude: 0 }, 50)).toBe(saint)
    expect(byName.find({ country: 'AA', city: 'St Marys', latitude: 9, longitude: 0 }, 50)).toBeUndefined()
    expect(byName.find({ country: 'BB', city: 'St Marys', latitude: 1, longitude: 0 }, 50)).toBeUndefined()
  })
})
