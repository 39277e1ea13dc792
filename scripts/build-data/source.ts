import { dataOffset, isEmpty, isNode, MmdbFile, type TreeRecord } from './mmdb-file.ts'

/** A record of the source, unchanged. */
export type SourceLocation = {
  readonly country: string
  readonly region: string
  readonly city: string
  readonly latitude: number
  readonly longitude: number
}

/** Size of a part of the address space. */
export type AddressCounts = {
  networks: number
  /** IPv4 addresses. */
  ipv4: number
  /** /48 networks, the usual size of one site. */
  ipv6: number
}

export const noAddresses = (): AddressCounts => ({ networks: 0, ipv4: 0, ipv6: 0 })

export function addCounts(sum: AddressCounts, counts: AddressCounts): void {
  sum.networks += counts.networks
  sum.ipv4 += counts.ipv4
  sum.ipv6 += counts.ipv6
}

/** A file of the source, with the index of the location at each data offset. */
export type SourceFile = {
  readonly file: MmdbFile
  readonly locationAt: ReadonlyMap<number, number>
}

/** Both files of the source, with every distinct location once. */
export type Source = {
  readonly ipv4: SourceFile
  readonly ipv6: SourceFile
  readonly locations: readonly SourceLocation[]
  /** By location. */
  readonly counts: readonly AddressCounts[]
  readonly buildDate: Date
}

/** 6to4 and Teredo. The source has one invented location for each of them. */
export const DROPPED: readonly {
  readonly words: Uint32Array
  readonly prefixLength: number
  readonly text: string
}[] = [
  { words: Uint32Array.of(0x20020000, 0, 0, 0), prefixLength: 16, text: '2002::/16' },
  { words: Uint32Array.of(0x20010000, 0, 0, 0), prefixLength: 32, text: '2001::/32' },
]

/**
 * Reads the two files of the source.
 *
 * @throws Error if a file is not what this build expects: another schema, an empty country, a postal code or time zone
 * (which the build would silently drop), coordinates that are not float32 or out of range
 */
export function readSource(ipv4Path: string, ipv6Path: string): Source {
  const locations: SourceLocation[] = []
  const counts: AddressCounts[] = []
  const numbers = new Map<string, number>()
  const read = (path: string, ipVersion: 4 | 6): SourceFile => {
    const file = MmdbFile.open(path)
    if (file.ipVersion !== ipVersion)
      throw new Error(`${path} is for IPv${file.ipVersion}, not IPv${ipVersion}`)
    const locationAt = new Map<number, number>()
    forEachNetwork(file, (record, prefixLength) => {
      const offset = dataOffset(record)
      let location = locationAt.get(offset)
      if (location === undefined) {
        const value = checkedLocation(file.data(offset), `${path}, offset ${offset}`)
        const key = [value.country, value.region, value.city, value.latitude, value.longitude].join('\0')
        location = numbers.get(key) ?? locations.length
        if (location === locations.length) {
          locations.push(value)
          counts.push(noAddresses())
          numbers.set(key, location)
        }
        locationAt.set(offset, location)
      }
      addCounts(counts[location] ?? noAddresses(), {
        networks: 1,
        ipv4: ipVersion === 4 ? 2 ** (32 - prefixLength) : 0,
        ipv6: ipVersion === 6 ? 2 ** (48 - prefixLength) : 0,
      })
    })
    return { file, locationAt }
  }
  const ipv4 = read(ipv4Path, 4)
  const ipv6 = read(ipv6Path, 6)
  const buildDate = new Date(Math.max(ipv4.file.buildDate.getTime(), ipv6.file.buildDate.getTime()))
  return { ipv4, ipv6, locations, counts, buildDate }
}

/** Calls back for every network with data, except {@link DROPPED}. */
function forEachNetwork(file: MmdbFile, callback: (record: TreeRecord, prefixLength: number) => void): void {
  // `high` has the first 32 bits of the address, which decide whether a network is dropped.
  const visit = (record: TreeRecord, depth: number, high: number): void => {
    if (file.ipVersion === 6 && isDropped(high, depth)) return
    if (isNode(record)) {
      visit(file.left(record), depth + 1, high)
      visit(file.right(record), depth + 1, depth < 32 ? (high | (1 << (31 - depth))) >>> 0 : high)
    } else if (!isEmpty(record)) callback(record, depth)
  }
  visit(0, 0, 0)
}

/** Whether an IPv6 subtree at `depth`, whose first 32 bits are `high`, is one of {@link DROPPED}. */
export function isDropped(high: number, depth: number): boolean {
  return DROPPED.some(({ words, prefixLength }) => depth === prefixLength && words[0] === high)
}

const SOURCE_FIELDS = [
  'country_code',
  'state1',
  'state2',
  'city',
  'postcode',
  'latitude',
  'longitude',
  'timezone',
]

function checkedLocation(value: unknown, where: string): SourceLocation {
  if (typeof value !== 'object' || value === null) throw new Error(`${where}: the record is not a map`)
  const fields = new Map<string, unknown>(Object.entries(value))
  for (const name of fields.keys())
    if (!SOURCE_FIELDS.includes(name)) throw new Error(`${where}: unknown field ${name}`)
  for (const name of ['state2', 'postcode', 'timezone']) {
    if ((fields.get(name) ?? '') !== '')
      throw new Error(`${where}: ${name} is not empty, but the build would drop it`)
  }
  const country = text(fields, 'country_code', where)
  if (!/^[A-Z]{2}$/.test(country)) throw new Error(`${where}: country_code is ${JSON.stringify(country)}`)
  return {
    country,
    region: text(fields, 'state1', where),
    city: text(fields, 'city', where),
    latitude: coordinate(fields, 'latitude', 90, where),
    longitude: coordinate(fields, 'longitude', 180, where),
  }
}

function text(fields: ReadonlyMap<string, unknown>, name: string, where: string): string {
  const value = fields.get(name) ?? ''
  if (typeof value !== 'string') throw new Error(`${where}: ${name} is not a string`)
  return value
}

function coordinate(
  fields: ReadonlyMap<string, unknown>,
  name: string,
  limit: number,
  where: string,
): number {
  const value = fields.get(name)
  if (typeof value !== 'number' || !(Math.abs(value) <= limit))
    throw new Error(`${where}: ${name} is ${value}`)
  // The build writes MMDB floats: more precision would be lost.
  if (Math.fround(value) !== value) throw new Error(`${where}: ${name} ${value} is not a float32`)
  return value
}
