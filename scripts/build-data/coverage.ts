import type { Enriched, EnrichedLocation } from './enrichment.ts'
import { type AddressCounts, addCounts, noAddresses, type Source } from './source.ts'

/** From 0 to 1, rounded to six digits. */
export type Share = { readonly networks: number; readonly ipv4: number; readonly ipv6: number }

/** What the data covers. IPv4 is counted in addresses, IPv6 in /48 networks. */
export type Coverage = {
  readonly networks: number
  readonly ipv4Addresses: number
  readonly ipv6Networks48: number
  /** Distinct locations in the source. */
  readonly places: number
  readonly countries: number
  readonly regions: number
  readonly cities: number
  readonly timeZones: number
  /** By field: the share of the covered address space whose records have it. */
  readonly fields: Readonly<Record<string, Share>>
  /** Of the address space whose records name a region: the share with a region code. */
  readonly regionCodes: Share & { readonly regions: number }
  /** By rule: distinct names of regions, and networks. */
  readonly regionRules: Readonly<Record<string, { readonly regions: number; readonly networks: number }>>
  /** By rule: records. */
  readonly zoneRules: Readonly<Record<string, number>>
}

/** Of the networks that name a region: the least share with a region code. */
const MIN_REGION_CODES = 0.99

const FIELDS: Readonly<Record<string, (location: EnrichedLocation) => boolean>> = {
  continent: () => true,
  country: ({ source }) => source.country !== '',
  region: ({ regionNames }) => regionNames !== null,
  'region code': ({ regionCode }) => regionCode !== null,
  city: ({ name }) => name.city !== '',
  district: ({ name }) => name.district !== null,
  coordinates: ({ position }) => position !== null,
  'time zone': ({ zone }) => zone !== null,
}

export function measureCoverage(source: Source, { locations }: Enriched): Coverage {
  const all = noAddresses()
  const named = noAddresses()
  const coded = noAddresses()
  const fields = new Map<string, AddressCounts>(Object.keys(FIELDS).map((field) => [field, noAddresses()]))
  const regionNames = new Map<string, boolean>()
  const regionRules = new Map<string, { regions: Set<string>; networks: number }>()
  const zoneRules = new Map<string, number>()
  locations.forEach((location, index) => {
    const counts = source.counts[index] ?? noAddresses()
    addCounts(all, counts)
    for (const [field, isPresent] of Object.entries(FIELDS)) {
      const sum = fields.get(field)
      if (sum !== undefined && isPresent(location)) addCounts(sum, counts)
    }
    const region = `${location.source.country}|${location.source.region}`
    const rule = regionRules.get(location.regionRule) ?? { regions: new Set(), networks: 0 }
    regionRules.set(location.regionRule, rule)
    rule.regions.add(region)
    rule.networks += counts.networks
    if (location.source.region !== '') {
      addCounts(named, counts)
      if (location.regionCode !== null) addCounts(coded, counts)
      regionNames.set(region, location.regionCode !== null)
    }
    zoneRules.set(location.zoneRule, (zoneRules.get(location.zoneRule) ?? 0) + 1)
  })
  return {
    networks: all.networks,
    ipv4Addresses: all.ipv4,
    ipv6Networks48: Math.round(all.ipv6),
    places: locations.length,
    countries: new Set(locations.map(({ source }) => source.country)).size,
    regions: regionNames.size,
    cities: new Set(
      locations.map(
        ({ source, regionCode, regionNames, name }) =>
          `${source.country}|${regionCode ?? regionNames?.en}|${name.city}`,
      ),
    ).size,
    timeZones: new Set(locations.map(({ zone }) => zone).filter((zone) => zone !== null)).size,
    fields: Object.fromEntries([...fields].map(([field, sum]) => [field, shareOf(sum, all)])),
    regionCodes: {
      ...shareOf(coded, named),
      regions: round([...regionNames.values()].filter((matched) => matched).length / regionNames.size),
    },
    regionRules: sorted(
      [...regionRules].map(([rule, { regions, networks }]) => [rule, { regions: regions.size, networks }]),
    ),
    zoneRules: sorted([...zoneRules]),
  }
}

/** @throws Error if the data is not good enough to be published */
export function checkCoverage(coverage: Coverage, unusedAliases: readonly string[]): void {
  const { networks } = coverage.regionCodes
  if (networks < MIN_REGION_CODES) {
    throw new Error(
      `only ${percent(networks)} of the networks that name a region have a region code: at least 99% must have one`,
    )
  }
  if (unusedAliases.length > 0) {
    throw new Error(
      `region-aliases.json: the source does not have ${unusedAliases.join(', ')}: remove these rows`,
    )
  }
}

/** The table that a build prints at the end. */
export function coverageTable(coverage: Coverage): string {
  const lines: [string, string][] = [
    ['networks', count(coverage.networks)],
    ['IPv4 addresses covered', count(coverage.ipv4Addresses)],
    ['IPv6 /48 networks covered', count(coverage.ipv6Networks48)],
    ['locations', count(coverage.places)],
    [
      'countries, regions, cities',
      [coverage.countries, coverage.regions, coverage.cities].map(count).join(', '),
    ],
    ['time zones', count(coverage.timeZones)],
    ...Object.entries(coverage.fields).map(([field, share]): [string, string] => [
      `with ${field}`,
      shareText(share),
    ]),
    ['region code, if a region is named', shareText(coverage.regionCodes)],
    ['  by region names', percent(coverage.regionCodes.regions)],
    ...Object.entries(coverage.regionRules).map(([rule, { regions, networks }]): [string, string] => [
      `  region code by ${rule}`,
      `${count(regions)} names, ${count(networks)} networks`,
    ]),
    ...Object.entries(coverage.zoneRules).map(([rule, records]): [string, string] => [
      `  time zone by ${rule}`,
      `${count(records)} records`,
    ]),
  ]
  const width = Math.max(...lines.map(([label]) => label.length))
  return lines.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n')
}

function shareText({ networks, ipv4, ipv6 }: Share): string {
  return `${percent(networks)} of networks, ${percent(ipv4)} of IPv4 addresses, ${percent(ipv6)} of IPv6 /48s`
}

function shareOf(part: AddressCounts, whole: AddressCounts): Share {
  const share = (field: keyof AddressCounts): number =>
    whole[field] === 0 ? 0 : round(part[field] / whole[field])
  return { networks: share('networks'), ipv4: share('ipv4'), ipv6: share('ipv6') }
}

const round = (share: number): number => Math.round(share * 1e6) / 1e6
const percent = (share: number): string => `${(share * 100).toFixed(2)}%`
const count = (value: number): string => value.toLocaleString('en-US')
const sorted = <T>(entries: [string, T][]): Record<string, T> =>
  Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
