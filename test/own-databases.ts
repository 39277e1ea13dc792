// Databases with the features of the format authors' test databases, made here, so that every clone tests them.
import {
  double,
  float,
  int32,
  MmdbWriter,
  type MmdbWriterOptions,
  uint16,
  uint32,
  uint64,
  uint128,
  type WritableValue,
} from '../src/writer.ts'
import { bytesOf, encode, type HandMade, handMade, METADATA } from './mmdb/hand-made.ts'

type Networks = Readonly<Record<string, WritableValue>>

/** A database of these networks, with a record for each. */
export function databaseOf(networks: Networks, options: Partial<MmdbWriterOptions> = {}): Uint8Array {
  const writer = new MmdbWriter({ databaseType: 'Any-Name', languages: ['en'], ...options })
  for (const [network, record] of Object.entries(networks)) writer.insert(network, record)
  return writer.toBytes()
}

/** A database of one network, 81.2.69.0/24, with this record. */
export const databaseWith = (record: WritableValue): Uint8Array => databaseOf({ '81.2.69.0/24': record })

/** A database of one network, 81.2.69.0/24 in Great Britain. */
export const british = (city?: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    databaseWith({ country: { iso_code: 'GB' }, ...(city && { city: { names: { en: city } } }) }),
  )

/** Networks of all prefix lengths near each other; each record is its network's first address. */
const IPV4_NETWORKS = ['1.1.1.1/32', '1.1.1.2/31', '1.1.1.4/30', '1.1.1.8/29', '1.1.1.16/28', '1.1.1.32/32']
const IPV6_NETWORKS = ['::1:ffff:ffff/128', '::2:0:0/122', '::2:0:40/124', '::2:0:50/125', '::2:0:58/127']

const named = (networks: readonly string[]): Networks =>
  Object.fromEntries(networks.map((network) => [network, { ip: network.split('/', 1)[0] ?? '' }]))

const RECORD_SIZES = [24, 28, 32] as const
const TREES = [
  ['ipv4', 4, IPV4_NETWORKS],
  ['ipv6', 6, IPV6_NETWORKS],
  ['mixed', 6, [...IPV6_NETWORKS, ...IPV4_NETWORKS]],
] as const

const LONDON = {
  city: { geoname_id: 2643743, names: { de: 'London', en: 'London', fr: 'Londres', ja: 'ロンドン' } },
  continent: { code: 'EU', names: { en: 'Europe' } },
  country: { iso_code: 'GB', names: { de: 'Vereinigtes Königreich', en: 'United Kingdom', ja: 'イギリス' } },
  location: { accuracy_radius: 10, latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London' },
  subdivisions: [{ iso_code: 'ENG', names: { en: 'England', fr: 'Angleterre' } }],
}
const MILTON = {
  city: { names: { en: 'Milton' } },
  country: { iso_code: 'US', names: { de: 'USA', en: 'United States' } },
  location: { latitude: 47.2513, longitude: -122.3149, time_zone: 'America/Los_Angeles' },
  postal: { code: '98354' },
  subdivisions: [{ iso_code: 'WA', names: { de: 'Washington', en: 'Washington' } }],
}
const CITIES: Networks = {
  '81.2.69.142/31': LONDON,
  '81.2.69.192/28': LONDON,
  '89.160.20.112/28': { country: { iso_code: 'SE', names: { en: 'Sweden' } } },
  '216.160.83.56/29': MILTON,
  '2001:218::/32': { country: { iso_code: 'JP', names: { en: 'Japan' } } },
  // Records without a location.
  '2a02:d300::/28': {},
  '2.125.160.216/29': { registered_country: { iso_code: 'GB' } },
}

/** Every type, at the borders of their sizes: lengths up to 28 are in the control byte, longer ones in 1 to 3 more. */
const EVERY_TYPE: WritableValue = {
  array: [1, 2, 3],
  booleans: [true, false],
  bytes: Uint8Array.of(0, 0, 0, 42),
  double: double(42.123456),
  float: float(1.1),
  int32: [int32(-268435456), int32(-1), int32(0), int32(2 ** 31 - 1)],
  map: { mapX: { arrayX: [7, 8, 9], utf8_stringX: 'hello' }, empty: {} },
  texts: [0, 1, 28, 29, 284, 285, 65_820, 65_821].map(
    (length) => 'ü'.repeat(length / 2) + 'x'.repeat(length % 2),
  ),
  uint16: [uint16(0), uint16(100), uint16(65_535)],
  uint32: [uint32(0), uint32(2 ** 28), uint32(2 ** 32 - 1)],
  uint64: [uint64(0n), uint64(2n ** 60n), uint64(2n ** 64n - 1n)],
  uint128: [uint128(0n), uint128(2n ** 120n), uint128(2n ** 128n - 1n)],
  utf8_string: 'unicode! ☯ - ♫',
}

/** A pointer of 1, 2, 3 or 4 bytes after its control byte (MaxMind DB format, "pointer"). */
function pointer(size: 1 | 2 | 3 | 4, to: number): HandMade {
  const value = to - { 1: 0, 2: 2048, 3: 526_336, 4: 0 }[size]
  const control = 0x20 | ((size - 1) << 3)
  return {
    hex:
      size === 4
        ? `38${value.toString(16).padStart(8, '0')}`
        : ((control << (8 * size)) + value).toString(16).padStart(2 * size + 2, '0'),
  }
}

/** A record whose last members are pointers of all sizes to texts before them, which long values keep apart. */
function pointersOfAllSizes(): Uint8Array {
  // A text: the size less 285 in two bytes, or less 65,821 in three.
  const text = (control: string, size: string, length: number): HandMade => ({
    hex: control + size + '78'.repeat(length),
  })
  const before: [string, HandMade][] = [
    ['near', 'near'],
    ['apart', text('5e', '0fff', 285 + 0x0fff)],
    ['middle', 'middle'],
    ['far apart', text('5f', '07ffff', 65_821 + 0x07ffff)],
    ['far', 'far'],
  ]
  const offsets = new Map<string, number>()
  // The control byte of the map.
  let length = 1
  for (const [key, value] of before) {
    offsets.set(key, length + encode(key).length)
    length += encode(key).length + encode(value).length
  }
  const to = (size: 1 | 2 | 3 | 4, key: string): HandMade => pointer(size, offsets.get(key) ?? 0)
  const pointers: [string, HandMade][] = [
    ['one', to(1, 'near')],
    ['two', to(2, 'middle')],
    ['three', to(3, 'far')],
    ['four', to(4, 'near')],
    ['list', [to(4, 'far'), to(3, 'far'), to(2, 'middle')]],
  ]
  return handMade(encode(new Map([...before, ...pointers])))
}

/** Metadata whose values are pointers to values in the metadata. */
function metadataPointers(): Uint8Array {
  const plain = Object.entries(METADATA).map(([key, value]): [string, HandMade] => [key, value])
  const withPointer = (type: HandMade): Uint8Array =>
    encode(
      new Map<string, HandMade>([
        ['shared', 'Hand-Made'],
        ...plain.map(([key, value]): [string, HandMade] => [key, key === 'database_type' ? type : value]),
      ]),
    )
  // After the control byte of the map and the key "shared" with its own.
  return handMade(encode(new Map([['en', 'x']])), withPointer(pointer(1, 1 + 1 + 'shared'.length)))
}

/** Well-formed databases by what they show. */
export const OWN_DATABASES: Readonly<Record<string, () => Uint8Array>> = {
  'cities in the schema of GeoIP2': () =>
    databaseOf(CITIES, { databaseType: 'Test-City', languages: ['de', 'en', 'ja'] }),
  'cities without aliases': () => databaseOf(CITIES, { databaseType: 'Test-City', aliases: false }),
  'countries of IPv4 only': () =>
    databaseOf(Object.fromEntries(Object.entries(CITIES).filter(([network]) => !network.includes(':'))), {
      ipVersion: 4,
    }),
  'an IPv6 tree whose IPv4 part is one record': () => databaseOf({ '::/64': '::/64' }, { aliases: false }),
  'records that are texts': () =>
    databaseOf(Object.fromEntries(IPV4_NETWORKS.map((network) => [network, network])), { ipVersion: 4 }),
  'every type': () => databaseOf({ '::1.1.1.0/120': EVERY_TYPE, '::/128': { all: [EVERY_TYPE, {}] } }),
  'pointers of all sizes': pointersOfAllSizes,
  'pointers in the metadata': metadataPointers,
  'maps and arrays in each other': () =>
    databaseOf(
      { '1.1.1.1/32': { map1: { map2: { array: [{ map3: { a: 1, b: 2, c: [[[]]] } }] } } } },
      { ipVersion: 4 },
    ),
  ...Object.fromEntries(
    TREES.flatMap(([name, ipVersion, networks]) =>
      RECORD_SIZES.map((recordSize) => [
        `${name}, ${recordSize} bits`,
        () => databaseOf(named(networks), { ipVersion, recordSize, description: { en: 'Test', zh: '测试' } }),
      ]),
    ),
  ),
}

/** The bytes of the map or array that `depth` others are around. */
const nested = (depth: number): string => `${'0104'.repeat(depth)}e0`

/** Broken databases, and what is broken. */
export const OWN_BAD_DATABASES: Readonly<Record<string, () => Uint8Array>> = {
  'a pointer outside the data section': () => handMade(encode({ hex: '27ff' })),
  'a tree that leads into the separator': () => handMade(encode('x'), {}, bytesOf('000002 000001')),
  'a tree that leads to the separator, on its right': () =>
    handMade(encode('x'), {}, bytesOf('000001 000003')),
  'a tree that leads to itself': () => handMade(encode('x'), {}, bytesOf('000000 000000')),
  'metadata that points to itself': () => handMade(encode('x'), bytesOf('e1 4161 2003')),
  'a map of metadata whose size is not there': () => handMade(encode('x'), bytesOf('ff ff ff ff')),
  'bytes longer than the file': () => handMade(encode('x'), bytesOf('e1 44 6e616d65 9f ff ff ff')),
  'a text longer than the file': () => handMade(encode('x'), bytesOf('e1 44 6e616d65 5c 61')),
  'only the marker': () => handMade(new Uint8Array(0), new Uint8Array(0)),
  'metadata that is a number': () => handMade(encode('x'), bytesOf('1003 ffffffffffffffffffffffffffffffff')),
  'an array of a record larger than the file': () => handMade(bytesOf('1f04 ffffff')),
  'a record nested 512 levels deep': () => handMade(bytesOf(nested(512))),
}

/** Databases that look broken and are not. */
export const OWN_ODD_DATABASES: Readonly<Record<string, () => Uint8Array>> = {
  'an empty map last in the metadata': () => handMade(encode('x'), { description: new Map() }),
  'the largest build time': () => handMade(encode('x'), { build_epoch: 2n ** 64n - 1n }),
}
