import type { City } from './geonames.ts'
import type { ZoneRow } from './zone-tab.ts'

/** By which rule a zone was found. */
export type ZoneRule = 'only-zone' | 'region' | 'nearest-city' | 'nearest-zone' | 'none'

export type ZoneAnswer = { readonly zone: string | null; readonly rule: ZoneRule }

type Located = { readonly latitude: number; readonly longitude: number; readonly zone: string }

/** Degrees of latitude and longitude of one cell of the index. */
const CELL = 0.5

/**
 * The time zone of a place:
 * 1. the only zone that its country has in zone.tab;
 * 2. the zone of its region, where a zone is younger than the cities' data;
 * 3. that of the nearest city in the same country, leaving out cities whose zone is not one of the country's
 *    (GeoNames has a few dozen, at borders and in countries whose zone.tab row was merged with another's);
 * 4. that of the nearest principal place in zone.tab, for countries without cities (Antarctica);
 * 5. none, for countries without a zone (Bouvet Island, Heard Island).
 *
 * So the zone never is one of another country's.
 */
export class TimeZones {
  readonly #zones: ReadonlyMap<string, readonly ZoneRow[]>
  readonly #regions: Readonly<Record<string, string>>
  readonly #cities = new Map<string, CityIndex>()

  /**
   * @param renames zone names of the cities' data that tzdata has renamed since
   * @param regions zone by ISO 3166-2 code
   */
  constructor(
    zones: ReadonlyMap<string, readonly ZoneRow[]>,
    cities: readonly City[],
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
    // Rings of cells around the place. A city in ring n + 1 is at least n cells away, but cells get narrow
    // towards the poles: from 60° on, and when nothing is near, all cities of the country are compared.
    if (Math.abs(latitude) < 60) {
      for (const radius of [1, 4]) {
        const best = nearest(this.#around(latitude, longitude, radius), latitude, longitude)
        if (best !== undefined && distance(best, latitude, longitude) < chord(radius * CELL * 0.5))
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

const COLUMNS = 360 / CELL
const row = (latitude: number): number => Math.floor((latitude + 90) / CELL)
const column = (longitude: number): number => Math.floor((longitude + 180) / CELL)
const cellNumber = (row: number, column: number): number => row * COLUMNS + ((column + COLUMNS) % COLUMNS)

/** The first of the nearest. */
function nearest<T extends { latitude: number; longitude: number }>(
  candidates: Iterable<T>,
  latitude: number,
  longitude: number,
): T | undefined {
  let best: T | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const far = distance(candidate, latitude, longitude)
    if (far < least) {
      least = far
      best = candidate
    }
  }
  return best
}

const RADIANS = Math.PI / 180

/** Haversine of the angle between two places: grows with the distance, and is as good for comparing. */
function distance(a: { latitude: number; longitude: number }, latitude: number, longitude: number): number {
  const y = Math.sin(((a.latitude - latitude) * RADIANS) / 2)
  const x = Math.sin(((a.longitude - longitude) * RADIANS) / 2)
  return y * y + x * x * Math.cos(a.latitude * RADIANS) * Math.cos(latitude * RADIANS)
}

/** The haversine of an angle in degrees. */
function chord(degrees: number): number {
  return Math.sin((degrees * RADIANS) / 2) ** 2
}
