import type { Country, CountryNames, Names } from './country-names.ts'
import { type CityName, normaliseName, splitCity } from './name-spelling.ts'
import type { RegionCodes, RegionRule } from './region-code.ts'
import type { RegionList } from './region-list.ts'
import type { SourceLocation } from './source.ts'
import type { TimeZones, ZoneRule } from './time-zone.ts'

/** A location of the source with everything that the other sources add. It becomes one record. */
export type EnrichedLocation = {
  readonly source: SourceLocation
  readonly country: Country
  readonly regionCode: string | null
  /** `null` if the source names no region. */
  readonly regionNames: Names | null
  readonly regionRule: RegionRule | 'unnamed'
  readonly name: CityName
  readonly zone: string | null
  readonly zoneRule: ZoneRule
}

/** Enriches every location. Each country, region and city is looked up once. */
export function enrich(
  locations: readonly SourceLocation[],
  countries: CountryNames,
  regions: RegionList,
  codes: RegionCodes,
  zones: TimeZones,
): EnrichedLocation[] {
  const countryOf = memoised((code: string) => countries.country(code))
  const nameOf = memoised(splitCity)
  const regionOf = memoised((key: string) => {
    const [country = '', region = ''] = key.split('\0')
    if (region === '') return { regionCode: null, regionNames: null, regionRule: 'unnamed' as const }
    const { code, rule } = codes.find(country, region)
    const names = code === null ? { en: normaliseName(region) } : regions.get(code)?.names
    if (names === undefined) throw new Error(`${code} has no names`)
    return { regionCode: code, regionNames: names, regionRule: rule }
  })
  return locations.map((source) => {
    const region = regionOf(`${source.country}\0${source.region}`)
    const { zone, rule } = zones.find(source.country, region.regionCode, source.latitude, source.longitude)
    return {
      source,
      country: countryOf(source.country),
      ...region,
      name: nameOf(source.city),
      zone,
      zoneRule: rule,
    }
  })
}

function memoised<R>(find: (key: string) => R): (key: string) => R {
  const known = new Map<string, R>()
  return (key) => {
    let found = known.get(key)
    if (found === undefined) {
      found = find(key)
      known.set(key, found)
    }
    return found
  }
}
