import { readFileSync } from 'node:fs'
import { distanceKm, groupBy, type Point } from './globe.ts'
import { nameKey } from './name-spelling.ts'

/** A city of GeoNames' cities500. */
export type GeonamesCity = Point & {
  readonly name: string
  readonly country: string
  /** GeoNames' own code of the first-level region, which is not that of ISO 3166-2. */
  readonly admin1: string
  readonly zone: string
}

/** Reads cities500.txt (columns of GeoNames' main table: 2 name in ASCII, 4 latitude, 5 longitude, 8 country, 10 region, 17 time zone). */
export function readCities(path: string): GeonamesCity[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const columns = line.split('\t')
      return {
        name: columns[2] ?? '',
        latitude: Number(columns[4]),
        longitude: Number(columns[5]),
        country: columns[8] ?? '',
        admin1: columns[10] ?? '',
        zone: columns[17] ?? '',
      }
    })
}

/** A city with the position and the region that a source gives it. */
export type LocatedCity = Point & {
  readonly country: string
  readonly regionCode: string | null
  readonly city: string
}

/** A city of GeoNames and one of the source with its name are the same within this distance. */
const SAME_CITY_KM = 15

/** A region of GeoNames is that of an ISO code if at least this share of their common cities says so. */
const LEAST_SHARE = 0.25

/**
 * Finds the cities of GeoNames in each ISO 3166-2 region. GeoNames has codes of its own for regions. Cities with the same name
 * at the same place tell which ISO code they stand for; two, where ISO has divided the region since.
 */
export function citiesOfRegions(
  cities: readonly GeonamesCity[],
  located: Iterable<LocatedCity>,
): Map<string, GeonamesCity[]> {
  const byName = new CitiesByName(cities)
  const votes = new Map<string, Map<string, Set<string>>>()
  for (const { regionCode, ...place } of located) {
    if (regionCode === null) continue
    const same = byName.find(place, SAME_CITY_KM)
    if (same === undefined) continue
    const region = regionOf(same)
    const codes = votes.get(region) ?? new Map<string, Set<string>>()
    votes.set(region, codes)
    const names = codes.get(regionCode) ?? new Set()
    codes.set(regionCode, names.add(nameKey(place.city)))
  }
  const codesOf = new Map(
    [...votes].map(([region, codes]) => {
      const all = [...codes.values()].reduce((sum, names) => sum + names.size, 0)
      return [region, [...codes].filter(([, names]) => names.size >= all * LEAST_SHARE).map(([code]) => code)]
    }),
  )
  const found = new Map<string, GeonamesCity[]>()
  for (const city of cities) {
    for (const code of codesOf.get(regionOf(city)) ?? []) {
      const group = found.get(code)
      if (group === undefined) found.set(code, [city])
      else group.push(city)
    }
  }
  return found
}

const regionOf = ({ country, admin1 }: GeonamesCity): string => `${country}.${admin1}`

/** Finds cities of GeoNames by their names. */
export class CitiesByName {
  readonly #cities: ReadonlyMap<string, readonly GeonamesCity[]>

  constructor(cities: readonly GeonamesCity[]) {
    this.#cities = groupBy(cities, ({ country, name }) => `${country}|${nameKey(name)}`)
  }

  /** The nearest city with the name in the country, if it is not farther than `km`. */
  find(
    place: Point & { readonly country: string; readonly city: string },
    km: number,
  ): GeonamesCity | undefined {
    let best: GeonamesCity | undefined
    let least = km
    for (const city of this.#cities.get(`${place.country}|${nameKey(place.city)}`) ?? []) {
      const far = distanceKm(city, place)
      if (far <= least) {
        least = far
        best = city
      }
    }
    return best
  }
}
