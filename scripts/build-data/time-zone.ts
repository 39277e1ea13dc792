import { readFileSync } from 'node:fs'

/** A row of tzdata's zone.tab: a time zone of a country, and its principal location. */
export type ZoneRow = { readonly zone: string; readonly latitude: number; readonly longitude: number }

/** Kosovo has no ISO 3166-1 code, so zone.tab has no row for the code that DB-IP uses. */
const KOSOVO: ZoneRow = { zone: 'Europe/Belgrade', latitude: 42.67, longitude: 21.17 }

/** The time zones of every country, from tzdata's zone.tab. */
export function readZoneTab(path: string): Map<string, ZoneRow[]> {
  const byCountry = new Map<string, ZoneRow[]>([['XK', [KOSOVO]]])
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line.startsWith('#') || line === '') continue
    const [country = '', coordinates = '', zone = ''] = line.split('\t')
    const rows = byCountry.get(country) ?? []
    rows.push({ zone, ...readCoordinates(coordinates) })
    byCountry.set(country, rows)
  }
  return byCountry
}

/** ISO 6709: `+DDMM+DDDMM` or `+DDMMSS+DDDMMSS`. */
export function readCoordinates(text: string): { latitude: number; longitude: number } {
  const match = /^([+-])(\d\d)(\d\d)(\d\d)?([+-])(\d{3})(\d\d)(\d\d)?$/.exec(text)
  if (match === null) throw new Error(`zone.tab: ${JSON.stringify(text)} is not in ISO 6709`)
  const degrees = (sign: number): number => {
    const [degree, minute, second] = [match[sign + 1], match[sign + 2], match[sign + 3] ?? '0'].map(Number)
    const value = (degree ?? 0) + (minute ?? 0) / 60 + (second ?? 0) / 3600
    return match[sign] === '-' ? -value : value
  }
  return { latitude: degrees(1), longitude: degrees(5) }
}

/** A city of GeoNames' cities500. */
export type GeonamesCity = {
  readonly country: string
  readonly latitude: number
  readonly longitude: number
  readonly zone: string
}

/** Reads cities500.txt (columns of GeoNames' main table: 4 latitude, 5 longitude, 8 country, 17 time zone). */
export function readCities(path: string): GeonamesCity[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const columns = line.split('\t')
      return {
        latitude: Number(columns[4]),
        longitude: Number(columns[5]),
        country: columns[8] ?? '',
        zone: columns[17] ?? '',
      }
    })
}

/** The rule that found a zone. */
export type ZoneRule = 'only-zone' | 'region' | 'nearest-city' | 'nearest-zone' | 'none'

export type ZoneAnswer = { readonly zone: string | null; readonly rule: ZoneRule }

type Located = { readonly latitude: number; readonly longitude: number; readonly zone: string }

/** Size of a cell of the index, in latitude and longitude. */
const CELL_DEGREES = 0.5

/**
 * Finds the time zone of a location, which is always one of its country:
 * 1. the only zone of the country in zone.tab;
 * 2. the zone of the region, for zones that are newer than the data of the cities;
 * 3. the zone of the nearest city in the country, ignoring cities whose zone is not one of the country (GeoNames has a
 *    few dozen, at borders and in countries whose row in zone.tab was merged with another one);
 * 4. the zone of the nearest principal location in zone.tab, for countries without cities (Antarctica);
 * 5. none, for countries without a zone (Bouvet Island, Heard Island).
 */
export class TimeZones {
  readonly #zones: ReadonlyMap<string, readonly ZoneRow[]>
  readonly #regions: Readonly<Record<string, string>>
  readonly #cities = new Map<string, CityIndex>()

  /**
   * @param renames zones of the cities that tzdata has renamed since
   * @param regions zone by ISO 3166-2 code
   */
  constructor(
    zones: ReadonlyMap<string, readonly ZoneRow[]>,
    cities: readonly GeonamesCity[],
    renames: Readonly<Record<string, string>>,
    regions: Readonly<Record<string, string>>,
  ) {
    this.#zones = zones
    this.#regions = regions
    for (const [code, zone] of Object.entries(regions)) {
      if (!this.isZoneOf(zone, code.slice(0, 2)))
        throw new Error(`time zone of ${code}: ${zone} is not in zone.tab`)
    }
    for (const { country, latitude, longitude, zone } of cities) {
      const current = renames[zone] ?? zone
      if (!this.isZoneOf(current, country)) continue
      const index = this.#cities.get(country) ?? new CityIndex()
      index.add({ latitude, longitude, zone: current })
      this.#cities.set(country, index)
    }
  }

  isZoneOf(zone: string, country: string): boolean {
    return this.#zones.get(country)?.some((row) => row.zone === zone) ?? false
  }

  find(country: string, regionCode: string | null, latitude: number, longitude: number): ZoneAnswer {
    const zones = this.#zones.get(country) ?? []
    const [first, second] = zones
    if (first === undefined) return { zone: null, rule: 'none' }
    if (second === undefined) return { zone: first.zone, rule: 'only-zone' }
    const ofRegion = regionCode === null ? undefined : this.#regions[regionCode]
    if (ofRegion !== undefined) return { zone: ofRegion, rule: 'region' }
    const city = this.#cities.get(country)?.nearest(latitude, longitude)
    if (city !== undefined) return { zone: city.zone, rule: 'nearest-city' }
    return { zone: nearest(zones, latitude, longitude)?.zone ?? null, rule: 'nearest-zone' }
  }
}

/** The cities of one country, by cells of the globe. */
class CityIndex {
  readonly #all: Located[] = []
  readonly #cells = new Map<number, Located[]>()

  add(city: Located): void {
    this.#all.push(city)
    const cell = cellNumber(row(city.latitude), column(city.longitude))
    const cities = this.#cells.get(cell)
    if (cities === undefined) this.#cells.set(cell, [city])
    else cities.push(city)
  }

  nearest(latitude: number, longitude: number): Located | undefined {
    // Search rings of cells around the location. A city in ring n + 1 is at least n cells away. Cells become narrow
    // towards the poles, so from 60° on, and if no city is near, compare all cities of the country.
    if (Math.abs(latitude) < 60) {
      for (const radius of [1, 4]) {
        const best = nearest(this.#around(latitude, longitude, radius), latitude, longitude)
        if (
          best !== undefined &&
          distance(best, latitude, longitude) < haversine(radius * CELL_DEGREES * 0.5)
        )
          return best
      }
    }
    return nearest(this.#all, latitude, longitude)
  }

  *#around(latitude: number, longitude: number, radius: number): Generator<Located> {
    for (let y = -radius; y <= radius; y++) {
      for (let x = -radius; x <= radius; x++) {
        const cell = cellNumber(row(latitude) + y, column(longitude) + x)
        for (const city of this.#cells.get(cell) ?? []) yield city
      }
    }
  }
}

const COLUMNS = 360 / CELL_DEGREES
const row = (latitude: number): number => Math.floor((latitude + 90) / CELL_DEGREES)
const column = (longitude: number): number => Math.floor((longitude + 180) / CELL_DEGREES)
const cellNumber = (row: number, column: number): number => row * COLUMNS + ((column + COLUMNS) % COLUMNS)

/** The nearest; the first one of equals. */
function nearest<T extends { latitude: number; longitude: number }>(
  locations: Iterable<T>,
  latitude: number,
  longitude: number,
): T | undefined {
  let best: T | undefined
  let least = Number.POSITIVE_INFINITY
  for (const location of locations) {
    const far = distance(location, latitude, longitude)
    if (far < least) {
      least = far
      best = location
    }
  }
  return best
}

const RADIANS = Math.PI / 180

/** Haversine of the angle between two points. It grows with the distance, so it serves for comparisons. */
function distance(a: { latitude: number; longitude: number }, latitude: number, longitude: number): number {
  const y = Math.sin(((a.latitude - latitude) * RADIANS) / 2)
  const x = Math.sin(((a.longitude - longitude) * RADIANS) / 2)
  return y * y + x * x * Math.cos(a.latitude * RADIANS) * Math.cos(latitude * RADIANS)
}

/** The haversine of an angle in degrees. */
function haversine(degrees: number): number {
  return Math.sin((degrees * RADIANS) / 2) ** 2
}
