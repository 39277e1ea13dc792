import type { Locale } from '../location/locale.ts'
import type { Location } from '../location/location-table.ts'
import { type Counts, MAX_BLOCK_ROW_BYTES, type NamedRows, type RunningCounts, takeRoom } from './counts.ts'

/** Separates the parts of a key. Names do not contain it. */
const SEPARATOR = '\u0000'

/**
 * Counts a location.
 *
 * @param uses lines with this location
 * @param details whether to count regions, cities and cells too
 */
export function countLocation(
  counts: RunningCounts,
  location: Location,
  locale: Locale,
  uses: number,
  details: boolean,
): void {
  const country = location.shared.countryIn(locale)
  addNamedRow(counts, 'countries', counts.countries, country.code ?? country.name ?? '', uses, () => ({
    code: country.code,
    name: country.name,
    count: 0,
  }))
  if (!details) return
  const region = location.shared.regionIn(locale)
  const regionKey = [country.code, region.code, region.name].join(SEPARATOR)
  if (region.code !== null || region.name !== null) {
    addNamedRow(counts, 'regions', counts.regions, regionKey, uses, () => ({
      country: country.code,
      code: region.code,
      name: region.name,
      count: 0,
    }))
  }
  const { latitude, longitude } = location.coordinates
  const isLocated = latitude !== null && longitude !== null
  if (location.city !== null) {
    const name = location.city
    const city = addNamedRow(
      counts,
      'cities',
      counts.cities,
      `${regionKey}${SEPARATOR}${name}`,
      uses,
      () => ({
        country: country.code,
        region: region.name ?? region.code,
        name,
        latitudes: 0,
        longitudes: 0,
        located: 0,
        count: 0,
      }),
    )
    if (city !== null && isLocated) {
      city.located += uses
      city.latitudes += latitude * uses
      city.longitudes += longitude * uses
    }
  }
  if (isLocated) {
    const cell = add(counts.cells, `${Math.floor(latitude)},${Math.floor(longitude)}`, uses, () => ({
      latitudes: 0,
      longitudes: 0,
      count: 0,
    }))
    cell.latitudes += latitude * uses
    cell.longitudes += longitude * uses
  }
}

/** @param hour hours since 1970 in local time, or `null` if the time zone is unknown */
export function countInstant(counts: Counts, instant: number, hour: number | null): void {
  if (hour !== null) {
    const ofDay = ((hour % 24) + 24) % 24
    counts.hours[ofDay] = (counts.hours[ofDay] ?? 0) + 1
  }
  if (counts.firstInstant === null || instant < counts.firstInstant) counts.firstInstant = instant
  if (counts.lastInstant === null || instant > counts.lastInstant) counts.lastInstant = instant
}

/** @returns `null` when there is no room for another row */
function addNamedRow<Count extends { count: number }>(
  counts: RunningCounts,
  what: NamedRows,
  rows: Map<string, Count>,
  key: string,
  uses: number,
  make: () => Count,
): Count | null {
  if (!rows.has(key) && !takeRoom(counts, what, key, uses, MAX_BLOCK_ROW_BYTES)) return null
  return add(rows, key, uses, make)
}

function add<Count extends { count: number }>(
  rows: Map<string, Count>,
  key: string,
  uses: number,
  make: () => Count,
): Count {
  let count = rows.get(key)
  if (count === undefined) {
    count = make()
    rows.set(key, count)
  }
  count.count += uses
  return count
}
