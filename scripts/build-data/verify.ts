import { execFileSync, spawnSync } from 'node:child_process'
import { isDeepStrictEqual } from 'node:util'
import { Reader, type Response } from 'mmdb-lib'
import type { EnrichedLocation } from './enrichment.ts'
import type { Layout } from './layout.ts'
import { dataOffset, IPV4, isEmpty, isNode, MmdbFile, type TreeRecord } from './mmdb-file.ts'
import { joinCity } from './name-spelling.ts'
import type { Source, SourceFile } from './source.ts'

/**
 * Walks the trees of the built database and of the source in parallel, and compares the records of every network with its
 * location: its coordinates are those of the source, unless they contradict the names.
 *
 * @param bytes the built database, decompressed from the file to be published
 * @returns the number of networks of the source that were compared, including those without a record, and of distinct pairs of a
 * source record and a built record
 * @throws Error at the first difference
 */
export function verifyAll(
  layout: Layout,
  bytes: Buffer,
  source: Source,
  locations: readonly EnrichedLocation[],
): { networks: number; recordPairs: number } {
  const built = new MmdbFile(bytes)
  if (built.databaseType !== layout.databaseType) throw new Error(`database_type is ${built.databaseType}`)
  const compared = new Set<number>()
  let networks = 0
  const compare = (record: TreeRecord, location: number, where: string): void => {
    if (isEmpty(record)) throw new Error(`${where}: there is no record, but the source has a location`)
    const pair = dataOffset(record) * locations.length + location
    if (compared.has(pair)) return
    compared.add(pair)
    const wanted = locations[location]
    if (wanted === undefined) throw new Error(`${where}: unknown location`)
    const difference = differenceOf(layout, built.data(dataOffset(record)), wanted)
    if (difference !== null) throw new Error(`${where}: ${difference}`)
  }
  const walk = (side: SourceFile, from: TreeRecord, to: TreeRecord, depth: number, high: number): void => {
    const { file, locationAt } = side
    if (side.isUnallocated(from, depth, high)) {
      if (!isEmpty(to))
        throw new Error(`an unallocated network has a record (${high.toString(16)}, /${depth})`)
      return
    }
    if (isNode(from)) {
      // Networks of the built tree can be larger: it merges equal neighbours.
      const [left, right] = isNode(to) ? [built.left(to), built.right(to)] : [to, to]
      walk(side, file.left(from), left, depth + 1, high)
      walk(side, file.right(from), right, depth + 1, depth < 32 ? (high | (1 << (31 - depth))) >>> 0 : high)
      return
    }
    networks++
    const where = `IPv${file.ipVersion} network ${networks} (/${depth}, first bits ${high.toString(16)})`
    const location = isEmpty(from) ? null : locationAt.get(dataOffset(from))
    if (location === null) {
      // The IPv6 file of the source has nothing in ::/96 and ::ffff:0:0/96: these are compared with the IPv4 file.
      if (!isEmpty(to) && !(file.ipVersion === 6 && high === 0))
        throw new Error(`${where}: there is a record, but the source has none`)
      return
    }
    if (isNode(to)) throw new Error(`${where}: the built tree has smaller networks than the source`)
    if (location === undefined) throw new Error(`${where}: the record of the source was not read`)
    compare(to, location, where)
  }
  const ipv4Root = built.descend(IPV4)
  const mapped = built.descend([...IPV4.slice(16), ...Array.from({ length: 16 }, () => 1)])
  if (ipv4Root !== mapped) throw new Error('::ffff:0:0/96 does not lead to the IPv4 networks')
  walk(source.ipv4, 0, ipv4Root, 0, 0)
  walk(source.ipv6, 0, 0, 0, 0)
  return { networks, recordPairs: compared.size }
}

type BuiltRecord = {
  continent?: { code?: string }
  country?: { iso_code?: string; names?: { en?: string } }
  subdivisions?: { iso_code?: string; names?: { en?: string } }[]
  city?: { names?: { en?: string } }
  district?: { names?: { en?: string } }
  location?: { latitude?: number; longitude?: number; time_zone?: string }
}

/** The field of a database that {@link verifySamples} compares with mmdblookup. */
const SPOT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'Geofix-City': ['country', 'iso_code'],
  'Geofix-Country': ['country', 'iso_code'],
  'Geofix-ASN': ['autonomous_system_number'],
}

/** The first difference between a built record and the source with its enrichment, or `null`. */
function differenceOf(layout: Layout, value: unknown, location: EnrichedLocation): string | null {
  const record: BuiltRecord = typeof value === 'object' && value !== null ? value : {}
  const { source } = location
  const isCity = layout.databaseType === 'Geofix-City'
  const region = record.subdivisions?.[0]
  const city = record.city?.names?.en ?? ''
  const fields: readonly (readonly [string, unknown, unknown])[] = [
    ['country', record.country?.iso_code, source.country],
    ['country name', record.country?.names?.en, location.country.names.en],
    ['continent', record.continent?.code, location.country.continent.code],
    ...(isCity
      ? ([
          ['city', joinCity({ city, district: record.district?.names?.en ?? null }), joinCity(location.name)],
          ['latitude', record.location?.latitude, location.position === null ? undefined : source.latitude],
          [
            'longitude',
            record.location?.longitude,
            location.position === null ? undefined : source.longitude,
          ],
          ['time zone', record.location?.time_zone ?? null, location.zone],
          ['number of regions', record.subdivisions?.length ?? 0, location.regionNames === null ? 0 : 1],
          ['region code', region?.iso_code ?? null, location.regionCode?.slice(3) ?? null],
          ['region', region?.names?.en, location.regionNames?.en],
        ] as const)
      : []),
  ]
  const wrong = fields.find(([, got, wanted]) => got !== wanted)
  return wrong === undefined ? null : `${wrong[0]} is ${String(wrong[1])}, but should be ${String(wrong[2])}`
}

export function hasMmdblookup(): boolean {
  return spawnSync('mmdblookup', ['--version']).error === undefined
}

/**
 * libmaxminddb is the most used reader of MMDB files. A build that it has not checked is not published.
 *
 * @throws Error if its command is not installed
 */
export function requireMmdblookup(): void {
  if (!hasMmdblookup()) {
    throw new Error('mmdblookup is not installed: apt-get install mmdb-bin (or brew install libmaxminddb)')
  }
}

/**
 * Looks up addresses with two independent readers, mmdb-lib and mmdblookup (libmaxminddb), and compares the results.
 *
 * @returns the number of addresses that each looked up
 * @throws Error if they differ
 */
export function verifySamples(bytes: Buffer, path: string): { mmdbLib: number; mmdblookup: number } {
  const reader = new Reader<Response>(bytes)
  const file = new MmdbFile(bytes)
  const addresses = [...sampleAddresses(20_000)]
  for (const address of addresses) {
    const bits = [...address].flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((shift) => (byte >> shift) & 1))
    const record = file.descend(address.length === 4 ? [...IPV4, ...bits] : bits)
    const expected = isEmpty(record) ? null : file.data(dataOffset(record))
    const text = addressText(address)
    if (!isDeepStrictEqual(reader.get(text), expected))
      throw new Error(`mmdb-lib has another record for ${text}`)
  }
  const spots = addresses.slice(0, 200)
  const fields = SPOT_FIELDS[file.databaseType]
  if (fields === undefined) throw new Error(`verify.ts has no field for ${file.databaseType}`)
  for (const address of spots) {
    const text = addressText(address)
    const answer = spawnSync('mmdblookup', ['-f', path, '-i', text, ...fields], { encoding: 'utf8' })
    const found = /^\s*"?(\w+)"? <(?:utf8_string|uint32)>$/m.exec(answer.stdout)?.[1] ?? null
    const wanted = fields.reduce<unknown>(
      (value, field) => Reflect.get(Object(value), field),
      reader.get(text),
    )
    if (found !== (wanted === undefined ? null : String(wanted)))
      throw new Error(`mmdblookup has ${fields.join('.')} ${found} for ${text}`)
  }
  execFileSync('mmdblookup', ['-f', path, '-v', '-i', '8.8.8.8'])
  return { mmdbLib: addresses.length, mmdblookup: spots.length }
}

/** Half IPv4, half IPv6 in 2000::/4, from a fixed seed, so that failures are reproducible. */
function* sampleAddresses(count: number): Generator<Uint8Array> {
  let state = 0x2f6e2b1
  const byte = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 24
  }
  for (let i = 0; i < count; i++) {
    const address = Uint8Array.from({ length: i % 2 === 0 ? 4 : 16 }, byte)
    if (address.length === 16) {
      address[0] = 0x20 | ((address[0] ?? 0) & 0x0f)
      // Most allocated networks have one of a few values here.
      if (i % 4 === 1) address[1] = [0x01, 0x03, 0x04, 0x05, 0x06, 0x07][i % 6] ?? 1
    }
    yield address
  }
}

function addressText(address: Uint8Array): string {
  if (address.length === 4) return address.join('.')
  const hex = Buffer.from(address).toString('hex')
  return hex.match(/.{4}/g)?.join(':') ?? ''
}
