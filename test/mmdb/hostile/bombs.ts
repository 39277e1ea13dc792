// Databases made to hang, exhaust or mislead a reader. Most are small; some need 16 MB to do harm.
import { sampled } from '../../effort.ts'
import { bytesOf, type Child, handMade, handMadeTree, type Node } from '../hand-made.ts'
import { array, control, double, int32, map, mapOf, pointer, text, unsigned } from './encoding.ts'

/** Makes the bytes of a database on demand, because some are large. */
export type Bomb = readonly [name: string, make: () => Uint8Array]

const MILLIONS = 16_000_000
const NONE = Buffer.alloc(0)

const SOUND: Readonly<Record<string, Buffer>> = {
  binary_format_major_version: unsigned(5, 2n),
  binary_format_minor_version: unsigned(5, 0n),
  build_epoch: unsigned(9, 1_700_000_000n),
  database_type: text('Bomb-City'),
  description: map(['en', text('bomb')]),
  ip_version: unsigned(5, 4n),
  languages: array(text('en')),
  node_count: unsigned(6, 1n),
  record_size: unsigned(5, 24n),
}

/** One node of a tree; addresses below 128.0.0.0 have the record at the start of the data section. */
export function database(
  data: Uint8Array,
  metadata: Readonly<Record<string, Buffer | undefined>> = {},
  tree?: Uint8Array,
): Uint8Array {
  const fields = Object.entries({ ...SOUND, ...metadata }).flatMap(([key, value]): [string, Buffer][] =>
    value === undefined ? [] : [[key, value]],
  )
  return handMade(data, map(...fields), tree)
}

/** A database of 2 ** bits networks of equal size, each with the record at a given offset in the data section. */
export function manyRecords(data: Uint8Array, bits: number, offsetOf: (index: number) => number): Uint8Array {
  const nodes = 2 ** bits - 1
  const child = (index: number): Child => (index < nodes ? index : { data: offsetOf(index - nodes) })
  const tree = Array.from({ length: nodes }, (_, node): Node => [child(2 * node + 1), child(2 * node + 2)])
  return handMadeTree(tree, data)
}

/** A database of 2 ** bits records that all are pointers to one value. */
const leading = (shared: Buffer, bits: number): Uint8Array =>
  manyRecords(
    Buffer.concat([shared, ...new Array<Buffer>(2 ** bits).fill(pointer(0))]),
    bits,
    (i) => shared.length + 5 * i,
  )

/** A map with the same value in each of these fields, after others. */
const each = (value: Buffer, names: string, ...before: [string, Buffer][]): Buffer =>
  map(...before, ...names.split(' ').map((name): [string, Buffer] => [name, value]))

/** A record of each schema with one value in a field of each kind. */
const AROUND: readonly (readonly [name: string, around: (value: Buffer) => Buffer])[] = [
  ['GeoIP2 code', (value) => map(['country', map(['iso_code', value])])],
  ['GeoIP2 names', (value) => map(['country', map(['names', value])])],
  ['GeoIP2 name', (value) => map(['country', map(['names', map(['en', value])])])],
  ['GeoIP2 city', (value) => map(['city', map(['names', map(['en', value])])])],
  ['GeoIP2 cities', (value) => map(['city', map(['names', value])])],
  ['GeoIP2 subdivisions', (value) => map(['subdivisions', value], ['country', map()])],
  ['GeoIP2 location', (value) => map(['location', value], ['country', map()])],
  ['GeoIP2 coordinates', (value) => map(['location', each(value, 'latitude longitude time_zone')])],
  [
    'ip-location-db',
    (value) => each(value, 'state1 city postcode latitude longitude timezone', ['country_code', text('GB')]),
  ],
  ['IPinfo', (value) => each(value, 'region_code city lat', ['country', text('GB')])],
  ['IPinfo loc', (value) => map(['country', value], ['loc', value], ['timezone', value])],
  ['a record', (value) => value],
  ['an unknown field', (value) => map(['country', map()], ['traits', value])],
]

/** Nested maps or arrays with a value inside. */
function nested(levels: number, container: Buffer, inmost = text('x')): Buffer {
  return Buffer.concat([...Array.from({ length: levels }, () => container), inmost])
}

/** Every level is a map of many pointers to the level below: k ** levels values in a few hundred bytes. */
function laughs(levels: number, width: number, base: number): Buffer {
  const parts: Buffer[] = [text('ha')]
  let start = base
  let next = base + 3
  for (let level = 0; level < levels; level++) {
    const part = array(...Array.from({ length: width }, () => pointer(start)))
    start = next
    next += part.length
    parts.push(part)
  }
  return Buffer.concat([...parts, NONE])
}

/** Values of the wrong type or size for a field. */
const VALUES: readonly (readonly [name: string, value: () => Buffer])[] = [
  ['a pointer to itself', () => pointer(0)],
  ['a pointer past the end', () => pointer(0xffff_ffff)],
  ['a map', () => map(['en', text('x')])],
  ['an array', () => array(text('x'))],
  ['a boolean', () => control(14, 1)],
  ['a boolean of size 16 M', () => control(14, MILLIONS)],
  ['a number', () => unsigned(6, 42n)],
  ['the largest uint64', () => unsigned(9, 2n ** 64n - 1n)],
  ['the largest uint128', () => unsigned(10, 2n ** 128n - 1n)],
  ['a negative number', () => int32(-1)],
  ['NaN', () => double(Number.NaN)],
  ['infinity', () => double(-Infinity)],
  ['minus zero', () => double(-0)],
  ['1e308', () => double(1e308)],
  ['text of no UTF-8', () => text(Buffer.from('fffec0af80eda080f5', 'hex'))],
  ['text of controls', () => text('\0\u0001\u001b[31m\r\n\u2028\ufeff')],
  ['text of a lone continuation', () => text(Buffer.of(0x80))],
  ['an empty text', () => text('')],
  ['a path', () => text('../../etc/passwd')],
  ['__proto__', () => text('__proto__')],
  ['constructor', () => text('constructor')],
  ['text of 512', () => text('Ä'.repeat(256))],
  ['text of 513', () => text('x'.repeat(513))],
  ['16 MB of text', () => text(Buffer.alloc(MILLIONS, 'x'))],
  ['16 MB of two-byte text', () => text(Buffer.alloc(MILLIONS, 'Ä'))],
  ['16 MB of bytes', () => Buffer.concat([control(4, MILLIONS), Buffer.alloc(MILLIONS)])],
  ['text that says 16 M and has none', () => control(2, MILLIONS)],
  ['an array that says 16 M and has none', () => control(11, MILLIONS)],
  ['a map that says 16 M and has none', () => control(7, MILLIONS)],
  ['an array of 16 M texts', () => Buffer.concat([control(11, MILLIONS), Buffer.alloc(MILLIONS, 0x40)])],
  ['a map of 8 M empty texts', () => Buffer.concat([control(7, MILLIONS / 2), Buffer.alloc(MILLIONS, 0x40)])],
  ['8 M booleans', () => Buffer.concat([control(11, MILLIONS / 2), Buffer.alloc(MILLIONS, control(14, 0))])],
  ['arrays 128 deep', () => nested(128, control(11, 1))],
  ['arrays 100,000 deep', () => nested(100_000, control(11, 1))],
  ['maps 100,000 deep', () => nested(100_000, Buffer.concat([control(7, 1), text('a')]))],
  ['10,000 languages', () => mapOf(10_000, (i) => [`l${i}`, text('n')])],
  ['the same key 10,000 times', () => mapOf(10_000, () => ['en', text('n')])],
  ...['__proto__', 'constructor', 'toString', 'prototype', 'hasOwnProperty', 'valueOf', ''].map(
    (key) => [`the key ${key}`, () => map([key, map(['polluted', text('x')])], ['en', text('x')])] as const,
  ),
  ['a key that is a number', () => map([unsigned(6, 1n), text('x')])],
  ['a key of 16 MB', () => map([text(Buffer.alloc(MILLIONS, 'k')), text('x')])],
  ['the unknown type 5', () => bytesOf('0105') as Buffer],
  ['the end of the data', () => NONE],
]

const fields: Bomb[] = AROUND.flatMap(([place, around]) =>
  VALUES.map(([what, value]): Bomb => [`${what} as ${place}`, () => database(around(value()))]),
)

const sharing: Bomb[] = [
  ['two pointers in a circle', () => database(Buffer.concat([pointer(5), pointer(0)]))],
  [
    'a chain of 100,000 pointers',
    () => database(Buffer.concat(Array.from({ length: 100_000 }, (_, i) => pointer(5 * (i + 1))))),
  ],
  ['a map that contains itself', () => database(map(['country', pointer(0)]))],
  ['an array that holds itself twice', () => database(array(pointer(0), pointer(0)))],
  ['a map whose key is itself', () => database(map([pointer(0), text('x')]))],
  ['a pointer into its own middle', () => database(map(['a', pointer(4)]))],
  ['names that hold the record', () => database(map(['country', map(['names', map(['en', pointer(0)])])]))],
  ...(
    [
      [10, 10],
      [64, 2],
      [3, 1000],
      [1, 65_000],
    ] as const
  ).map(
    ([levels, width]): Bomb => [
      `${levels} levels of ${width} laughs`,
      () => {
        // First the record: a pointer to the top level, which is last in the data.
        const body = laughs(levels, width, 5)
        const top = 5 + body.length - array(...Array.from({ length: width }, () => pointer(0))).length
        return database(Buffer.concat([pointer(top), body]))
      },
    ],
  ),
  [
    '65,000 times the same 60 KB of text',
    () => {
      const long = text('x'.repeat(60_000))
      const names = mapOf(32_000, () => [text('k'), pointer(0)])
      return manyRecords(Buffer.concat([long, map(['country', map(['names', names])])]), 1, () => long.length)
    },
  ],
  // Only the limit of each record limits a check of all of them.
  [
    '65,536 records that each lead to 70,000 values',
    () => leading(array(...new Array(70_000).fill(text(''))), 16),
  ],
  [
    '65,536 records that each lead to a key of 4 MB',
    () => leading(map([text(Buffer.alloc(4_000_000, 'k')), text('x')]), 16),
  ],
  [
    // V8 compares such keys one by one.
    '32,500 fields of 240 keys of 65,000 bytes that differ at their ends',
    () => {
      const keys = Array.from({ length: 240 }, (_, i) => text(`${'k'.repeat(64_996)}${1000 + i}`))
      const size = keys[0]?.length ?? 0
      const fields = mapOf(32_500, (i) => [pointer((i % 240) * size), text('')])
      return manyRecords(Buffer.concat([...keys, fields]), 1, () => 240 * size)
    },
  ],
  [
    '16,000 keys of 1,024 bytes that differ at their ends',
    () => database(mapOf(16_000, (i) => [`${'k'.repeat(1019)}${10_000 + i}`, text('')])),
  ],
  [
    'a thousand records of one country each, and 1,300 languages that are none',
    () => {
      const names = mapOf(1300, (i) => [`?${i}`, text('x')])
      const records = Array.from({ length: 1024 }, (_, i) =>
        map(['country', map(['iso_code', text(String(1000 + i))], ['names', pointer(0)])]),
      )
      const size = records[0]?.length ?? 0
      return manyRecords(Buffer.concat([names, ...records]), 10, (i) => names.length + size * i)
    },
  ],
  [
    '1,024 records of 32,000 names',
    () => leading(map(['names', mapOf(32_000, (i) => [`l${i}`, text('')])]), 10),
  ],
  [
    // A list of field paths repeats the keys above each field.
    '30,000 fields below keys of 1 MB',
    () => {
      const key = text('k'.repeat(10_000))
      const above = Array.from({ length: 100 }, () => Buffer.concat([control(7, 1), key]))
      return database(Buffer.concat([...above, mapOf(30_000, (i) => [`f${i}`, text('')])]))
    },
  ],
  ['65,536 records that lead nowhere', () => manyRecords(Buffer.alloc(400_000, 0xff), 16, (i) => i * 6)],
]

/** Databases with each of these numbers in a field of the metadata. */
const numbers = (key: string, type: number, ...values: bigint[]): Bomb[] =>
  values.map((value) => [`${key} ${value}`, () => database(text('x'), { [key]: unsigned(type, value) })])

const wrongMetadata: Bomb[] = [
  ...numbers('node_count', 6, 0n, 2n, 3n, 1000n, 0xffff_ffffn),
  ...numbers('record_size', 5, 0n, 8n, 20n, 25n, 28n, 32n, 48n, 0xffffn),
  ...numbers('ip_version', 5, 0n, 5n, 6n, 0xffffn),
  ...numbers('build_epoch', 9, 0n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n),
  ...numbers('binary_format_major_version', 5, 0n, 1n, 3n, 0xffffn),
  ['build_epoch -1', () => database(text('x'), { build_epoch: int32(-1) })],
  ...Object.keys(SOUND).flatMap((key): Bomb[] => [
    [`no ${key}`, () => database(text('x'), { [key]: undefined })],
    ...VALUES.filter(([name]) => !name.includes('16 M')).map(
      ([name, value]): Bomb => [`${name} as ${key}`, () => database(text('x'), { [key]: value() })],
    ),
  ]),
  ...['__proto__', 'constructor', 'toString'].map(
    (key): Bomb => [
      `${key} in the metadata`,
      () => handMade(text('x'), map([key, map(['ip_version', text('x')])], ...Object.entries(SOUND))),
    ],
  ),
  [
    'keys that come twice',
    () =>
      handMade(text('x'), map(...Object.entries(SOUND), ...Object.entries(SOUND), ['ip_version', text('x')])),
  ],
  [
    'several metadata',
    () =>
      Buffer.concat([
        database(text('x')),
        database(text('y')),
        database(text('z'), { ip_version: text('') }),
      ]),
  ],
  ['16 MB after the marker', () => Buffer.concat([database(text('x')), Buffer.alloc(MILLIONS)])],
  ['16 MB of markers', () => Buffer.alloc(MILLIONS, bytesOf('abcdef4d61784d696e642e636f6d'))],
  ...(
    [
      [10, 10],
      [1, 20_000],
    ] as const
  ).map(
    ([levels, width]): Bomb => [
      `${levels} levels of ${width} laughs in the metadata`,
      () => {
        // Pointers in metadata count from its start: after the map's byte and the key.
        const body = laughs(levels, width, 3)
        const top = 3 + body.length - array(...Array.from({ length: width }, () => pointer(0))).length
        const start = Buffer.concat([control(7, 2 + Object.keys(SOUND).length), text('a')])
        const rest = Object.entries(SOUND).flatMap(([key, value]) => [text(key), value])
        // "a" is the innermost text; the levels are values of another array in it.
        const all = Buffer.concat([start, body, text('languages'), pointer(top), ...rest])
        return handMade(text('x'), all)
      },
    ],
  ),
  [
    '120 KB of description, 10,000 times',
    () => {
      const long = text('d'.repeat(60_000))
      const description = mapOf(5000, (i) => [text(`l${i}`), pointer(1 + 6)])
      const rest = Object.entries(SOUND).filter(([key]) => key !== 'description')
      return handMade(text('x'), map(['first', long], ['description', description], ...rest))
    },
  ],
]

const record = map(['country', map(['iso_code', text('GB')])])
const six = { ip_version: unsigned(5, 6n) }

const trees: Bomb[] = [
  ['a node that leads to itself', () => database(record, {}, bytesOf('000000 000000'))],
  ['a node of IPv6 that leads to itself', () => database(record, six, bytesOf('000000 000000'))],
  [
    'nodes in a circle',
    () =>
      database(
        record,
        { ...six, node_count: unsigned(6, 3n) },
        bytesOf('000001000002 000002000000 000000000001'),
      ),
  ],
  ['records in the separator', () => database(record, {}, bytesOf('000002 000010'))],
  ['records in the metadata', () => database(record, {}, bytesOf('000040 000050'))],
  ['records at the marker and past the end', () => database(text('x'), {}, bytesOf('000013 ffffff'))],
  ['a record in the middle of a value', () => database(record, {}, bytesOf('000013 000015'))],
  ['a record that is a pointer', () => database(Buffer.concat([pointer(5), record]))],
  ['no data', () => database(NONE)],
  [
    'a tree of 65,536 nodes that all lead to each other',
    () => {
      const nodes = Array.from({ length: 65_536 }, (_, i): Node => [(i + 1) % 65_536, (i * 7 + 3) % 65_536])
      return handMadeTree(nodes, record, { ip_version: 6 })
    },
  ],
]

/** By target of the attack. */
export const BOMBS: Readonly<Record<string, readonly Bomb[]>> = {
  fields: sampled(fields, 20),
  sharing: sampled(sharing, 8),
  metadata: sampled(wrongMetadata, 20),
  trees,
}
