// What the build repairs in the sources, counted before and after.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Locale, localeEntries, type Names } from './country-names.ts'
import type { Enriched, EnrichedLocation } from './enrichment.ts'
import { groupBy, type Point } from './globe.ts'
import type { Contradiction } from './positions.ts'
import { isLabelled, type Region, type RegionList } from './region-list.ts'
import type { Source } from './source.ts'

export type Repair = { readonly what: string; readonly before: number; readonly after: number }

/** Faults that no record may have. The others are rare, and left where a name needs its label. */
const NONE_LEFT = new Set<string>()

function none(what: string): string {
  NONE_LEFT.add(what)
  return what
}

const CONTRADICTIONS: Readonly<Record<Contradiction, string>> = {
  country: none('networks with a position outside of their country'),
  region: none('networks with a position in another region of their country'),
  city: none('networks with a position far from their city'),
}
const ZONES = none('networks with a time zone that their region never has')
const TRADITIONAL = none('names of regions for zh-CN in traditional characters')
const SAME_NAME = none('names that two regions of a country have in one language')
const LABELLED = 'names of regions with a label in parentheses'
const SPELLINGS = none('second spellings of a city')
const DISTRICTS = none('second spellings of a district')
const CITY_LABELS = none('names of cities with a label, a stray digit, or the number of a district')
const CORRECTED = none('names of cities that are corrected or left out')

/** @param simplified converts Chinese from traditional characters */
export function countRepairs(
  { counts }: Source,
  { locations, zones, nameCounts, nameCountsAfter }: Enriched,
  regions: RegionList,
  simplified: (name: string) => string,
): Repair[] {
  const networksWith = (isFaulty: (location: EnrichedLocation) => boolean): number =>
    locations.reduce(
      (sum, location, index) => sum + (isFaulty(location) ? (counts[index]?.networks ?? 0) : 0),
      0,
    )
  const hasOtherZone = ({ source, regionCode }: EnrichedLocation, zone: string | null): boolean =>
    zone !== null && !zones.hasZone(source.country, regionCode, zone)
  const used = [...new Set(locations.flatMap(({ regionCode }) => regionCode ?? []))].flatMap(
    (code) => regions.get(code) ?? [],
  )
  const namesWith = (isFaulty: (name: string, locale: Locale) => boolean) => ({
    before: countNames(used, (region) => region.uncorrected, isFaulty),
    after: countNames(used, (region) => region.names, isFaulty),
  })
  return [
    {
      what: ZONES,
      before: networksWith((location) => hasOtherZone(location, location.zoneOfCountry)),
      after: networksWith((location) => hasOtherZone(location, location.zone)),
    },
    ...Object.entries(CONTRADICTIONS).map(([kind, what]) => ({
      what,
      before: networksWith(({ contradiction }) => contradiction === kind),
      after: networksWith(({ contradiction, position }) => contradiction === kind && position !== null),
    })),
    { what: TRADITIONAL, ...namesWith((name, locale) => locale === 'zh-CN' && simplified(name) !== name) },
    { what: LABELLED, ...namesWith(isLabelled) },
    {
      what: SAME_NAME,
      before: countPairs(used, (region) => ({ ...region.uncorrected, en: region.names.en ?? '' })),
      after: countPairs(used, (region) => region.names),
    },
    { what: SPELLINGS, before: nameCounts.spellings, after: nameCountsAfter.spellings },
    {
      what: DISTRICTS,
      before: nameCounts.districtSpellings,
      after: nameCountsAfter.districtSpellings,
    },
    { what: CITY_LABELS, before: nameCounts.labels, after: nameCountsAfter.labels },
    { what: CORRECTED, before: nameCounts.corrected, after: nameCountsAfter.corrected },
  ]
}

/** @throws Error if a fault is left that must not be */
export function checkRepairs(repairs: readonly Repair[], unusedCorrections: readonly string[]): void {
  const left = repairs.filter(({ what, after }) => NONE_LEFT.has(what) && after > 0)
  if (left.length > 0) throw new Error(left.map(({ what, after }) => `${after} ${what}`).join(', '))
  if (unusedCorrections.length > 0)
    throw new Error(
      `place-names.json: the source does not have ${unusedCorrections.join(', ')}: remove these rows`,
    )
}

function countNames(
  regions: readonly Region[],
  namesOf: (region: Region) => Names,
  isFaulty: (name: string, locale: Locale) => boolean,
): number {
  return regions
    .flatMap((region) => localeEntries().map(([locale]) => ({ locale, name: namesOf(region)[locale] })))
    .filter(({ name, locale }) => name !== undefined && isFaulty(name, locale)).length
}

/** How often regions of a country share a name. Without a name in a language, the English one is shown. */
function countPairs(regions: readonly Region[], namesOf: (region: Region) => Names): number {
  return localeEntries()
    .flatMap(([locale]) => [
      ...groupBy(regions, (region) => {
        const names = namesOf(region)
        return `${region.code.slice(0, 2)}|${names[locale] ?? names.en ?? ''}`
      }).values(),
    ])
    .reduce((sum, { length }) => sum + length - 1, 0)
}

/** How far another source of time zones agrees: shares of the networks with a position and a zone. */
export type SecondOpinion = {
  readonly source: string
  readonly sameZone: number
  /** The same offsets from UTC in January and in July. */
  readonly sameOffsets: number
}

const LEAST_SAME_OFFSETS = 0.999

export const ZONE_PACKAGE = '@photostructure/tz-lookup'

/** The zone at a point by the outlines of zones. They are those of OpenStreetMap: nothing of them goes into the databases. */
export async function readZoneLookup(packages: string): Promise<(position: Point) => string> {
  const module: { default: (latitude: number, longitude: number) => string } = await import(
    pathToFileURL(join(packages, ZONE_PACKAGE, 'tz.js')).href
  )
  return ({ latitude, longitude }) => module.default(latitude, longitude)
}

/** @throws Error if the other source disagrees too often */
export function compareZones(
  { counts, buildDate }: Pick<Source, 'counts' | 'buildDate'>,
  locations: readonly Pick<EnrichedLocation, 'position' | 'zone'>[],
  zoneAt: (position: Point) => string,
): SecondOpinion {
  const year = buildDate.getUTCFullYear()
  const offsets = offsetsIn([new Date(Date.UTC(year, 0, 15)), new Date(Date.UTC(year, 6, 15))])
  let [all, zone, offset] = [0, 0, 0]
  locations.forEach((location, index) => {
    if (location.position === null || location.zone === null) return
    const networks = counts[index]?.networks ?? 0
    const other = zoneAt(location.position)
    all += networks
    if (other === location.zone) zone += networks
    if (offsets(other) === offsets(location.zone)) offset += networks
  })
  const share = (part: number): number => Math.round((part / all) * 1e4) / 1e4
  if (offset / all < LEAST_SAME_OFFSETS)
    throw new Error(`${ZONE_PACKAGE} has the same offsets for only ${share(offset)} of the networks`)
  return { source: ZONE_PACKAGE, sameZone: share(zone), sameOffsets: share(offset) }
}

function offsetsIn(instants: readonly Date[]): (zone: string) => string {
  const known = new Map<string, string>()
  return (zone) => {
    const text =
      known.get(zone) ??
      instants
        .map((instant) =>
          new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
            .formatToParts(instant)
            .find(({ type }) => type === 'timeZoneName'),
        )
        .map((part) => part?.value ?? '')
        .join()
    known.set(zone, text)
    return text
  }
}
