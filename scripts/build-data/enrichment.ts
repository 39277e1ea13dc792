import type { Country, CountryNames, Names } from './country-names.ts'
import { citiesOfRegions, type GeonamesCity } from './geonames.ts'
import type { Point } from './globe.ts'
import { type CityName, joinCity, normaliseName } from './name-spelling.ts'
import { CorrectedNames, type NameCorrections, type NameCounts, PlaceNames } from './place-names.ts'
import { type Contradiction, type Placed, Positions } from './positions.ts'
import type { RegionCodes, RegionRule } from './region-code.ts'
import type { RegionList } from './region-list.ts'
import type { Source, SourceLocation } from './source.ts'
import { TimeZones, type ZoneCorrections, type ZoneRow, type ZoneRule } from './time-zone.ts'

/** A location of the source with everything that the other sources add. It becomes one record. */
export type EnrichedLocation = {
  readonly source: SourceLocation
  readonly country: Country
  readonly regionCode: string | null
  /** `null` if the source names no region. */
  readonly regionNames: Names | null
  readonly regionRule: RegionRule | 'unnamed'
  readonly name: CityName
  /** `null` if it contradicts the names. */
  readonly position: Point | null
  readonly contradiction: Contradiction | null
  readonly zone: string | null
  readonly zoneRule: ZoneRule
  /** The zone of the nearest city in the country, whatever its region: for comparison. */
  readonly zoneOfCountry: string | null
}

/** What the build adds to the source. */
export type Additions = {
  readonly countries: CountryNames
  readonly regions: RegionList
  readonly codes: RegionCodes
  readonly names: NameCorrections
  readonly cities: readonly GeonamesCity[]
  /** Whether a position is in a country or near it; `null` if that is not known. */
  readonly isNearCountry: (country: string, position: Point) => boolean | null
  /** By country. */
  readonly zones: ReadonlyMap<string, readonly ZoneRow[]>
  readonly zoneCorrections: ZoneCorrections
}

/** All locations, and what was found on the way. */
export type Enriched = {
  readonly locations: readonly EnrichedLocation[]
  readonly zones: TimeZones
  readonly nameCounts: NameCounts
  /** Of the names in the databases. */
  readonly nameCountsAfter: NameCounts
  readonly unusedCorrections: readonly string[]
}

/** Enriches every location. Each country, region and city is looked up once. */
export function enrich({ locations, counts }: Source, additions: Additions): Enriched {
  const { cities, codes, regions } = additions
  const countryOf = memoised((code: string) => additions.countries.country(code))
  const correctedRegions = new CorrectedNames(additions.names.regions)
  const correctedCities = new CorrectedNames(additions.names.cities)
  const regionOf = memoised((key: string): FoundRegion => {
    const [country = '', source = ''] = key.split('\0')
    if (source === '') return { code: null, names: null, rule: 'unnamed', region: '' }
    const { code, rule } = codes.find(country, source)
    const name = normaliseName(source)
    const own = code === null ? correctedRegions.find(`${country}|${name}`, name) : null
    const names = code === null ? (own === null ? null : { en: own }) : regions.get(code)?.names
    if (names === undefined) throw new Error(`${code} has no names`)
    return { code, names, rule, region: code ?? own ?? '' }
  })
  const regionsOf = locations.map((source) => regionOf(`${source.country}\0${source.region}`))
  const named = locations.map((source, index) => ({
    ...source,
    region: regionsOf[index]?.region ?? '',
    city: normaliseName(source.city),
    weight: counts[index]?.networks ?? 0,
  }))
  const known = new Set(cities.map(({ country, name }) => `${country}|${name}`))
  const isKnown = (country: string, city: string): boolean => known.has(`${country}|${city}`)
  const names = new PlaceNames(named, correctedCities, isKnown)
  const namesOf = named.map((place) => names.city(place))
  const placed = named.map(
    (place, index): Placed => ({
      ...place,
      regionCode: regionsOf[index]?.code ?? null,
      city: namesOf[index]?.city ?? '',
      // Sources disagree about whose a disputed region is, so its positions are not judged by another source.
      isJudged: regionsOf[index]?.rule !== 'deliberately-none',
    }),
  )
  const inRegions = citiesOfRegions(cities, placed)
  const positions = new Positions(additions.isNearCountry, cities, inRegions, placed)
  const zones = new TimeZones(additions.zones, cities, inRegions, additions.zoneCorrections)
  const enriched = placed.map((place, index): EnrichedLocation => {
    const [source, name, region] = [locations[index], namesOf[index], regionsOf[index]]
    if (source === undefined || name === undefined || region === undefined)
      throw new RangeError(`no location ${index}`)
    const contradiction = positions.contradiction(place)
    const { zone, rule } = zones.find(
      source.country,
      region.code,
      contradiction === null ? source : positions.cityOf(place),
    )
    return {
      source,
      country: countryOf(source.country),
      regionCode: region.code,
      regionNames: region.names,
      regionRule: region.rule,
      name,
      position: contradiction === null ? source : null,
      contradiction,
      zone,
      zoneRule: rule,
      zoneOfCountry: zones.find(source.country, null, source).zone,
    }
  })
  return {
    locations: enriched,
    zones,
    nameCounts: names.counts,
    nameCountsAfter: new PlaceNames(
      named.map((place, index) => ({
        ...place,
        city: joinCity(namesOf[index] ?? { city: '', district: null }),
      })),
      correctedCities,
      isKnown,
    ).counts,
    unusedCorrections: [...correctedRegions.unused, ...correctedCities.unused],
  }
}

type FoundRegion = {
  readonly code: string | null
  readonly names: Names | null
  readonly rule: RegionRule | 'unnamed'
  /** The code, or the name of a region without one. */
  readonly region: string
}

function memoised<R extends object>(find: (key: string) => R): (key: string) => R {
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
