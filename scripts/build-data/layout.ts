import { DataSectionEncoder } from '../../src/mmdb/writer/data-section-encoder.ts'
import { encodeDatabase } from '../../src/mmdb/writer/database-encoder.ts'
import { IPV4_IN_IPV6, IPV4_MAPPED } from '../../src/mmdb/writer/network-trie.ts'
import { EMPTY, type Link, linkToValue, NodeTable } from '../../src/mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../../src/mmdb/writer/search-tree-encoder.ts'
import { float, type WritableValue } from '../../src/mmdb/writer/value.ts'
import { ValueTable } from '../../src/mmdb/writer/value-table.ts'
import { ATTRIBUTION } from './attribution.ts'
import { LOCALES } from './country-names.ts'
import type { EnrichedPlace } from './enrichment.ts'
import { dataOffset, isEmpty, isNode, type TreeRecord } from './mmdb-file.ts'
import { isDropped, type Source, type SourceFile } from './source.ts'

/** A database to be built: what its records are. */
export type Layout = {
  readonly databaseType: string
  readonly title: string
  readonly recordSize?: 32
  readonly record: (place: EnrichedPlace) => { readonly [key: string]: WritableValue }
}

/**
 * 32-bit records of the search tree compress better than smaller ones: deflate sees whole bytes.
 *
 * Nothing stands in the data section but records, and in them what they share, where it is first used: strict
 * verifiers refuse values there that the search tree does not lead to. It costs 1% over writing countries,
 * regions and cities before the records.
 */
export const CITY: Layout = {
  databaseType: 'Geofix-City',
  title: 'Geofix city database',
  recordSize: 32,
  record: (place) => ({
    ...countryRecord(place),
    ...subdivisions(place),
    ...(place.name.city === '' ? {} : { city: { names: { en: place.name.city } } }),
    ...(place.name.district === null ? {} : { district: { names: { en: place.name.district } } }),
    location: {
      latitude: float(place.source.latitude),
      longitude: float(place.source.longitude),
      ...(place.zone === null ? {} : { time_zone: place.zone }),
    },
  }),
}

/** The zone of a country that has just one is known without the place, and costs nothing. */
export const COUNTRY: Layout = {
  databaseType: 'Geofix-Country',
  title: 'Geofix country database',
  recordSize: 32,
  record: (place) => ({
    ...countryRecord(place),
    ...(place.zoneRule === 'only-zone' && place.zone !== null ? { location: { time_zone: place.zone } } : {}),
  }),
}

type Fields = { readonly [key: string]: WritableValue }

/** Places share the objects of their country and region, and records share what is made of them. */
const countryRecord = madeOnce(
  ({ country }: EnrichedPlace) => country,
  ({ source, country }): Fields => ({
    continent: { code: country.continent.code, names: names(country.continent.names) },
    country: { iso_code: source.country, names: names(country.names) },
  }),
)

const subdivisions = madeOnce(
  ({ regionNames }: EnrichedPlace) => regionNames,
  ({ regionCode, regionNames }): Fields => {
    if (regionNames === null) return {}
    // GeoIP2's iso_code is what follows the country's code.
    const code = regionCode === null ? {} : { iso_code: regionCode.slice(3) }
    return { subdivisions: [{ ...code, names: names(regionNames) }] }
  },
)

function madeOnce(keyOf: (place: EnrichedPlace) => object | null, make: (place: EnrichedPlace) => Fields) {
  const made = new WeakMap<object, Fields>()
  return (place: EnrichedPlace): Fields => {
    const key = keyOf(place)
    const fields = (key === null ? undefined : made.get(key)) ?? make(place)
    if (key !== null) made.set(key, fields)
    return fields
  }
}

function names(names: EnrichedPlace['country']['names']): { [key: string]: WritableValue } {
  return Object.fromEntries(Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** What was built, for writing and for verifying. */
export type Built = { readonly layout: Layout; readonly bytes: Uint8Array; readonly records: number }

export function build(layout: Layout, source: Source, places: readonly EnrichedPlace[]): Built {
  const values = new ValueTable()
  const data = new DataSectionEncoder(values)
  const order = geographicOrder(places)
  const records = places.map(layout.record)
  const shared = new Map<WritableValue, number>()
  const recordOf = new Int32Array(places.length)
  for (const place of order) {
    const fields = Object.entries(at(records, place)).map(([key, value]) => {
      const number = shared.get(value) ?? values.add(value)
      shared.set(value, number)
      return [key, number] as const
    })
    const record = values.addMap(fields)
    recordOf[place] = record
    data.offsetOf(record)
  }

  const table = new NodeTable()
  const ipv4 = copyTree(source.ipv4, table, recordOf)
  let root = copyTree(source.ipv6, table, recordOf)
  root = table.replace(root, IPV4_IN_IPV6.words, IPV4_IN_IPV6.prefixLength, ipv4)
  root = table.replace(root, IPV4_MAPPED.words, IPV4_MAPPED.prefixLength, ipv4)
  const bytes = encodeDatabase(new SearchTreeEncoder(table, root), data, {
    databaseType: layout.databaseType,
    ipVersion: 6,
    ...(layout.recordSize === undefined ? {} : { recordSize: layout.recordSize }),
    languages: Object.keys(LOCALES),
    description: { en: `${layout.title}. ${ATTRIBUTION}` },
    buildDate: source.buildDate,
  })
  return { layout, bytes, records: new Set(recordOf).size }
}

/** Country, region, city, latitude: what is near on the globe is near in the file, and deflate finds it. */
function geographicOrder(places: readonly EnrichedPlace[]): number[] {
  return places
    .map((_, index) => index)
    .sort((a, b) => {
      const [x, y] = [at(places, a).source, at(places, b).source]
      return (
        compare(x.country, y.country) ||
        compare(x.region, y.region) ||
        compare(x.city, y.city) ||
        x.latitude - y.latitude ||
        x.longitude - y.longitude
      )
    })
}

/** By code units: the order of a locale would depend on the machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`there is no item ${index} among ${items.length}`)
  return item
}

/** Takes a tree of the source over, with the records of the new database, from the leaves up. */
function copyTree({ file, placeAt }: SourceFile, table: NodeTable, recordOf: Int32Array): Link {
  const copy = (record: TreeRecord, depth: number, high: number): Link => {
    if (file.ipVersion === 6 && isDropped(high, depth)) return EMPTY
    if (isEmpty(record)) return EMPTY
    if (isNode(record)) {
      const right = depth < 32 ? (high | (1 << (31 - depth))) >>> 0 : high
      return table.node(copy(file.left(record), depth + 1, high), copy(file.right(record), depth + 1, right))
    }
    const place = placeAt.get(dataOffset(record))
    const value = place === undefined ? undefined : recordOf[place]
    if (value === undefined) throw new Error(`the source's data at ${dataOffset(record)} was not read`)
    return linkToValue(value)
  }
  return copy(0, 0, 0)
}
