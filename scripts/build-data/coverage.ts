import type { EnrichedPlace } from './enrichment.ts'
import { addWeight, noWeight, type Source, type Weight } from './source.ts'
import type { TimeZones } from './time-zone.ts'

/** Shares are of 1, rounded to six digits. */
export type Share = { readonly networks: number; readonly ipv4: number; readonly ipv6: number }

/** What the data covers. IPv4 counts addresses, IPv6 networks of 48 bits. */
export type Coverage = {
  readonly networks: number
  readonly ipv4Addresses: number
  readonly ipv6Networks48: number
  /** Distinct places in the source. */
  readonly places: number
  readonly countries: number
  readonly regions: number
  readonly cities: number
  readonly timeZones: number
  /** Share of the covered address space whose record has the field. */
  readonly fields: Readonly<Record<string, Share>>
  /** Share of what names a region that has a code. */
  readonly regionCodes: Share & { readonly regions: number }
  /** By rule: distinct names of regions, and networks. */
  readonly regionRules: Readonly<Record<string, { readonly regions: number; readonly networks: number }>>
  /** By rule: records. */
  readonly zoneRules: Readonly<Record<string, number>>
  /** Records whose zone is not one of the country's zones. */
  readonly zoneConflicts: number
}

const MINIMUM_MATCHED = 0.99

const FIELDS: Readonly<Record<string, (place: EnrichedPlace) => boolean>> = {
  continent: () => true,
  country: ({ source }) => source.country !== '',
  region: ({ regionNames }) => regionNames !== null,
  'region code': ({ regionCode }) => regionCode !== null,
  city: ({ name }) => name.city !== '',
  district: ({ name }) => name.district !== null,
  coordinates: () => true,
  'time zone': ({ zone }) => zone !== null,
}

export function measureCoverage(
  source: Source,
  places: readonly EnrichedPlace[],
  zones: TimeZones,
): Coverage {
  const all = noWeight()
  const named = noWeight()
  const coded = noWeight()
  const fields = new Map<string, Weight>(Object.keys(FIELDS).map((field) => [field, noWeight()]))
  const regionNames = new Map<string, boolean>()
  const regionRules = new Map<string, { regions: Set<string>; networks: number }>()
  const zoneRules = new Map<string, number>()
  let zoneConflicts = 0
  places.forEach((place, index) => {
    const weight = source.weights[index] ?? noWeight()
    addWeight(all, weight)
    for (const [field, isPresent] of Object.entries(FIELDS)) {
      const sum = fields.get(field)
      if (sum !== undefined && isPresent(place)) addWeight(sum, weight)
    }
    const region = `${place.source.country}|${place.source.region}`
    const rule = regionRules.get(place.regionRule) ?? { regions: new Set(), networks: 0 }
    regionRules.set(place.regionRule, rule)
    rule.regions.add(region)
    rule.networks += weight.networks
    if (place.source.region !== '') {
      addWeight(named, weight)
      if (place.regionCode !== null) addWeight(coded, weight)
      regionNames.set(region, place.regionCode !== null)
    }
    zoneRules.set(place.zoneRule, (zoneRules.get(place.zoneRule) ?? 0) + 1)
    if (place.zone !== null && !zones.isZoneOf(place.zone, place.source.country)) zoneConflicts++
  })
  return {
    networks: all.networks,
    ipv4Addresses: all.ipv4,
    ipv6Networks48: Math.round(all.ipv6),
    places: places.length,
    countries: new Set(places.map(({ source }) => source.country)).size,
    regions: regionNames.size,
    cities: new Set(places.map(({ source, name }) => `${source.country}|${source.region}|${name.city}`)).size,
    timeZones: new Set(places.map(({ zone }) => zone).filter((zone) => zone !== null)).size,
    fields: Object.fromEntries([...fields].map(([field, sum]) => [field, shareOf(sum, all)])),
    regionCodes: {
      ...shareOf(coded, named),
      regions: round([...regionNames.values()].filter((matched) => matched).length / regionNames.size),
    },
    regionRules: sorted(
      [...regionRules].map(([rule, { regions, networks }]) => [rule, { regions: regions.size, networks }]),
    ),
    zoneRules: sorted([...zoneRules]),
    zoneConflicts,
  }
}

/** @throws Error when the data is not good enough to be shipped */
export function checkCoverage(coverage: Coverage, unusedAliases: readonly string[]): void {
  const { networks } = coverage.regionCodes
  if (networks < MINIMUM_MATCHED) {
    throw new Error(
      `only ${percent(networks)} of the networks that name a region have a code: at least 99% must`,
    )
  }
  if (unusedAliases.length > 0) {
    throw new Error(`region-aliases.json: the source has no ${unusedAliases.join(', ')}; take them out`)
  }
  if (coverage.zoneConflicts > 0)
    throw new Error(`${coverage.zoneConflicts} records have a zone of another country`)
}

/** The table that a build ends with. */
export function coverageTable(coverage: Coverage): string {
  const lines: [string, string][] = [
    ['networks', count(coverage.networks)],
    ['IPv4 addresses covered', count(coverage.ipv4Addresses)],
    ['IPv6 /48 networks covered', count(coverage.ipv6Networks48)],
    ['places', count(coverage.places)],
    [
      'countries, regions, cities',
      [coverage.countries, coverage.regions, coverage.cities].map(count).join(', '),
    ],
    ['time zones', count(coverage.timeZones)],
    ...Object.entries(coverage.fields).map(([field, share]): [string, string] => [
      `with ${field}`,
      shareText(share),
    ]),
    ['region code, where a region is named', shareText(coverage.regionCodes)],
    ['  by names of regions', percent(coverage.regionCodes.regions)],
    ...Object.entries(coverage.regionRules).map(([rule, { regions, networks }]): [string, string] => [
      `  region code by ${rule}`,
      `${count(regions)} names, ${count(networks)} networks`,
    ]),
    ...Object.entries(coverage.zoneRules).map(([rule, records]): [string, string] => [
      `  time zone by ${rule}`,
      `${count(records)} records`,
    ]),
    ['time zones of another country', count(coverage.zoneConflicts)],
  ]
  const width = Math.max(...lines.map(([label]) => label.length))
  return lines.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n')
}

function shareText({ networks, ipv4, ipv6 }: Share): string {
  return `${percent(networks)} of networks, ${percent(ipv4)} of IPv4 addresses, ${percent(ipv6)} of IPv6 /48s`
}

function shareOf(part: Weight, whole: Weight): Share {
  const share = (field: keyof Weight): number => (whole[field] === 0 ? 0 : round(part[field] / whole[field]))
  return { networks: share('networks'), ipv4: share('ipv4'), ipv6: share('ipv6') }
}

const round = (share: number): number => Math.round(share * 1e6) / 1e6
const percent = (share: number): string => `${(share * 100).toFixed(2)}%`
const count = (value: number): string => value.toLocaleString('en-US')
const sorted = <T>(entries: [string, T][]): Record<string, T> =>
  Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
