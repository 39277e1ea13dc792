import type { Country, CountryNames, Names } from './country-names.ts'
import { normaliseName, type PlaceName, splitCity } from './place-name.ts'
import type { RegionCodes, RegionRule } from './region-code.ts'
import type { RegionList } from './region-list.ts'
import type { SourcePlace } from './source.ts'
import type { TimeZones, ZoneRule } from './time-zone.ts'

/** A place of the source with all that was found out about it: what becomes one record. */
export type EnrichedPlace = {
  readonly source: SourcePlace
  readonly country: Country
  readonly regionCode: string | null
  /** `null` when the source names no region. */
  readonly regionNames: Names | null
  readonly regionRule: RegionRule | 'unnamed'
  readonly name: PlaceName
  readonly zone: string | null
  readonly zoneRule: ZoneRule
}

/** Enriches every place; the sources are asked once per country, region and city. */
export function enrich(
  places: readonly SourcePlace[],
  countries: CountryNames,
  regions: RegionList,
  codes: RegionCodes,
  zones: TimeZones,
): EnrichedPlace[] {
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
  return places.map((source) => {
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
