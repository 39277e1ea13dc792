import type { Locale } from '../location/locale.ts'
import type { Location } from '../location/location.ts'
import { type Listed, type Tally, takeRoom } from './tally.ts'

/** Separates the parts of a key; it is in no name. */
const SEPARATOR = '\u0000'

/**
 * What the rows by name of one piece of output may weigh, of which there are several under way. The lines of a block
 * come to a third of it where each has another city, of usual names. Bytes.
 */
const MAX_WEIGHT = 2 ** 25

/** Counts lines that are at a place in a tally, in detail when `sums`. */
export function countPlace(tally: Tally, place: Location, locale: Locale, uses: number, sums: boolean): void {
  const country = place.shared.countryIn(locale)
  addListed(tally, 'countries', tally.countries, country.code ?? country.name ?? '', uses, () => ({
    code: country.code,
    name: country.name,
    count: 0,
  }))
  if (!sums) return
  const region = place.shared.regionIn(locale)
  const regionKey = [country.code, region.code, region.name].join(SEPARATOR)
  if (region.code !== null || region.name !== null) {
    addListed(tally, 'regions', tally.regions, regionKey, uses, () => ({
      country: country.code,
      code: region.code,
      name: region.name,
      count: 0,
    }))
  }
  const { latitude, longitude } = place.coordinates
  const isLocated = latitude !== null && longitude !== null
  if (place.city !== null) {
    const name = place.city
    const city = addListed(tally, 'cities', tally.cities, `${regionKey}${SEPARATOR}${name}`, uses, () => ({
      country: country.code,
      region: region.name ?? region.code,
      name,
      latitudes: 0,
      longitudes: 0,
      located: 0,
      count: 0,
    }))
    if (city !== null && isLocated) {
      city.located += uses
      city.latitudes += latitude * uses
      city.longitudes += longitude * uses
    }
  }
  if (isLocated) {
    const cell = add(tally.cells, `${Math.floor(latitude)},${Math.floor(longitude)}`, uses, () => ({
      latitudes: 0,
      longitudes: 0,
      count: 0,
    }))
    cell.latitudes += latitude * uses
    cell.longitudes += longitude * uses
  }
}

/** @param hour hours since 1970 on the clocks of the place; `null` when they are not known */
export function countInstant(tally: Tally, instant: number, hour: number | null): void {
  if (hour !== null) {
    const ofDay = ((hour % 24) + 24) % 24
    tally.hours[ofDay] = (tally.hours[ofDay] ?? 0) + 1
  }
  if (tally.firstInstant === null || instant < tally.firstInstant) tally.firstInstant = instant
  if (tally.lastInstant === null || instant > tally.lastInstant) tally.lastInstant = instant
}

/** @returns `null` when there is no room for one more row */
function addListed<Count extends { count: number }>(
  tally: Tally,
  what: Listed,
  counts: Map<string, Count>,
  key: string,
  uses: number,
  make: () => Count,
): Count | null {
  if (!counts.has(key) && !takeRoom(tally, what, key, uses, MAX_WEIGHT)) return null
  return add(counts, key, uses, make)
}

function add<Count extends { count: number }>(
  counts: Map<string, Count>,
  key: string,
  uses: number,
  make: () => Count,
): Count {
  let count = counts.get(key)
  if (count === undefined) {
    count = make()
    counts.set(key, count)
  }
  count.count += uses
  return count
}
