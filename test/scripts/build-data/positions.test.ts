import { describe, expect, it } from 'vitest'
import type { GeonamesCity } from '../../../scripts/build-data/geonames.ts'
import type { Point } from '../../../scripts/build-data/globe.ts'
import { type Placed, Positions } from '../../../scripts/build-data/positions.ts'

const geonames = (country: string, name: string, latitude: number, longitude: number): GeonamesCity => ({
  name,
  country,
  admin1: '',
  latitude,
  longitude,
  zone: 'Etc/UTC',
})
const placed = (
  city: string,
  region: string,
  latitude: number,
  longitude: number,
  change: Partial<Placed> = {},
): Placed => ({
  country: 'AA',
  regionCode: region,
  region,
  city,
  latitude,
  longitude,
  weight: 1,
  isJudged: true,
  ...change,
})

// The country AA is between 0 and 10 degrees of longitude, with the region AA-W west of 5 degrees.
const west = [geonames('AA', 'Westham', 0, 1), geonames('AA', 'Lone', 8, 1)]
const east = [geonames('AA', 'Easton', 0, 9), geonames('AA', 'Lone', 0.5, 6)]
const cities = [...west, ...east, geonames('BB', 'Abroad', 0, 12), geonames('CC', 'Islet', 20, 100)]
const regions = new Map([
  ['AA-W', west],
  ['AA-E', east],
])
/** Cities of the source around Easton. */
const around = Array.from({ length: 13 }, (_, i) => placed(`E${i}`, 'AA-E', 0.2, 8.5 + i / 20))
const isNearCountry = (country: string, { longitude }: Point): boolean | null =>
  country === 'AA' ? longitude >= 0 && longitude <= 10 : null

function judge(place: Placed, others: readonly Placed[] = []) {
  const places = [...around, ...others, place]
  return new Positions(isNearCountry, cities, regions, places).contradiction(place)
}

const many = (place: Placed): Placed => ({ ...place, weight: 100 })

describe('contradiction', () => {
  it.each<[string, Placed, readonly Placed[], ReturnType<typeof judge>]>([
    ['none', placed('Westham', 'AA-W', 0.01, 1), [], null],
    ['a city of another country', placed('Westham', 'AA-W', 0, 12), [], 'country'],
    ['not near the border, where the nearest city is abroad', placed('Border', 'AA-E', 0, 9.9), [], null],
    ['not in the country, where it has no city', placed('Village', 'AA-W', 4, 9.99), [], null],
    ['not in a disputed region', placed('Westham', 'AA-W', 0, 12, { isJudged: false }), [], null],
    [
      'without an outline: far from all cities of the country',
      placed('Islet', 'CC', 0, 12, { country: 'CC', regionCode: null }),
      [],
      'country',
    ],
    ['a city of another region', placed('Westham', 'AA-W', 0, 9), [], 'region'],
    [
      'not where the source has other cities of the region',
      placed('Westham', 'AA-W', 0, 9),
      [placed('W1', 'AA-W', 0, 8.99), placed('W2', 'AA-W', 0, 9.01)],
      null,
    ],
    ['not without a code of the region', placed('X', 'Nowhere', 0, 9, { regionCode: null }), [], null],
    [
      'far from where most networks of the city are',
      placed('Small', 'AA-W', 5, 1),
      [many(placed('Small', 'AA-W', 0, 1))],
      'city',
    ],
    ['near another of its name', placed('Lone', 'AA-W', 8, 1.1), [many(placed('Lone', 'AA-W', 0, 1))], null],
    ['in the middle of nowhere, far from the city of its name', placed('Westham', 'AA-W', 4, 4), [], 'city'],
    ['not for a name that no other source has', placed('Unheard', 'AA-W', 4, 4), [], null],
  ])('%s', (_, place, others, expected) => expect(judge(place, others)).toBe(expected))
})

describe('cityOf', () => {
  const wrong = placed('Westham', 'AA-W', 0, 12)
  const find = (place: Placed, others: readonly Placed[]) =>
    new Positions(isNearCountry, cities, regions, [...around, ...others, place]).cityOf(place)

  it('is the city with the name in the region', () => expect(find(wrong, [])).toMatchObject({ longitude: 1 }))

  it('is otherwise where most networks of the city are', () => {
    const place = { ...wrong, city: 'Unheard' }
    expect(find(place, [many(placed('Unheard', 'AA-W', 1, 2))])).toMatchObject({ latitude: 1, longitude: 2 })
  })

  it('is not known if they are wrong too', () => expect(find({ ...wrong, city: 'Unheard' }, [])).toBeNull())
})
