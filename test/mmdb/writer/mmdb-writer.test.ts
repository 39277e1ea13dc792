import fc from 'fast-check'
import { Reader, type Response } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../../src/core.ts'
import { Database } from '../../../src/mmdb/database.ts'
import {
  float,
  MmdbWriter,
  type MmdbWriterOptions,
  type RecordSize,
  type WritableValue,
} from '../../../src/writer.ts'

const open = (bytes: Uint8Array): Reader<Response> => new Reader<Response>(Buffer.from(bytes))

function written(
  networks: readonly (readonly [string, WritableValue])[],
  options: Partial<MmdbWriterOptions> = {},
) {
  const writer = new MmdbWriter({ databaseType: 'Test', ...options })
  for (const [network, record] of networks) writer.insert(network, record)
  return writer.toBytes()
}

describe('MmdbWriter', () => {
  it('writes a database that mmdb-lib reads', () => {
    const reader = open(written([['81.2.69.0/24', { country: { iso_code: 'GB' } }]]))
    expect(reader.get('81.2.69.142')).toEqual({ country: { iso_code: 'GB' } })
    expect(reader.getWithPrefixLength('81.2.69.142')[1]).toBe(24)
    expect(reader.get('81.2.70.1')).toBeNull()
  })

  it('writes the metadata', () => {
    const bytes = written([['81.2.69.0/24', { a: 1 }]], {
      databaseType: 'My-Type',
      languages: ['en', 'pt-BR'],
      description: { en: 'Text', de: 'Text' },
      buildDate: new Date('2026-06-05T13:00:00.900Z'),
    })
    const { metadata } = open(bytes)
    expect(metadata).toMatchObject({
      binaryFormatMajorVersion: 2,
      binaryFormatMinorVersion: 0,
      databaseType: 'My-Type',
      languages: ['en', 'pt-BR'],
      description: { en: 'Text', de: 'Text' },
      ipVersion: 6,
      recordSize: 24,
      buildEpoch: new Date('2026-06-05T13:00:00Z'),
    })
  })

  it('writes metadata without pointers, which some readers do not follow in metadata', () => {
    const text = 'The same text in several places'
    const bytes = written([], { databaseType: text, description: { en: text, de: text } })
    expect(Buffer.from(bytes).toString('latin1').split(text)).toHaveLength(4)
  })

  it('does not read the clock: the default build date is 2000-01-01', () => {
    expect(open(written([])).metadata.buildEpoch).toEqual(new Date('2000-01-01T00:00:00Z'))
  })

  it('has no languages and no description by default', () => {
    expect(open(written([])).metadata).toMatchObject({ languages: [], description: {} })
  })

  it('writes an empty database', () => {
    expect(open(written([])).metadata.nodeCount).toBe(1)
    expect(open(written([])).get('2001:db8::1')).toBeNull()
    expect(open(written([], { ipVersion: 4 })).get('1.2.3.4')).toBeNull()
  })

  it('replaces earlier networks by later ones, larger or smaller', () => {
    const exceptionLater = open(
      written([
        ['10.0.0.0/8', 1],
        ['10.1.0.0/16', 2],
      ]),
    )
    expect([exceptionLater.get('10.1.2.3'), exceptionLater.get('10.2.2.3')]).toEqual([2, 1])
    const blanketLater = open(
      written([
        ['10.1.0.0/16', 2],
        ['10.0.0.0/8', 1],
      ]),
    )
    expect([blanketLater.get('10.1.2.3'), blanketLater.get('10.2.2.3')]).toEqual([1, 1])
  })

  it('removes networks', () => {
    const writer = new MmdbWriter({ databaseType: 'Test' })
    const reader = open(writer.insert('10.0.0.0/8', 1).remove('10.1.0.0/16').toBytes())
    expect([reader.get('10.1.2.3'), reader.get('10.2.2.3')]).toEqual([null, 1])
  })

  it('can be changed after toBytes', () => {
    const writer = new MmdbWriter({ databaseType: 'Test' }).insert('10.0.0.0/8', 1)
    const before = writer.toBytes()
    expect(open(writer.insert('11.0.0.0/8', 2).toBytes()).get('11.0.0.1')).toBe(2)
    expect(open(before).get('11.0.0.1')).toBeNull()
  })

  it('copies the record during the call', () => {
    const record = { country: { iso_code: 'GB' } }
    const writer = new MmdbWriter({ databaseType: 'Test' }).insert('10.0.0.0/8', record)
    record.country.iso_code = 'XX'
    expect(open(writer.toBytes()).get('10.0.0.1')).toEqual({ country: { iso_code: 'GB' } })
  })

  it('omits records that no network has any more', () => {
    const overwritten = written([
      ['10.0.0.0/8', 'a text that nobody needs'],
      ['10.0.0.0/8', 'kept'],
    ])
    expect(Buffer.from(overwritten).includes('nobody needs')).toBe(false)
  })

  it('stores IPv4 at ::/96 and links ::ffff:0:0/96 to it', () => {
    const reader = open(
      written([
        ['1.2.3.0/24', 4],
        ['2001:db8::/32', 6],
      ]),
    )
    expect(reader.get('::1.2.3.4')).toBe(4)
    expect(reader.get('::ffff:1.2.3.4')).toBe(4)
    expect(reader.get('2001:db8::1')).toBe(6)
    expect(open(written([['1.2.3.0/24', 4]], { aliases: false })).get('::ffff:1.2.3.4')).toBeNull()
  })

  it.each<[text: string, network: string, ipVersion: 4 | 6]>([
    ['213.91.91.84', '213.91.91.84/32', 4],
    ['213.91.91.84', '213.91.91.84/32', 6],
    ['2001:db8::1', '2001:db8::1/128', 6],
    ['::ffff:213.91.91.84', '213.91.91.84/32', 6],
    ['0.0.0.0', '0.0.0.0/32', 4],
    ['::', '::/128', 6],
  ])('takes the address %s as %s in a database for IPv%i', (text, network, ipVersion) => {
    const around = network.includes(':') ? '::/0' : '0.0.0.0/0'
    const inserted = (each: string): Uint8Array =>
      written(
        [
          [around, 'around'],
          [each, 'one'],
        ],
        { ipVersion },
      )
    expect(inserted(text)).toEqual(inserted(network))
    const writer = new MmdbWriter({ databaseType: 'Test', ipVersion }).insert(network, 1)
    expect(writer.remove(text).toBytes()).toEqual(
      new MmdbWriter({ databaseType: 'Test', ipVersion }).toBytes(),
    )
  })

  it('stores an IPv4-mapped network as the IPv4 network, in both kinds of database', () => {
    for (const ipVersion of [4, 6] as const) {
      expect(open(written([['::ffff:1.2.3.0/120', 4]], { ipVersion })).get('1.2.3.4')).toBe(4)
    }
  })

  it('accepts 0.0.0.0/0 and ::/0', () => {
    expect(open(written([['0.0.0.0/0', 4]], { ipVersion: 4 })).get('200.1.2.3')).toBe(4)
    const both = open(
      written([
        ['::/0', 6],
        ['0.0.0.0/0', 4],
      ]),
    )
    expect([both.get('200.1.2.3'), both.get('::ffff:200.1.2.3'), both.get('2001:db8::')]).toEqual([4, 4, 6])
  })

  it('merges adjacent equal networks and shares identical subtrees', () => {
    const halves = written([
      ['10.0.0.0/9', { a: 1 }],
      ['10.128.0.0/9', { a: 1 }],
    ])
    expect(halves).toEqual(written([['10.0.0.0/8', { a: 1 }]]))
    expect(open(halves).getWithPrefixLength('10.1.2.3')[1]).toBe(8)
    const networks = Array.from({ length: 256 }, (_, i): [string, WritableValue] => [`${i}.7.7.0/24`, 'same'])
    expect(open(written(networks, { ipVersion: 4 })).metadata.nodeCount).toBe(24)
  })

  it('gives the same bytes for the same calls', () => {
    const networks: [string, WritableValue][] = [
      ['10.0.0.0/8', { b: [1, 'x'], a: float(1.5) }],
      ['2001:db8::/33', 'y'],
    ]
    expect(written(networks)).toEqual(written(networks))
  })

  it('chooses the smallest record size that fits', () => {
    const large = new Uint8Array(2 ** 24)
    expect(open(written([['1.0.0.0/8', large]])).metadata.recordSize).toBe(24)
    const reader = open(
      written([
        ['1.0.0.0/8', large],
        ['2.0.0.0/8', 'after it'],
      ]),
    )
    expect(reader.metadata.recordSize).toBe(28)
    expect(reader.get('2.0.0.1')).toBe('after it')
  })

  it('refuses a record size that is too small, and names one that fits', () => {
    const large = new Uint8Array(2 ** 24)
    expect(() =>
      written(
        [
          ['1.0.0.0/8', large],
          ['2.0.0.0/8', 'x'],
        ],
        { recordSize: 24 },
      ),
    ).toThrow(/^\d+ nodes and 167772\d\d bytes of data do not fit in a record size of 24: use 28$/)
  })

  it('writes maps, texts and arrays of every size class', () => {
    // The largest size class of lists exceeds the limit of a record.
    for (const length of [28, 29, 284, 285, 16_000, 65_820, 65_821, 70_000]) {
      const text = 'é'.repeat(length)
      const list = Array.from({ length: length <= 16_000 ? length : 1 }, (_, i) => i)
      const record = { text, list, map: Object.fromEntries(list.map((i) => [`key ${i}`, i])) }
      expect(open(written([['1.2.3.4/32', record]])).get('1.2.3.4')).toEqual(record)
    }
  })
})

describe('what MmdbWriter refuses', () => {
  const cycle: { self?: object } = {}
  cycle.self = cycle
  const deep = Array.from({ length: 600 }).reduce<WritableValue>((inner) => [inner], [])
  const own = (key: string): object => Object.defineProperty({}, key, { value: 1, enumerable: true })

  it.each<[string, unknown, ErrorConstructor | RangeErrorConstructor, string]>([
    ['undefined', { city: { name: undefined } }, TypeError, 'record.city.name: undefined cannot be written'],
    ['null', { city: null }, TypeError, 'record.city: null cannot be written'],
    ['a function', { a: [1, () => 1] }, TypeError, 'record.a[1]: a value of type function cannot be written'],
    ['a symbol', Symbol('x'), TypeError, 'record: a value of type symbol cannot be written'],
    ['a hole in an array', new Array(2), TypeError, 'record[0]: undefined cannot be written'],
    ['a date', { at: new Date(0) }, TypeError, 'record.at: a value of class Date is not a plain object'],
    ['a set', new Set([1]), TypeError, 'record: a value of class Set is not a plain object'],
    [
      'an object of no class',
      Object.create(Object.create(Object.create(null))),
      TypeError,
      'record: a value of class (none) is not a plain object',
    ],
    ['a cycle', cycle, TypeError, 'record.self: the value contains itself'],
    [
      'a __proto__ key',
      { a: own('__proto__') },
      TypeError,
      'record.a.__proto__: the key __proto__ is not allowed',
    ],
    [
      'a Map with a number for a key',
      new Map([[1, 2]]),
      TypeError,
      'record: a key of the map is a value of type number',
    ],
    [
      'an unpaired surrogate',
      { a: '\ud800' },
      TypeError,
      'record.a: the text contains an unpaired surrogate',
    ],
    ['an unpaired surrogate in a key', { '\udc00': 1 }, TypeError, 'the text contains an unpaired surrogate'],
    [
      'NaN',
      { location: { latitude: Number.NaN } },
      RangeError,
      'record.location.latitude: NaN is not a finite number',
    ],
    ['Infinity', [Number.POSITIVE_INFINITY], RangeError, 'record[0]: Infinity is not a finite number'],
    [
      'a number below int32',
      { a: -2_147_483_649 },
      RangeError,
      'record.a: -2147483649 is below the range of int32',
    ],
    [
      'an integer that is not exact',
      { a: 2 ** 53 },
      RangeError,
      'record.a: 9007199254740992 is not an exact integer',
    ],
    ['a negative bigint', { a: -1n }, RangeError, 'record.a: -1 is negative'],
    ['a bigint beyond 128 bits', { a: 2n ** 128n }, RangeError, 'does not fit in 128 bits'],
    ['too deep a nesting', deep, RangeError, 'maps and arrays are nested deeper than 128 levels'],
  ])('%s', (_, record, kind, message) => {
    const writer = new MmdbWriter({ databaseType: 'Test' })
    const insert = (): unknown => Reflect.apply(writer.insert, writer, ['10.0.0.0/8', record])
    expect(insert).toThrow(kind)
    expect(insert).toThrow(message)
  })

  it.each([
    ['a part of an address', '10.0.0'],
    ['an address with a port', '10.0.0.1:80'],
    ['an address with a zone', 'fe80::1%eth0'],
    ['an address in brackets', '[2001:db8::1]'],
    ['a space before an address', ' 10.0.0.1'],
    ['bits after the prefix', '10.0.0.1/8'],
    ['a prefix too long', '10.0.0.0/33'],
    ['nonsense', 'nonsense'],
    ['nothing', ''],
  ])('a network: %s', (_, network) => {
    expect(() => new MmdbWriter({ databaseType: 'Test' }).insert(network, 1)).toThrow(TypeError)
    expect(() => new MmdbWriter({ databaseType: 'Test' }).remove(network)).toThrow(TypeError)
  })

  it.each(['2001:db8::/32', '::/0', '::fffe:0:0/95', '::1.2.3.0/120'])(
    '%s in an IPv4 database',
    (network) => {
      const writer = new MmdbWriter({ databaseType: 'Test', ipVersion: 4 })
      expect(() => writer.insert(network, 1)).toThrow(
        `${network} is an IPv6 network, but the database has ipVersion 4`,
      )
    },
  )
})

describe('the options of MmdbWriter', () => {
  const prototypeKey = Object.defineProperty({}, '__proto__', { value: 'x', enumerable: true })

  it.each<[string, unknown, string]>([
    ['no options', undefined, 'the options must be an object, not undefined'],
    ['null for options', null, 'the options must be an object, not null'],
    ['no type', {}, 'databaseType must be a non-empty string'],
    ['an empty type', { databaseType: '' }, 'databaseType must be a non-empty string'],
    ['a number for a type', { databaseType: 5 }, 'databaseType must be a non-empty string'],
    [
      'an unpaired surrogate',
      { databaseType: '\ud800' },
      'metadata.database_type: the text contains an unpaired',
    ],
    ['an IP version', { ipVersion: 5 }, 'ipVersion must be 4 or 6, not 5'],
    ['a text for an IP version', { ipVersion: '6' }, 'ipVersion must be 4 or 6, not a value of type string'],
    ['null for an IP version', { ipVersion: null }, 'ipVersion must be 4 or 6, not null'],
    ['a record size', { recordSize: 20 }, 'recordSize must be 24, 28 or 32, not 20'],
    ['null for a record size', { recordSize: null }, 'recordSize must be 24, 28 or 32, not null'],
    [
      'a text for languages',
      { languages: 'en' },
      'languages must be an array of strings, not a value of type str',
    ],
    ['null for languages', { languages: null }, 'languages must be an array of strings, not null'],
    [
      'a set of languages',
      { languages: new Set(['en']) },
      'languages must be an array of strings, not a value of',
    ],
    ['a number as a language', { languages: ['en', 5] }, 'languages[1] must be a string, not 5'],
    ['a hole in the languages', { languages: new Array(1) }, 'languages[0] must be a string, not undefined'],
    [
      'half of a pair in a language',
      { languages: ['\udc00'] },
      'metadata.languages[0]: the text contains an unpaired',
    ],
    [
      'null for a description',
      { description: null },
      'description must be a plain object of strings, not null',
    ],
    [
      'a text for a description',
      { description: 'x' },
      'description must be a plain object of strings, not a val',
    ],
    [
      'an array for a description',
      { description: ['x'] },
      'description must be a plain object of strings, not a',
    ],
    [
      'a Map for a description',
      { description: new Map() },
      'description must be a plain object of strings, not',
    ],
    ['a number in a description', { description: { en: 5 } }, 'description.en must be a string, not 5'],
    [
      'a __proto__ key',
      { description: prototypeKey },
      'metadata.description.__proto__: the key __proto__ is not',
    ],
    [
      'a text for a date',
      { buildDate: '2020-01-01' },
      'buildDate must be a Date, not a value of type string',
    ],
    ['a number for a date', { buildDate: 86_400_000 }, 'buildDate must be a Date, not 86400000'],
    ['null for a date', { buildDate: null }, 'buildDate must be a Date, not null'],
    ['an invalid date', { buildDate: new Date('x') }, 'buildDate must be a valid Date'],
    ['a text for aliases', { aliases: 'no' }, 'aliases must be true or false, not a value of type string'],
    ['null for aliases', { aliases: null }, 'aliases must be true or false, not null'],
  ])('refuse %s and name the option', (_, options, message) => {
    const needsType = typeof options === 'object' && options !== null && Object.keys(options).length > 0
    const given = needsType ? { databaseType: 'T', ...options } : options
    const make = (): unknown => Reflect.construct(MmdbWriter, [given])
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
  })

  it('refuse a date that libmaxminddb treats as missing', () => {
    const make = (instant: number) => new MmdbWriter({ databaseType: 'T', buildDate: new Date(instant) })
    expect(() => make(999)).toThrow(RangeError)
    expect(() => make(999)).toThrow('buildDate must be after 1970-01-01T00:00:00Z')
    expect(open(make(1000).toBytes()).metadata.buildEpoch).toEqual(new Date(1000))
  })

  it('may fill the 128 KiB in which readers search for metadata, and no more', () => {
    const withText = (length: number) =>
      new MmdbWriter({ databaseType: 'T', description: { en: 'x'.repeat(length) } })
    // This database's node count takes one byte; the check reserves the four bytes of the largest.
    const most = 128 * 1024 - 3
    const longest = 100_000 + most - metadataLength(withText(100_000).toBytes())
    expect(metadataLength(withText(longest).toBytes())).toBe(most)
    expect(new Database(withText(longest).toBytes()).metadata.description.en).toHaveLength(longest)
    expect(() => withText(longest + 1)).toThrow(RangeError)
    expect(() => withText(longest + 1)).toThrow(
      'description are too long: the metadata would have 131073 bytes',
    )
  })

  it('are copied, so that later changes have no effect', () => {
    const languages = ['en']
    const description = { en: 'Text' }
    const buildDate = new Date('2026-06-05T13:00:00Z')
    const writer = new MmdbWriter({ databaseType: 'T', languages, description, buildDate })
    const before = writer.toBytes()
    languages.push('de')
    description.en = 'Other'
    buildDate.setTime(5000)
    expect(writer.toBytes()).toEqual(before)
  })
})

function metadataLength(bytes: Uint8Array): number {
  return bytes.length - Buffer.from(bytes).lastIndexOf(Buffer.from('abcdef4d61784d696e642e636f6d', 'hex'))
}

describe('the limits of a record', () => {
  const insert = (record: WritableValue): MmdbWriter =>
    new MmdbWriter({ databaseType: 'T', ipVersion: 4 }).insert('8.0.0.0/8', record)
  const items = (length: number): number[] => Array.from({ length }, (_, i) => i)
  const pairs = (length: number) => new Map(items(length).map((i) => [`${i}`, i]))
  const twice = (value: WritableValue): WritableValue => [value, value]
  const nested = (levels: number): WritableValue =>
    items(levels).reduce<WritableValue>((inner) => twice(inner), 'leaf')
  const half = 'x'.repeat(8 * 1024 * 1024)

  // Each is the largest allowed record, and the reader accepts it.
  it.each<[string, WritableValue]>([
    ['65,536 values: a list and its items', items(65_535)],
    ['65,535 values: a map, its keys and what they lead to', pairs(32_767)],
    ['65,535 values that are 16: every level stands once and is used twice', nested(15)],
    ['16 MiB of text', 'x'.repeat(16 * 1024 * 1024)],
    ['16 MiB of text that is 8', twice(half)],
    ['16 MiB of bytes', new Uint8Array(16 * 1024 * 1024)],
    // A lookup skips fields that it does not need, including keys.
    ['65,535 values beside a country', { junk: pairs(32_764), country: { iso_code: 'GB' } }],
  ])('are kept by %s', async (_, record) => {
    const resolver = await Resolver.open(insert(record).toBytes())
    expect(resolver.raw('8.8.8.8')).not.toBeNull()
    if (record instanceof Object && 'country' in record) {
      expect(resolver.lookup('8.8.8.8').country?.code).toBe('GB')
    }
  })

  it.each<[string, WritableValue, string]>([
    ['65,537 values', items(65_536), 'record: a record may hold at most 65536 values'],
    ['65,537 values in a map', pairs(32_768), 'record: a record may hold at most 65536 values'],
    [
      '65,537 values in two lists',
      { a: items(32_000), b: items(33_532) },
      'record: a record may hold at most 65536 values',
    ],
    ['131,071 values that are 17', nested(16), 'record: a record may hold at most 65536 values'],
    ['more values than anyone could walk', nested(100), 'a record may hold at most 65536 values'],
    [
      'a list too long in a field',
      { a: { b: items(70_000) } },
      'record.a.b: a record may hold at most 65536 values',
    ],
    [
      '16 MiB of text and a byte',
      { a: 'x'.repeat(16 * 1024 * 1024 + 1) },
      'record.a: a record may hold at most 16777216 bytes',
    ],
    [
      '16 MiB of text and a key',
      { a: 'x'.repeat(16 * 1024 * 1024) },
      'record: a record may hold at most 16777216 bytes',
    ],
    [
      '16 MiB of text and one, of 8',
      [half, half, 'y'],
      'record: a record may hold at most 16777216 bytes of text',
    ],
    [
      'text of more bytes than characters',
      'é'.repeat(8 * 1024 * 1024 + 1),
      'record: a record may hold at most 16777216 bytes',
    ],
  ])('refuse %s', (_, record, message) => {
    expect(() => insert(record)).toThrow(RangeError)
    expect(() => insert(record)).toThrow(message)
  })

  it('refuse a large object that a list contains many times, without walking it each time', () => {
    let walked = 0
    const counted = Object.defineProperty({ a: items(1000) }, 'b', {
      enumerable: true,
      get: () => ++walked && 'x',
    })
    expect(() => insert(Array.from({ length: 60_000 }, () => counted))).toThrow(
      'a record may hold at most 65536 values',
    )
    expect(walked).toBeLessThan(100)
  })

  it('apply to each record separately', () => {
    const writer = insert(items(65_535))
    expect(() => writer.insert('11.0.0.0/8', items(65_535).reverse())).not.toThrow()
  })
})

// ---- properties, with mmdb-lib as the reader and a list of networks searched from its end as the model ----

type Inserted = { network: string; first: bigint; prefixLength: number; record: WritableValue }

const text4 = (address: bigint): string =>
  [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.')
const text6 = (address: bigint): string =>
  Array.from({ length: 8 }, (_, i) => ((address >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':')

const covers = ({ first, prefixLength }: Inserted, address: bigint, bits: number): boolean =>
  (address ^ first) >> BigInt(bits - prefixLength) === 0n

const record: fc.Arbitrary<WritableValue> = fc.letrec<{ value: WritableValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.string({ unit: 'grapheme' }),
    fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Number.isInteger(value)),
    fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.string().filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).value

/** Networks that share long prefixes, so that they overlap and split one another. */
const inserted = (bits: 32 | 128): fc.Arbitrary<Inserted> =>
  fc
    .record({
      base: fc.constantFrom(0n, 0x20n << BigInt(bits - 8), (1n << BigInt(bits)) - 1n),
      flip: fc.bigInt({ min: 0n, max: 0xffffn }),
      at: fc.nat({ max: bits - 16 }),
      prefixLength: fc.nat({ max: bits }),
      record,
    })
    .map(({ base, flip, at, prefixLength, record }) => {
      const hostBits = BigInt(bits - prefixLength)
      const first = ((base ^ (flip << BigInt(at))) >> hostBits) << hostBits
      const network = `${bits === 32 ? text4(first) : text6(first)}/${prefixLength}`
      return { network, first, prefixLength, record }
    })

describe.each<RecordSize>([24, 28, 32])('a database of record size %i', (recordSize) => {
  it.each([4, 6] as const)('finds for IPv%i the last network that covers an address', (ipVersion) => {
    const bits = ipVersion === 4 ? 32 : 128
    const text = ipVersion === 4 ? text4 : text6
    fc.assert(
      fc.property(fc.array(inserted(bits), { maxLength: 30 }), (networks) => {
        const options = { ipVersion, recordSize, aliases: false }
        const reader = open(
          written(
            networks.map(({ network, record }) => [network, record] as const),
            options,
          ),
        )
        expect(reader.metadata.recordSize).toBe(recordSize)
        for (const { first, prefixLength } of networks) {
          const last = first | ((1n << BigInt(bits - prefixLength)) - 1n)
          for (const address of [first, last, first - 1n, last + 1n]) {
            if (address < 0n || address >> BigInt(bits) !== 0n) continue
            const expected =
              networks.findLast((candidate) => covers(candidate, address, bits))?.record ?? null
            expect(reader.get(text(address))).toEqual(expected)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('finds IPv4 in an IPv6 database as in an IPv4 database', () => {
    fc.assert(
      fc.property(fc.array(inserted(32), { maxLength: 20 }), (networks) => {
        const pairs = networks.map(({ network, record }) => [network, record] as const)
        const four = open(written(pairs, { ipVersion: 4, recordSize }))
        const six = open(written(pairs, { recordSize }))
        for (const { first } of networks) {
          expect(six.get(text4(first))).toEqual(four.get(text4(first)))
          expect(six.get(`::ffff:${text4(first)}`)).toEqual(four.get(text4(first)))
        }
      }),
      { numRuns: 30 },
    )
  })
})
