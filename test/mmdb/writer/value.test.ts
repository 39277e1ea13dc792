import { describe, expect, it } from 'vitest'
import { ByteSink } from '../../../src/bytes/byte-sink.ts'
import { DataSectionEncoder } from '../../../src/mmdb/writer/database-encoder.ts'
import {
  double,
  float,
  int32,
  pointerLength,
  uint16,
  uint32,
  uint64,
  uint128,
  type WritableValue,
  writePointer,
} from '../../../src/mmdb/writer/value.ts'
import { ValueTable } from '../../../src/mmdb/writer/value-table.ts'

describe('typed numbers', () => {
  it.each([
    [float, 'a finite number below 3.41e38', [0, -1.5, 3.4028234663852886e38], [3.5e38, -3.5e38, Number.NaN]],
    [double, 'a finite number', [0, -0.1, Number.MAX_VALUE], [Number.NaN, Number.POSITIVE_INFINITY]],
    [
      int32,
      'an integer from -2147483648 to 2147483647',
      [-(2 ** 31), 0, 2 ** 31 - 1],
      [-(2 ** 31) - 1, 2 ** 31, 0.5],
    ],
    [uint16, 'an integer from 0 to 65535', [0, 65_535], [-1, 65_536, 1.5, Number.NaN]],
    [uint32, 'an integer from 0 to 4294967295', [0, 2 ** 32 - 1], [-1, 2 ** 32, 0.25]],
  ] as const)('%o accepts %s only', (make, range, fitting, others) => {
    for (const value of fitting) expect(make(value)).toMatchObject({ type: make.name, value })
    for (const value of others) {
      const message = `${make.name}(${value}) is out of range: it must be ${range}`
      expect(() => make(value)).toThrow(new RangeError(message))
    }
  })

  it.each([
    ['uint64', uint64, 64n],
    ['uint128', uint128, 128n],
  ] as const)('%s accepts safe integers and bigints, and stores bigints', (type, make, bits) => {
    const most = (1n << bits) - 1n
    expect(make(0)).toMatchObject({ type, value: 0n })
    expect(make(Number.MAX_SAFE_INTEGER)).toMatchObject({ type, value: 2n ** 53n - 1n })
    expect(make(most)).toMatchObject({ type, value: most })
    for (const value of [-1, -1n, most + 1n, 2 ** 53, 0.5, Number.NaN]) {
      expect(() => make(value)).toThrow(RangeError)
      expect(() => make(value)).toThrow(
        `${type}(${value}) is out of range: it must be an integer from 0 to 2^${bits} - 1 (a bigint above 2^53 - 1)`,
      )
    }
  })

  it('are rounded for float', () => {
    expect(float(51.4036).value).toBe(Math.fround(51.4036))
    expect(float(51.4036).value).not.toBe(51.4036)
  })
})

function encode(value: WritableValue): Uint8Array {
  const values = new ValueTable()
  const section = new DataSectionEncoder(values)
  section.offsetOf(values.add(value))
  return section.bytes
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('the encoding', () => {
  // Bytes derived by hand from "Data Field Format" of the specification; the first four are its examples.
  it.each<[string, WritableValue, string]>([
    ['a string of 2 bytes', 'hi', '42 6869'],
    ['a string of 28 bytes', 'x'.repeat(28), `5c ${'78'.repeat(28)}`],
    ['a uint32 of one byte', uint32(9), 'c1 09'],
    ['a uint128 of 3 bytes: size, then extended type', uint128(0x010203n), '03 03 010203'],
    ['the empty string', '', '40'],
    ['text is UTF-8, and its size is in bytes', 'Zürich', '47 5ac3bc72696368'],
    ['zero has no payload', 0, 'a0'],
    ['a small integer is a uint16', 255, 'a1 ff'],
    ['the largest uint16', 65_535, 'a2 ffff'],
    ['the smallest number that needs uint32', 65_536, 'c3 010000'],
    ['the largest uint32', 4_294_967_295, 'c4 ffffffff'],
    ['the smallest number that needs uint64', 4_294_967_296, '05 02 0100000000'],
    ['the largest safe integer', Number.MAX_SAFE_INTEGER, '07 02 1fffffffffffff'],
    ['minus one is an int32 of all four bytes', -1, '04 01 ffffffff'],
    ['the smallest int32', -2_147_483_648, '04 01 80000000'],
    ['a positive int32 may be short', int32(1), '01 01 01'],
    ['a number with a fraction is a double', 42.123456, '68 40450fcd67fd3f5b'],
    ['double keeps an integer a double', double(1), '68 3ff0000000000000'],
    ['a float', float(1.5), '04 08 3fc00000'],
    ['a typed number of a smaller value', uint16(1), 'a1 01'],
    ['a uint64 from a number', uint64(1), '01 02 01'],
    ['zero as a bigint', 0n, '00 02'],
    ['a bigint is a uint64', 1n, '01 02 01'],
    ['the largest uint64', 2n ** 64n - 1n, '08 02 ffffffffffffffff'],
    ['a bigint from 2^64 on is a uint128', 2n ** 64n, '09 03 010000000000000000'],
    ['the largest uint128', 2n ** 128n - 1n, `10 03 ${'ff'.repeat(16)}`],
    ['false', false, '00 07'],
    ['true', true, '01 07'],
    ['bytes', Uint8Array.of(0, 255), '82 00ff'],
    ['an empty array', [], '00 04'],
    ['an array', [1, 'a'], '02 04 a101 4161'],
    ['an empty map', {}, 'e0'],
    ['a map keeps the order of its keys', { b: 1, a: 2 }, 'e2 4162 a101 4161 a102'],
    ['a Map is a map', new Map([['a', 1]]), 'e1 4161 a101'],
    ['an object without a prototype is a map', Object.assign(Object.create(null), { a: 1 }), 'e1 4161 a101'],
  ])('%s', (_, value, expected) => {
    expect(hex(encode(value))).toBe(expected.replaceAll(' ', ''))
  })

  // "Payload Size": sizes from 29, 285 and 65,821 need one, two and three extra bytes.
  it.each([
    [28, '5c'],
    [29, '5d00'],
    [284, '5dff'],
    [285, '5e0000'],
    [65_820, '5effff'],
    [65_821, '5f000000'],
    [65_822, '5f000001'],
  ])('a string of %i bytes', (length, control) => {
    const bytes = encode('x'.repeat(length))
    expect(hex(bytes.subarray(0, control.length / 2))).toBe(control)
    expect(bytes.length).toBe(control.length / 2 + length)
  })

  it('writes the size of a long array after its extended type', () => {
    const bytes = encode(Array.from({ length: 300 }, () => true))
    expect(hex(bytes.subarray(0, 4))).toBe('1e04000f')
  })

  it('writes a map key once', () => {
    const bytes = encode([{ country: 1 }, { country: 2 }])
    expect(hex(bytes)).toBe(`0204e147${hex(Buffer.from('country'))}a101e12003a102`)
  })

  it('makes maps from ids, within the same limits', () => {
    const values = new ValueTable()
    const half = values.add(Array.from({ length: 32_766 }, (_, i) => i))
    // The map, two keys, and two lists of 32,766 values each.
    expect(values.entry(values.addMap(Object.entries({ a: half })))).toMatchObject({
      parts: [expect.any(Number), half],
    })
    expect(() => values.addMap(Object.entries({ a: half, b: half }))).toThrow(
      new RangeError('record: a record may hold at most 65536 values, including keys'),
    )
  })
})

describe('a pointer', () => {
  // Both sides of each size's limit: 2^11, 2^11 + 2^19, 2^11 + 2^19 + 2^27. Bytes by hand from the specification.
  it.each([
    [0, '2000'],
    [2047, '27ff'],
    [2048, '280000'],
    [526_335, '2fffff'],
    [526_336, '30000000'],
    [134_744_063, '37ffffff'],
    [134_744_064, '3808080800'],
    [4_294_967_295, '38ffffffff'],
  ])('to offset %i', (offset, expected) => {
    const buffer = new ByteSink()
    writePointer(buffer, offset)
    expect(Buffer.from(buffer.bytes).toString('hex')).toBe(expected)
    expect(pointerLength(offset)).toBe(expected.length / 2)
  })
})
