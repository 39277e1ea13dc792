import { readFileSync } from 'node:fs'
import type { GeonamesCity } from './geonames.ts'
import { groupBy, NearestIndex, type Point } from './globe.ts'

/** A row of tzdata's zone.tab: a time zone of a country, and its principal location. */
export type ZoneRow = Point & { readonly zone: string }

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

/** The rule that found a zone. */
export type ZoneRule = 'only-zone' | 'region' | 'city-of-region' | 'city-of-country' | 'none'

export type ZoneAnswer = { readonly zone: string | null; readonly rule: ZoneRule }

/** The content of input/time-zones.json. */
export type ZoneCorrections = {
  /** Zones of the cities that tzdata has renamed since. */
  readonly renames: Readonly<Record<string, string>>
  /** Zone by ISO 3166-2 code. */
  readonly regions: Readonly<Record<string, string>>
  /** Cities that the list lacks, or has in another region or zone. */
  readonly cities: readonly (Point & { readonly region: string; readonly zone: string })[]
  /** By ISO 3166-2 code: zones that GeoNames gives to cities of the region, wrongly. */
  readonly never: Readonly<Record<string, readonly string[]>>
}

type Cities = { readonly index: NearestIndex<ZoneRow>; readonly zones: ReadonlySet<string> }

/**
 * Finds the time zone of a location:
 * 1. the zone of the region, for zones that are newer than the data of the cities, and overseas regions;
 * 2. the only zone of the country in zone.tab;
 * 3. the zone of the nearest city in the region. Without a position, the only zone of the region;
 * 4. without a region, or if GeoNames has no city in it, the zone of the nearest city in the country;
 * 5. none, for countries without a zone (Bouvet Island, Heard Island), and without a position.
 *
 * Cities whose zone is not one of their country are ignored. GeoNames has a few dozen, at borders and in countries whose row in
 * zone.tab was merged with another one. The principal location in zone.tab counts as a city if GeoNames has none with its zone.
 */
export class TimeZones {
  readonly #zones: ReadonlyMap<string, readonly ZoneRow[]>
  readonly #corrections: ZoneCorrections
  readonly #countries = new Map<string, Cities>()
  readonly #regions = new Map<string, Cities>()

  /** @param regions cities by ISO 3166-2 code */
  constructor(
    zones: ReadonlyMap<string, readonly ZoneRow[]>,
    cities: readonly GeonamesCity[],
    regions: ReadonlyMap<string, readonly GeonamesCity[]>,
    corrections: ZoneCorrections,
  ) {
    this.#zones = zones
    this.#corrections = corrections
    const known = new Set([...zones.values()].flat().map(({ zone }) => zone))
    for (const zone of [...Object.values(corrections.regions), ...corrections.cities.map(({ zone }) => zone)])
      if (!known.has(zone)) throw new Error(`time-zones.json: ${zone} is not in zone.tab`)
    const wrong = new Set(
      Object.entries(corrections.never).flatMap(([code, never]) => {
        const found = (regions.get(code) ?? []).filter(({ zone }) => never.includes(zone))
        if (found.length < never.length) throw new Error(`time-zones.json: no city of ${code} has ${never}`)
        return found
      }),
    )
    const right = (list: readonly GeonamesCity[] = []) =>
      this.#withZones(list.filter((city) => !wrong.has(city)))
    const more = groupBy(corrections.cities, ({ region }) => region)
    for (const code of new Set([...regions.keys(), ...more.keys()])) {
      const here = [...right(regions.get(code)), ...(more.get(code) ?? [])]
      if (here.length > 0) this.#regions.set(code, citiesWith(here))
    }
    const byCountry = groupBy(right(cities), ({ country }) => country)
    const moreByCountry = groupBy(corrections.cities, ({ region }) => region.slice(0, 2))
    for (const [country, rows] of zones) {
      const here = [...(byCountry.get(country) ?? []), ...(moreByCountry.get(country) ?? [])]
      const missing = rows.filter(({ zone }) => !here.some((city) => city.zone === zone))
      this.#countries.set(country, citiesWith([...here, ...missing]))
    }
  }

  #isZoneOf(zone: string, country: string): boolean {
    return this.#zones.get(country)?.some((row) => row.zone === zone) ?? false
  }

  /** Whether a region, or a country if the region is not known, has a zone. */
  hasZone(country: string, regionCode: string | null, zone: string): boolean {
    const ofRegion = this.#ofRegion(regionCode)
    if (ofRegion !== undefined) return ofRegion === zone
    const zones = this.#zones.get(country) ?? []
    const cities = zones.length > 1 && regionCode !== null ? this.#regions.get(regionCode) : undefined
    return cities === undefined ? this.#isZoneOf(zone, country) : cities.zones.has(zone)
  }

  /** @param position `null` if it is not known */
  find(country: string, regionCode: string | null, position: Point | null): ZoneAnswer {
    const ofRegion = this.#ofRegion(regionCode)
    if (ofRegion !== undefined) return { zone: ofRegion, rule: 'region' }
    const [first, second] = this.#zones.get(country) ?? []
    if (first === undefined) return { zone: null, rule: 'none' }
    if (second === undefined) return { zone: first.zone, rule: 'only-zone' }
    const region = regionCode === null ? undefined : this.#regions.get(regionCode)
    const [cities, rule] =
      region === undefined
        ? ([this.#countries.get(country), 'city-of-country'] as const)
        : ([region, 'city-of-region'] as const)
    const [only, another] = cities?.zones ?? []
    const zone =
      only !== undefined && another === undefined
        ? only
        : position === null
          ? undefined
          : cities?.index.nearest(position)?.item.zone
    return zone === undefined ? { zone: null, rule: 'none' } : { zone, rule }
  }

  #ofRegion(code: string | null): string | undefined {
    return code === null ? undefined : this.#corrections.regions[code]
  }

  #withZones(cities: readonly GeonamesCity[]): (ZoneRow & { readonly country: string })[] {
    return cities.flatMap(({ country, latitude, longitude, zone }) => {
      const current = this.#corrections.renames[zone] ?? zone
      return this.#isZoneOf(current, country) ? [{ country, latitude, longitude, zone: current }] : []
    })
  }
}

function citiesWith(rows: readonly ZoneRow[]): Cities {
  return { index: new NearestIndex(rows), zones: new Set(rows.map(({ zone }) => zone)) }
}
