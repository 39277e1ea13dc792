import { describe, expect, it } from 'vitest'
import { DataSection } from '../../src/mmdb/data-section.ts'
import { decodeRecord, type MmdbValue, RecordCheck } from '../../src/mmdb/record-decoder.ts'
import { invalid } from '../invalid.ts'
import { processorMs } from '../processor-time.ts'
import { bytesOf, encode } from './hand-made.ts'
import { control } from './hostile/encoding.ts'

function recordAt(bytes: Uint8Array, offset = 0): MmdbValue {
  return decodeRecord(new DataSection(bytes, 0, bytes.length), offset)
}

describe('decodeRecord', () => {
  it('returns copies, not the memory of the database', () => {
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
})

function check(bytes: Uint8Array, offset = 0): void {
  new RecordCheck(new DataSection(bytes, 0, bytes.length, '/x.mmdb'), offset).run()
}

/** A pointer of 32 bits. */
const pointer = (offset: number): string => `38${offset.toString(16).padStart(8, '0')}`

/** The start of an array or map of any size. */
const large = (type: 'array' | 'map', size: number): string =>
  control(type === 'map' ? 7 : 11, size).toString('hex')

/** A text of a given size. */
const text = (bytes: number): string => Buffer.from(encode('x'.repeat(bytes))).toString('hex')

describe('RecordCheck', () => {
  it.each(
    Object.entries({
      'an empty map': 'e0',
      'a value of each type': `0c 04 40 68${'00'.repeat(8)} 80 a0 c0 e0 0001 0002 0003 0004 0007 0408${'00'.repeat(4)}`,
      'pointers to values before and after': `04 04 ${pointer(7)} ${'40'.repeat(3)}`,
      '128 levels': `${'0104'.repeat(128)}40`,
      'a key of 1,024 bytes': `e1${text(1024)}40`,
      '16 MiB of text': text(2 ** 24),
      '16 MiB of text, and booleans': `0304${text(2 ** 24)}01070107`,
      '65,536 values': `${large('array', 65_535)}${'40'.repeat(65_535)}`,
      'the same long text many times, within the budget':
        `0f04${pointer(77)}`.padEnd(154, pointer(77)) + text(1_000_000),
    }),
  )('accepts %s', (_, hex) => {
    check(bytesOf(hex))
  })

  it.each([
    ['129 levels', `${'0104'.repeat(129)}40`, 'nested deeper than 128 levels'],
    ['maps of 129 levels', `${'e14161'.repeat(129)}40`, 'nested deeper than 128 levels'],
    ['an array that holds itself', `0104${pointer(0)}`, 'nested deeper than 128 levels'],
    ['a map that contains itself', `e14161${pointer(0)}`, 'nested deeper than 128 levels'],
    ['two that hold each other', `0104${pointer(7)}0104${pointer(0)}`, 'nested deeper than 128 levels'],
    ['16 MiB of text and a byte', `0204${text(2 ** 24)}4178`, 'more than 16777216 bytes of text'],
    ['65,537 values', `${large('array', 65_536)}${'40'.repeat(65_536)}`, 'more than 65536 values'],
    ['a tree of itself', `0204${pointer(0)}${pointer(0)}`, 'nested deeper than 128 levels'],
    [
      // 30 arrays, each of two pointers to the next: 2^30 values in 360 bytes
      'a fan of pointers',
      Array.from({ length: 30 }, (__, i) => `0204${pointer((i + 1) * 12)}${pointer((i + 1) * 12)}`).join('') +
        '40',
      'more than 65536 values',
    ],
    [
      'a text of 1 MB 20 times',
      `1404${pointer(102).repeat(20)}${text(1_000_000)}`,
      'more than 16777216 bytes of text',
    ],
    [
      // Each pair has six bytes, and its value is a map, which has no content of its own.
      'a key of 1,024 bytes 20,000 times',
      `${large('map', 20_000)}${`${pointer(120_003)}e0`.repeat(20_000)}${text(1024)}`,
      'more than 16777216 bytes of text',
    ],
    ['a key of 1,025 bytes', `e1${text(1025)}40`, 'the key of a map is longer than 1024 bytes'],
    ['a key of 1 MB', `e1${text(1_000_000)}40`, 'the key of a map is longer than 1024 bytes'],
    ['the key "__proto__"', `e149${Buffer.from('__proto__').toString('hex')}40`, 'the key "__proto__"'],
    [
      'the key "__proto__" reached by a pointer',
      `e1${pointer(7)}4049${Buffer.from('__proto__').toString('hex')}`,
      'the key "__proto__"',
    ],
    [
      'the key "__proto__" further down',
      `0104e14161e149${Buffer.from('__proto__').toString('hex')}40`,
      '__proto__',
    ],
    ['a key that is a number', 'e1a10140', 'the key of a map is not text'],
    ['a key that is a map', 'e1e040', 'the key of a map is not text'],
    ['a key that points to a number', `e1${pointer(7)}40a101`, 'the key of a map is not text'],
    ['a pointer to a pointer', `0104${pointer(7)}${pointer(12)}40`, 'a pointer leads to another pointer'],
    ['a pointer outside', `0104${pointer(7)}`, 'is outside its section'],
    ['a pair without a value', 'e14161', 'is outside its section'],
    ['an element missing', '0204e0e14161', 'is outside its section'],
    ['an unknown type', '01040009', 'the unknown type 16'],
  ])('refuses %s', (_, hex, message) => {
    const bytes = bytesOf(hex)
    const taken = processorMs(() => {
      expect(() => check(bytes)).toThrow(invalid(message, '/x.mmdb'))
    })
    expect(taken).toBeLessThan(20_000)
  })

  it('resets its limits for every record', () => {
    const values = bytesOf(`0a04${pointer(52).repeat(10)}${text(1_500_000)}`)
    const keys = bytesOf(`${large('map', 16_000)}${`${pointer(96_003)}e0`.repeat(16_000)}${text(1000)}`)
    for (const bytes of [values, keys]) {
      const data = new DataSection(bytes, 0, bytes.length)
      for (let i = 0; i < 3; i++) new RecordCheck(data, 0).run()
    }
  })
})
