import type { LeftOut, Place } from './left-out.ts'
import { dataOffset, isEmpty, isNode, MmdbFile, type TreeRecord } from './mmdb-file.ts'

/** A record of the source, unchanged. */
export type SourceLocation = Place

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

/** A file of the source. */
export class SourceFile {
  readonly file: MmdbFile
  /** By data offset: the index of the location, or `null` for a placeholder, which is left out. */
  readonly locationAt: ReadonlyMap<number, number | null>
  readonly #leftOut: LeftOut

  constructor(file: MmdbFile, locationAt: ReadonlyMap<number, number | null>, leftOut: LeftOut) {
    this.file = file
    this.locationAt = locationAt
    this.#leftOut = leftOut
  }

  /**
   * Whether the build leaves out a subtree because its addresses are not allocated, if it does not leave out the subtree
   * around it.
   *
   * @param high the first 32 bits of its addresses
   */
  isUnallocated(record: TreeRecord, depth: number, high: number): boolean {
    return (
      this.file.ipVersion === 6 &&
      !isEmpty(record) &&
      this.#leftOut.isUnallocated(high, depth, !isNode(record))
    )
  }
}

/** What was left out, for the manifest. */
export type LeftOutCounts = {
  readonly what: string
  readonly networks: number
  /** Their size in /48 networks. */
  readonly ipv6Networks48: number
}

/** Both files of the source, with every distinct location once. */
export type Source = {
  readonly ipv4: SourceFile
  readonly ipv6: SourceFile
  readonly locations: readonly SourceLocation[]
  /** By location. */
  readonly counts: readonly AddressCounts[]
  readonly leftOut: readonly LeftOutCounts[]
  readonly buildDate: Date
}

/**
 * Reads the two files of the source.
 *
 * @throws Error if a file is not what this build expects: another schema, an empty country, a postal code or time zone
 * (which the build would silently drop), coordinates that are not float32 or out of range
 */
export function readSource(ipv4Path: string, ipv6Path: string, leftOut: LeftOut): Source {
  const locations: SourceLocation[] = []
  const counts: AddressCounts[] = []
  const numbers = new Map<string, number>()
  const countsLeftOut = leftOut.reasons.map(noAddresses)
  const numberOf = (value: SourceLocation): number => {
    const key = [value.country, value.region, value.city, value.latitude, value.longitude].join('\0')
    const number = numbers.get(key) ?? locations.length
    if (number === locations.length) {
      locations.push(value)
      counts.push(noAddresses())
      numbers.set(key, number)
    }
    return number
  }
  const read = (path: string, ipVersion: 4 | 6): SourceFile => {
    const file = MmdbFile.open(path)
    if (file.ipVersion !== ipVersion)
      throw new Error(`${path} is for IPv${file.ipVersion}, not IPv${ipVersion}`)
    const locationAt = new Map<number, number | null>()
    const placeholders = new Map<number, number>()
    const source = new SourceFile(file, locationAt, leftOut)
    forEachNetwork(source, (record, prefixLength, isUnallocated) => {
      const offset = dataOffset(record)
      if (!isUnallocated && !locationAt.has(offset)) {
        const value = checkedLocation(file.data(offset), `${path}, offset ${offset}`)
        const reason = ipVersion === 6 ? leftOut.placeholderReason(value) : null
        if (reason !== null) placeholders.set(offset, reason)
        locationAt.set(offset, reason === null ? numberOf(value) : null)
      }
      const number = isUnallocated ? null : locationAt.get(offset)
      const sum =
        typeof number === 'number'
          ? counts[number]
          : countsLeftOut[isUnallocated ? 0 : (placeholders.get(offset) ?? 0)]
      addCounts(sum ?? noAddresses(), {
        networks: 1,
        ipv4: ipVersion === 4 ? 2 ** (32 - prefixLength) : 0,
        ipv6: ipVersion === 6 ? 2 ** (48 - prefixLength) : 0,
      })
    })
    return source
  }
  const ipv4 = read(ipv4Path, 4)
  const ipv6 = read(ipv6Path, 6)
  const buildDate = new Date(Math.max(ipv4.file.buildDate.getTime(), ipv6.file.buildDate.getTime()))
  const left = leftOut.reasons.map((what, reason) => {
    const { networks, ipv6: size } = countsLeftOut[reason] ?? noAddresses()
    if (networks === 0)
      throw new Error(`the source has no ${what}: remove them from scripts/build-data/input`)
    return { what, networks, ipv6Networks48: Math.round(size) }
  })
  return { ipv4, ipv6, locations, counts, leftOut: left, buildDate }
}

/** Calls back for every network with data. */
function forEachNetwork(
  source: SourceFile,
  callback: (record: TreeRecord, prefixLength: number, isUnallocated: boolean) => void,
): void {
  const { file } = source
  // `high` has the first 32 bits of the address, which decide whether it is allocated.
  const visit = (record: TreeRecord, depth: number, high: number, isInUnallocated: boolean): void => {
    if (isEmpty(record)) return
    const isUnallocated = isInUnallocated || source.isUnallocated(record, depth, high)
    if (isNode(record)) {
      const right = depth < 32 ? (high | (1 << (31 - depth))) >>> 0 : high
      visit(file.left(record), depth + 1, high, isUnallocated)
      visit(file.right(record), depth + 1, right, isUnallocated)
    } else callback(record, depth, isUnallocated)
  }
  visit(0, 0, 0, false)
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
