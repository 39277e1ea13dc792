import { Reader, type Response } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../../src/core.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { MmdbWriter, type MmdbWriterOptions, type WritableValue } from '../../../src/writer.ts'

const open = (bytes: Uint8Array): Reader<Response> => new Reader<Response>(Buffer.from(bytes))

/** A database of these networks, inserted in their order. */
function written(networks: Record<string, WritableValue>, options: Partial<MmdbWriterOptions> = {}) {
  const writer = new MmdbWriter({ databaseType: 'Test', ...options })
  for (const [network, record] of Object.entries(networks)) writer.insert(network, record)
  return writer.toBytes()
}

describe('MmdbWriter', () => {
  it('writes the metadata', () => {
    const bytes = written(
      { '81.2.69.0/24': { a: 1 } },
      {
        databaseType: 'My-Type',
        languages: ['en', 'pt-BR'],
        description: { en: 'Text', de: 'Text' },
        buildDate: new Date('2026-06-05T13:00:00.900Z'),
      },
    )
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
    const bytes = written({}, { databaseType: text, description: { en: text, de: text } })
    expect(Buffer.from(bytes).toString('latin1').split(text)).toHaveLength(4)
  })

  it('does not read the clock: the default build date is 2000-01-01', () => {
    const buildEpoch = new Date('2000-01-01T00:00:00Z')
    expect(open(written({})).metadata).toMatchObject({ buildEpoch, languages: [], description: {} })
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

  it('links ::ffff:0:0/96 to IPv4 unless aliases are off', () => {
    expect(open(written({ '1.2.3.0/24': 4 })).get('::ffff:1.2.3.4')).toBe(4)
    expect(open(written({ '1.2.3.0/24': 4 }, { aliases: false })).get('::ffff:1.2.3.4')).toBeNull()
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
      written({ [around]: 'around', [each]: 'one' }, { ipVersion })
    expect(inserted(text)).toEqual(inserted(network))
    const writer = new MmdbWriter({ databaseType: 'Test', ipVersion }).insert(network, 1)
    expect(writer.remove(text).toBytes()).toEqual(
      new MmdbWriter({ databaseType: 'Test', ipVersion }).toBytes(),
    )
  })

  it('accepts 0.0.0.0/0 and ::/0', () => {
    expect(open(written({ '0.0.0.0/0': 4 }, { ipVersion: 4 })).get('200.1.2.3')).toBe(4)
    const both = open(written({ '::/0': 6, '0.0.0.0/0': 4 }))
    expect([both.get('200.1.2.3'), both.get('::ffff:200.1.2.3'), both.get('2001:db8::')]).toEqual([4, 4, 6])
  })

  it('merges adjacent equal networks and shares identical subtrees', () => {
    const halves = written({ '10.0.0.0/9': { a: 1 }, '10.128.0.0/9': { a: 1 } })
    expect(halves).toEqual(written({ '10.0.0.0/8': { a: 1 } }))
    expect(open(halves).getWithPrefixLength('10.1.2.3')[1]).toBe(8)
    const networks = Object.fromEntries(Array.from({ length: 256 }, (_, i) => [`${i}.7.7.0/24`, 'same']))
    expect(open(written(networks, { ipVersion: 4 })).metadata.nodeCount).toBe(24)
  })

  it('chooses the smallest record size that fits', () => {
    const large = new Uint8Array(2 ** 24)
    expect(open(written({ '1.0.0.0/8': large })).metadata.recordSize).toBe(24)
    const reader = open(written({ '1.0.0.0/8': large, '2.0.0.0/8': 'after it' }))
    expect(reader.metadata.recordSize).toBe(28)
    expect(reader.get('2.0.0.1')).toBe('after it')
  })
})

describe('what MmdbWriter refuses', () => {
  const cycle: { self?: object } = {}
  cycle.self = cycle
  const deep = Array.from({ length: 600 }).reduce<WritableValue>((inner) => [inner], [])
  const own = (key: string): object => Object.defineProperty({}, key, { value: 1, enumerable: true })

  const insert = (record: unknown): unknown => {
    const writer = new MmdbWriter({ databaseType: 'Test' })
    return Reflect.apply(writer.insert, writer, ['10.0.0.0/8', record])
  }

  it.each<[record: unknown, message: string]>([
    [{ city: { name: undefined } }, 'record.city.name: undefined cannot be written'],
    [{ city: null }, 'record.city: null cannot be written'],
    [{ a: [1, () => 1] }, 'record.a[1]: a value of type function cannot be written'],
    [Symbol('x'), 'record: a value of type symbol cannot be written'],
    [new Array(2), 'record[0]: undefined cannot be written'],
    [{ at: new Date(0) }, 'record.at: a value of class Date is not a plain object'],
    [new Set([1]), 'record: a value of class Set is not a plain object'],
    [
      Object.create(Object.create(Object.create(null))),
      'record: a value of class (none) is not a plain object',
    ],
    [cycle, 'record.self: the value contains itself'],
    [{ a: own('__proto__') }, 'record.a.__proto__: the key __proto__ is not allowed'],
    [new Map([[1, 2]]), 'record: a key of the map is a value of type number'],
    [{ a: '\ud800' }, 'record.a: the text contains an unpaired surrogate'],
    [{ '\udc00': 1 }, 'the text contains an unpaired surrogate'],
  ])('a value of a wrong type: %2$s', (record, message) => {
    expect(() => insert(record)).toThrow(TypeError)
    expect(() => insert(record)).toThrow(message)
  })

  it.each<[record: unknown, message: string]>([
    [{ location: { latitude: Number.NaN } }, 'record.location.latitude: NaN is not a finite number'],
    [[Number.POSITIVE_INFINITY], 'record[0]: Infinity is not a finite number'],
    [{ a: -2_147_483_649 }, 'record.a: -2147483649 is below the range of int32'],
    [{ a: 2 ** 53 }, 'record.a: 9007199254740992 is not an exact integer'],
    [{ a: -1n }, 'record.a: -1 is negative'],
    [{ a: 2n ** 128n }, 'does not fit in 128 bits'],
    [deep, 'maps and arrays are nested deeper than 128 levels'],
  ])('a value out of range: %2$s', (record, message) => {
    expect(() => insert(record)).toThrow(RangeError)
    expect(() => insert(record)).toThrow(message)
  })

  it.each([
    ['a part of an address', '10.0.0'],
    ['bits after the prefix', '10.0.0.1/8'],
    ['nothing', ''],
  ])('a network: %s', (_, network) => {
    expect(() => new MmdbWriter({ databaseType: 'Test' }).insert(network, 1)).toThrow(TypeError)
    expect(() => new MmdbWriter({ databaseType: 'Test' }).remove(network)).toThrow(TypeError)
  })
})

describe('the options of MmdbWriter', () => {
  const prototypeKey = Object.defineProperty({}, '__proto__', { value: 'x', enumerable: true })

  it.each<[options: unknown, message: string]>([
    [undefined, 'the options must be an object, not undefined'],
    [null, 'the options must be an object, not null'],
    [{}, 'databaseType must be a non-empty string'],
    [{ databaseType: '' }, 'databaseType must be a non-empty string'],
    [{ databaseType: 5 }, 'databaseType must be a non-empty string'],
    [{ databaseType: '\ud800' }, 'metadata.database_type: the text contains an unpaired'],
    [{ ipVersion: 5 }, 'ipVersion must be 4 or 6, not 5'],
    [{ ipVersion: '6' }, 'ipVersion must be 4 or 6, not a value of type string'],
    [{ ipVersion: null }, 'ipVersion must be 4 or 6, not null'],
    [{ recordSize: 20 }, 'recordSize must be 24, 28 or 32, not 20'],
    [{ recordSize: null }, 'recordSize must be 24, 28 or 32, not null'],
    [{ languages: 'en' }, 'languages must be an array of strings, not a value of type str'],
    [{ languages: null }, 'languages must be an array of strings, not null'],
    [{ languages: new Set(['en']) }, 'languages must be an array of strings, not a value of'],
    [{ languages: ['en', 5] }, 'languages[1] must be a string, not 5'],
    [{ languages: new Array(1) }, 'languages[0] must be a string, not undefined'],
    [{ languages: ['\udc00'] }, 'metadata.languages[0]: the text contains an unpaired'],
    [{ description: null }, 'description must be a plain object of strings, not null'],
    [{ description: 'x' }, 'description must be a plain object of strings, not a val'],
    [{ description: ['x'] }, 'description must be a plain object of strings, not a'],
    [{ description: new Map() }, 'description must be a plain object of strings, not'],
    [{ description: { en: 5 } }, 'description.en must be a string, not 5'],
    [{ description: prototypeKey }, 'metadata.description.__proto__: the key __proto__ is not'],
    [{ buildDate: '2020-01-01' }, 'buildDate must be a Date, not a value of type string'],
    [{ buildDate: 86_400_000 }, 'buildDate must be a Date, not 86400000'],
    [{ buildDate: null }, 'buildDate must be a Date, not null'],
    [{ buildDate: new Date('x') }, 'buildDate must be a valid Date'],
    [{ aliases: 'no' }, 'aliases must be true or false, not a value of type string'],
    [{ aliases: null }, 'aliases must be true or false, not null'],
  ])('are refused: %2$s', (options, message) => {
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

  const VALUES = 'a record may hold at most 65536 values'
  const BYTES = 'record: a record may hold at most 16777216 bytes'
  const most = 'x'.repeat(16 * 1024 * 1024)
  it.each<[string, WritableValue, string]>([
    ['65,537 values', items(65_536), `record: ${VALUES}`],
    ['65,537 values in a map', pairs(32_768), `record: ${VALUES}`],
    ['65,537 values in two lists', { a: items(32_000), b: items(33_532) }, `record: ${VALUES}`],
    ['131,071 values that are 17', nested(16), `record: ${VALUES}`],
    ['more values than anyone could walk', nested(100), VALUES],
    ['a list in a field', { a: { b: items(70_000) } }, `record.a.b: ${VALUES}`],
    ['16 MiB of text and a byte', { a: `${most}x` }, BYTES.replace(':', '.a:')],
    ['16 MiB and a key', { a: most }, BYTES],
    ['16 MiB in three texts', [half, half, 'y'], `${BYTES} of text`],
    ['text of more bytes than characters', `${'é'.repeat(8 * 1024 * 1024)}é`, BYTES],
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
    expect(() => insert(Array.from({ length: 60_000 }, () => counted))).toThrow(VALUES)
    expect(walked).toBeLessThan(100)
  })

  it('apply to each record separately', () => {
    const writer = insert(items(65_535))
    expect(() => writer.insert('11.0.0.0/8', items(65_535).reverse())).not.toThrow()
  })
})
