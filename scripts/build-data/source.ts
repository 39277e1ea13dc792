import { dataOffset, isEmpty, isNode, MmdbFile, type TreeRecord } from './mmdb-file.ts'

/** A record of the source that names a place, exactly as it is there. */
export type SourcePlace = {
  readonly country: string
  readonly region: string
  readonly city: string
  readonly latitude: number
  readonly longitude: number
}

/** How much of the address space something stands for. */
export type Weight = {
  networks: number
  /** IPv4 addresses. */
  ipv4: number
  /** IPv6 networks of 48 bits, the usual size of one site. */
  ipv6: number
}

export const noWeight = (): Weight => ({ networks: 0, ipv4: 0, ipv6: 0 })

export function addWeight(sum: Weight, weight: Weight): void {
  sum.networks += weight.networks
  sum.ipv4 += weight.ipv4
  sum.ipv6 += weight.ipv6
}

/** One file of the source, with the number of the place that each of its data offsets is. */
export type SourceFile = {
  readonly file: MmdbFile
  readonly placeAt: ReadonlyMap<number, number>
}

/** Both files of the source: every distinct place once. */
export type Source = {
  readonly ipv4: SourceFile
  readonly ipv6: SourceFile
  readonly places: readonly SourcePlace[]
  /** By place. */
  readonly weights: readonly Weight[]
  readonly buildDate: Date
}

/** The networks of 2002::/16 (6to4) and 2001::/32 (Teredo) hold one invented place each in the source. */
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
 * @throws Error when a file is not what the build was written for: another schema, an empty country, a postal
 * code or zone (which the build would silently drop), coordinates that are no float32 or out of range
 */
export function readSource(ipv4Path: string, ipv6Path: string): Source {
  const places: SourcePlace[] = []
  const weights: Weight[] = []
  const numbers = new Map<string, number>()
  const read = (path: string, ipVersion: 4 | 6): SourceFile => {
    const file = MmdbFile.open(path)
    if (file.ipVersion !== ipVersion)
      throw new Error(`${path} is for IPv${file.ipVersion}, not IPv${ipVersion}`)
    const placeAt = new Map<number, number>()
    forEachNetwork(file, (record, prefixLength) => {
      const offset = dataOffset(record)
      let place = placeAt.get(offset)
      if (place === undefined) {
        const value = checkedPlace(file.data(offset), `${path}, offset ${offset}`)
        const key = [value.country, value.region, value.city, value.latitude, value.longitude].join('\0')
        place = numbers.get(key) ?? places.length
        if (place === places.length) {
          places.push(value)
          weights.push(noWeight())
          numbers.set(key, place)
        }
        placeAt.set(offset, place)
      }
      addWeight(weights[place] ?? noWeight(), {
        networks: 1,
        ipv4: ipVersion === 4 ? 2 ** (32 - prefixLength) : 0,
        ipv6: ipVersion === 6 ? 2 ** (48 - prefixLength) : 0,
      })
    })
    return { file, placeAt }
  }
  const ipv4 = read(ipv4Path, 4)
  const ipv6 = read(ipv6Path, 6)
  const buildDate = new Date(Math.max(ipv4.file.buildDate.getTime(), ipv6.file.buildDate.getTime()))
  return { ipv4, ipv6, places, weights, buildDate }
}

/** Calls back for every network that has data, except those that are dropped. */
function forEachNetwork(file: MmdbFile, callback: (record: TreeRecord, prefixLength: number) => void): void {
  // The first 32 bits of the address decide whether a network is dropped.
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

const FIELDS = ['country_code', 'state1', 'state2', 'city', 'postcode', 'latitude', 'longitude', 'timezone']

function checkedPlace(value: unknown, where: string): SourcePlace {
  if (typeof value !== 'object' || value === null) throw new Error(`${where}: the record is no map`)
  const fields = new Map<string, unknown>(Object.entries(value))
  for (const name of fields.keys())
    if (!FIELDS.includes(name)) throw new Error(`${where}: unknown field ${name}`)
  for (const name of ['state2', 'postcode', 'timezone']) {
    if ((fields.get(name) ?? '') !== '')
      throw new Error(`${where}: ${name} is not empty, and the build would lose it`)
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
  if (typeof value !== 'string') throw new Error(`${where}: ${name} is no text`)
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
  // They are written as MMDB floats; anything finer would be lost.
  if (Math.fround(value) !== value) throw new Error(`${where}: ${name} ${value} is no float32`)
  return value
}
