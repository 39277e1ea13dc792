import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { DataSection } from '../../src/mmdb/data-section.ts'
import { type MmdbValue, WholeRecords } from '../../src/mmdb/whole-record.ts'
import { bytesOf, encode, type HandMade } from './hand-made.ts'

function recordAt(bytes: Uint8Array, offset = 0): MmdbValue {
  return new WholeRecords(bytes, new DataSection(bytes, 0, bytes.length)).at(offset)
}

describe('WholeRecords', () => {
  it.each<[string, HandMade, MmdbValue]>([
    ['text', 'Zürich', 'Zürich'],
    ['an empty text', '', ''],
    ['a byte order mark, which is content', '\ufeffa', '\ufeffa'],
    ['a double', { hex: '68 40450fcd67fd3f5b' }, 42.123456],
    ['a float', { hex: '04 08 3fc00000' }, 1.5],
    ['uint16', { hex: 'a2 ffff' }, 65_535],
    ['uint32', { hex: 'c4 ffffffff' }, 4_294_967_295],
    ['int32 below zero', { hex: '04 01 80000000' }, -2_147_483_648],
    ['int32 of one byte', { hex: '01 01 ff' }, 255],
    ['uint64 as bigint, small ones too', { hex: '01 02 07' }, 7n],
    ['the largest uint64', { hex: `08 02 ${'ff'.repeat(8)}` }, 2n ** 64n - 1n],
    ['the largest uint128', { hex: `10 03 ${'ff'.repeat(16)}` }, 2n ** 128n - 1n],
    [
      'zero of each kind',
      [{ hex: 'a0' }, { hex: 'c0' }, { hex: '00 01' }, { hex: '00 02' }, { hex: '00 03' }],
      [0, 0, 0, 0n, 0n],
    ],
    ['booleans', [false, true], [false, true]],
    ['bytes', { hex: '82 00ff' }, Uint8Array.of(0, 255)],
    ['an array', ['a', [], ['b']], ['a', [], ['b']]],
    [
      'a map',
      new Map<string, HandMade>([
        ['a', 1],
        ['b', new Map([['c', 'd']])],
      ]),
      { a: 1, b: { c: 'd' } },
    ],
    ['an empty map', new Map(), {}],
    ['the last of two equal keys', { hex: 'e2 4161 a101 4161 a102' }, { a: 2 }],
    [
      'keys that objects have already',
      new Map([
        ['constructor', 1],
        ['toString', 2],
      ]),
      { constructor: 1, toString: 2 },
    ],
    ['a pointer to a value', { hex: 'e1 4161 2005 a107' }, { a: 7 }],
    ['a pointer of four bytes', { hex: 'e1 4161 38 00000008 a107' }, { a: 7 }],
    ['a pointer to a key', { hex: 'e2 4161 a101 2001 a102' }, { a: 2 }],
  ])('decodes %s', (_, value, expected) => {
    const record = recordAt(encode(value))
    expect(record).toEqual(expected)
  })

  it('gives copies, never the database itself', () => {
    const bytes = bytesOf('83 010203')
    const record = recordAt(bytes)
    if (!(record instanceof Uint8Array)) throw new Error('not bytes')
    expect(record.constructor).toBe(Uint8Array)
    expect(record.buffer).not.toBe(bytes.buffer)
    record.fill(9)
    expect([...bytes]).toEqual([0x83, 1, 2, 3])
  })

  it('reads a view with an offset, a Buffer, and shared memory', () => {
    const file = encode(['Zürich', { hex: '82 00ff' }, { hex: '68 40450fcd67fd3f5b' }, 70_000, 5n])
    const expected = ['Zürich', Uint8Array.of(0, 255), 42.123456, 70_000, 5n]
    const larger = new Uint8Array(file.length + 10).fill(0xff)
    larger.set(file, 7)
    expect(recordAt(larger.subarray(7, 7 + file.length))).toEqual(expected)
    expect(recordAt(Buffer.from(file))).toEqual(expected)
    const shared = new Uint8Array(new SharedArrayBuffer(file.length))
    shared.set(file)
    expect(recordAt(shared)).toEqual(expected)
  })

  it.each([
    ['an extended type of 0', '00 00'], // mmdb-lib throws a plain error for it
    ['a type that mmdb-lib does not know', '00 05'],
    ['a key that is no text', 'e1 a101 a101'],
    ['a field outside', 'e1 4161 2fff ff'],
  ])('throws InvalidDatabaseError for %s', (_, hex) => {
    expect(() => recordAt(bytesOf(hex))).toThrow(InvalidDatabaseError)
  })
})
