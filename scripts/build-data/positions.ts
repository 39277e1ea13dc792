import { CitiesByName, type GeonamesCity, type LocatedCity } from './geonames.ts'
import { distanceKm, groupBy, NearestIndex, type Point } from './globe.ts'
import { nameKey } from './name-spelling.ts'

/** What a position contradicts. */
export type Contradiction = 'country' | 'region' | 'city'

/** A location of the source: its position, and the names that the source gives to it. */
export type Placed = LocatedCity & {
  /** The region's code, or its name if it has none. */
  readonly region: string
  /** The number of networks. */
  readonly weight: number
  /** Whether {@link Positions.contradiction} may judge it. */
  readonly isJudged: boolean
}

/** A position can be in another country if the nearest city is there, and the own country's are farther away than this. */
const COUNTRY_KM = 30

/** Without an outline of the country, if they are farther away than this. */
const COUNTRY_WITHOUT_OUTLINE_KM = 100

/** A position can be in another region if that region has a city this near, … */
const OTHER_REGION_KM = 15

/** … no city of its own region is as near as this, … */
const OWN_REGION_KM = 50

/** … and at most one of so many cities around it in the source is in its own region. GeoNames lacks some cities. */
const CITIES_AROUND = 12

/** A position is not in its city if it is farther from it than this, unless another city there has the same name. */
const CITY_KM = 400
const SAME_NAME_KM = 50

/** Nor where no city is within the first distance, and the city with its name in the region is not within the second. */
const ANY_CITY_KM = 100
const OWN_CITY_KM = 200

type City = Point & Pick<Placed, 'country' | 'region' | 'city'>

/**
 * Finds positions that contradict the names of their location. The source has a few hundred: the middle of a country, of
 * another country, or a city elsewhere with the same name.
 */
export class Positions {
  readonly #isNearCountry: (country: string, position: Point) => boolean | null
  readonly #byName: CitiesByName
  readonly #all: NearestIndex<GeonamesCity>
  readonly #countries: ReadonlyMap<string, NearestIndex<GeonamesCity>>
  readonly #regions: ReadonlyMap<string, NearestIndex<GeonamesCity>>
  readonly #inRegions: ReadonlyMap<string, readonly GeonamesCity[]>
  /** The cities of the source, by country. */
  readonly #own: ReadonlyMap<string, NearestIndex<City>>
  readonly #cities: ReadonlyMap<string, City>

  /**
   * @param isNearCountry whether a position is in a country or near it; `null` if that is not known
   * @param cities all cities of GeoNames
   * @param regions those of each ISO 3166-2 region
   * @param places all locations of the source
   */
  constructor(
    isNearCountry: (country: string, position: Point) => boolean | null,
    cities: readonly GeonamesCity[],
    regions: ReadonlyMap<string, readonly GeonamesCity[]>,
    places: readonly Placed[],
  ) {
    const index = <T extends Point>(
      groups: ReadonlyMap<string, readonly T[]>,
    ): Map<string, NearestIndex<T>> =>
      new Map([...groups].map(([key, items]) => [key, new NearestIndex(items)]))
    this.#isNearCountry = isNearCountry
    this.#byName = new CitiesByName(cities)
    this.#all = new NearestIndex(cities)
    this.#countries = index(groupBy(cities, ({ country }) => country))
    this.#regions = index(regions)
    this.#inRegions = regions
    this.#cities = new Map(
      [...groupBy(places, cityKey)].flatMap(([key, [first, ...others]]) =>
        first === undefined ? [] : [[key, { ...first, ...middleOf([first, ...others]) }]],
      ),
    )
    this.#own = index(groupBy(this.#cities.values(), ({ country }) => country))
  }

  /**
   * Where the city of a location is: the only one with its name in the region, or the middle of its other locations. `null` if
   * that is not known.
   */
  cityOf(place: Placed): Point | null {
    const [only, another] = this.#sameName(place)
    if (only !== undefined && another === undefined) return only
    const middle = this.#cities.get(cityKey(place))
    return middle === undefined || this.contradiction({ ...place, ...middle }) !== null ? null : middle
  }

  /** What the position of a location contradicts; `null` if nothing. */
  contradiction(place: Placed): Contradiction | null {
    if (!place.isJudged) return null
    if (this.#isInOtherCountry(place)) return 'country'
    if (this.#isInOtherRegion(place)) return 'region'
    return this.#isFarFromCity(place) ? 'city' : null
  }

  #isInOtherCountry(place: Placed): boolean {
    const nearest = this.#all.nearest(place)
    const own = this.#countries.get(place.country)?.nearest(place)
    if (nearest === undefined || own === undefined || nearest.item.country === place.country) return false
    if (own.km < COUNTRY_KM) return false
    const isNear = this.#isNearCountry(place.country, place)
    return isNear === null ? own.km > COUNTRY_WITHOUT_OUTLINE_KM && nearest.km < COUNTRY_KM : !isNear
  }

  #isInOtherRegion(place: Placed): boolean {
    const own = place.regionCode === null ? undefined : this.#regions.get(place.regionCode)?.nearest(place)
    const nearest = this.#countries.get(place.country)?.nearest(place)
    if (own === undefined || nearest === undefined) return false
    if (own.km < OWN_REGION_KM || nearest.km > OTHER_REGION_KM) return false
    const around = (this.#own.get(place.country)?.nearestOf(place, CITIES_AROUND + 1) ?? [])
      .filter(({ item }) => item.city !== place.city)
      .slice(0, CITIES_AROUND)
    return around.filter(({ item }) => item.region === place.region).length <= 1
  }

  #isFarFromCity(place: Placed): boolean {
    const middle = this.#cities.get(cityKey(place))
    if (place.city === '' || middle === undefined) return false
    if (distanceKm(place, middle) > CITY_KM) return this.#byName.find(place, SAME_NAME_KM) === undefined
    const nearest = this.#countries.get(place.country)?.nearest(place)
    if (nearest === undefined || nearest.km < ANY_CITY_KM) return false
    const same = this.#sameName(place)
    return same.length > 0 && same.every((city) => distanceKm(city, place) > OWN_CITY_KM)
  }

  /** The cities of GeoNames with the same name in the region. */
  #sameName({ regionCode, city }: Placed): GeonamesCity[] {
    const key = nameKey(city)
    return (this.#inRegions.get(regionCode ?? '') ?? []).filter(({ name }) => nameKey(name) === key)
  }
}

const cityKey = ({ country, region, city }: Pick<Placed, 'country' | 'region' | 'city'>): string =>
  `${country}|${region}|${city}`

/** The place in the middle by latitude and by longitude, counted in networks: single places elsewhere do not move it. */
function middleOf(places: readonly Placed[]): Point {
  const half = places.reduce((sum, { weight }) => sum + weight, 0) / 2
  const middle = (of: (place: Placed) => number): number => {
    let sum = 0
    const sorted = [...places].sort((a, b) => of(a) - of(b))
    const found = sorted.find((place) => {
      sum += place.weight
      return sum >= half
    })
    return found === undefined ? 0 : of(found)
  }
  return { latitude: middle((place) => place.latitude), longitude: middle((place) => place.longitude) }
}
