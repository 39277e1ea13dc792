import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { DataSection } from '../../src/mmdb/data-section.ts'
import { DataType, MAX_CONTENT_BYTES, MAX_VALUES } from '../../src/mmdb/format.ts'
import { invalid } from '../invalid.ts'
import { tableOf } from '../table-of.ts'
import { bytesOf } from './hand-made.ts'

/** A section from byte 4 of a file to two bytes before its end, to reveal wrong offsets. */
function section(hex: string): DataSection {
  const bytes = Buffer.concat([Buffer.alloc(4, 0xe1), bytesOf(hex), Buffer.alloc(2, 0xe1)])
  return new DataSection(bytes, 4, bytes.length - 2, '/x.mmdb')
}

function opened(hex: string, offset = 0): DataSection {
  const data = section(hex)
  data.open(4 + offset)
  return data
}

describe('DataSection.open', () => {
  it.each([
    // field, type, size, payload at, next field at
    ['42 6869', DataType.utf8String, 2, 1, 3],
    ['40', DataType.utf8String, 0, 1, 1],
    [`5c ${'78'.repeat(28)}`, DataType.utf8String, 28, 1, 29],
    [`5d00 ${'78'.repeat(29)}`, DataType.utf8String, 29, 2, 31],
    [`5dff ${'78'.repeat(284)}`, DataType.utf8String, 284, 2, 286],
    [`5e0000 ${'78'.repeat(285)}`, DataType.utf8String, 285, 3, 288],
    [`5effff ${'78'.repeat(65_820)}`, DataType.utf8String, 65_820, 3, 65_823],
    [`5f000000 ${'78'.repeat(65_821)}`, DataType.utf8String, 65_821, 4, 65_825],
    [`5f000001 ${'78'.repeat(65_822)}`, DataType.utf8String, 65_822, 4, 65_826],
    ['68 40450fcd67fd3f5b', DataType.double, 8, 1, 9],
    ['82 00ff', DataType.bytes, 2, 1, 3],
    ['a0', DataType.uint16, 0, 1, 1],
    ['a2 ffff', DataType.uint16, 2, 1, 3],
    ['c4 ffffffff', DataType.uint32, 4, 1, 5],
    ['e1 4161 40', DataType.map, 1, 1, 1], // for a map, its content is next
    ['e0', DataType.map, 0, 1, 1],
    ['04 01 ffffffff', DataType.int32, 4, 2, 6],
    ['08 02 ffffffffffffffff', DataType.uint64, 8, 2, 10],
    [`10 03 ${'ff'.repeat(16)}`, DataType.uint128, 16, 2, 18],
    ['02 04 a0 a0', DataType.array, 2, 2, 2],
    ['00 07', DataType.boolean, 0, 2, 2],
    ['01 07', DataType.boolean, 1, 2, 2], // its size is its value
    ['04 08 3fc00000', DataType.float, 4, 2, 6],
  ])('row %#', (hex, type, size, start, after) => {
    const data = opened(hex)
    expect([data.type, data.size, data.start - 4, data.next - 4, data.viaPointer]).toEqual([
      type,
      size,
      start,
      after,
      false,
    ])
  })

  it.each([
    // "Pointer" of the specification: 11, 19, 27 and 32 bits, starting at 0, 2048, 526,336 and 0.
    ['2000', 0, 2],
    ['27ff', 2047, 2],
    ['280000', 2048, 3],
    ['2fffff', 526_335, 3],
    ['30000000', 526_336, 4],
    ['3800000000', 0, 5],
    ['3f00000003', 3, 5], // in the largest size the three bits are ignored
    ['38000f4240', 1_000_000, 5],
  ])('pointer %s leads to %i', (hex, target, length) => {
    const bytes = new Uint8Array(4 + 1_000_020)
    bytes.set(bytesOf('c1 07'), 4 + target)
    const at = bytes.length - 8
    bytes.set(bytesOf(hex), at)
    const data = new DataSection(bytes, 4, bytes.length)
    data.open(at)
    expect([data.type, data.number(), data.start, data.next, data.viaPointer]).toEqual([
      DataType.uint32,
      7,
      4 + target + 1,
      at + length,
      true,
    ])
  })

  it.each([
    ...tableOf(import.meta.dirname, 'faults.tsv'),
    [`11 03 ${'00'.repeat(17)}`, 'a field of type 10 has 17 bytes'],
  ])('refuses %j', (hex, message) => {
    const fault = expect.stringMatching(/ \(at byte \d+\); the file is damaged: download it again$/)
    expect(() => opened(hex)).toThrow(invalid(message, '/x.mmdb'))
    expect(() => opened(hex)).toThrow(expect.objectContaining({ message: fault }))
  })

  it.each([3, -1, 4 + 3, 1e10, 2 ** 32])('refuses an offset outside its section: %i', (offset) => {
    expect(() => section('42 6869').open(offset)).toThrow(`a field is outside its section`)
  })

  it('has the offset of the fault in the file', () => {
    expect(() => opened('a0 a0 64 00000000', 2)).toThrow(
      expect.objectContaining({ offset: 6, path: '/x.mmdb' }),
    )
  })
})

describe('DataSection.text', () => {
  it.each([
    ['40', ''],
    ['42 6869', 'hi'],
    ['47 5ac3bc72696368', 'Zürich'],
    [`4c ${Buffer.from('日本国').toString('hex')} 616263`, '日本国abc'],
    [`58 ${'78'.repeat(24)}`, 'x'.repeat(24)], // the longest that is read by character
    [`59 ${'78'.repeat(25)}`, 'x'.repeat(25)],
    [`58 ${'78'.repeat(23)}80`, `${'x'.repeat(23)}\ufffd`],
    ['43 efbbbf', '\ufeff'], // a byte order mark is content
    ['42 ff41', '\ufffdA'], // not UTF-8
    ['41 00', '\0'],
    ['41 7f', '\x7f'],
  ])('%s', (hex, expected) => {
    expect(opened(hex).text()).toBe(expected)
  })

  it('reads shared memory', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(30))
    bytes.set(bytesOf(`47 5ac3bc72696368`))
    const data = new DataSection(bytes, 0, 30)
    data.open(0)
    expect(data.text()).toBe('Zürich')
  })

  it.each(['a0', 'e0', '68 0000000000000000', '81 41', '01 07', '00 04'])('is null for %s', (hex) => {
    expect(opened(hex).text()).toBeNull()
  })

  it('has a limit for each record, which beginRecord() resets', () => {
    const size = MAX_CONTENT_BYTES / 4
    const bytes = new Uint8Array(size + 4)
    bytes.set([0x5f, ...[16, 8, 0].map((shift) => ((size - 65_821) >> shift) & 255)])
    const data = new DataSection(bytes, 0, bytes.length)
    const read = (): number | undefined => {
      data.open(0)
      return data.text()?.length
    }
    for (let i = 0; i < 4; i++) expect(read()).toBe(size)
    expect(read).toThrow(`a record holds more than ${MAX_CONTENT_BYTES} bytes of text`)
    data.beginRecord()
    expect(read()).toBe(size)
  })
})

describe('DataSection.number', () => {
  it.each([
    ['68 40450fcd67fd3f5b', 42.123456],
    ['68 7ff0000000000000', Number.POSITIVE_INFINITY],
    ['68 7ff8000000000000', Number.NaN],
    ['04 08 3fc00000', 1.5],
    ['a0', 0],
    ['a1 ff', 255],
    ['a2 ffff', 65_535],
    ['c0', 0],
    ['c3 010000', 65_536],
    ['c4 ffffffff', 4_294_967_295],
    ['00 01', 0],
    ['01 01 ff', 255], // shorter than four bytes: never negative
    ['03 01 ffffff', 16_777_215],
    ['04 01 ffffffff', -1],
    ['04 01 80000000', -2_147_483_648],
    ['04 01 7fffffff', 2_147_483_647],
  ])('%s', (hex, expected) => {
    expect(opened(hex).number()).toBe(expected)
  })

  // A double does not hold all values of these types.
  it.each(['01 02 01', '01 03 01', '41 31', '01 07', 'e0', '00 04', '81 01'])('is null for %s', (hex) => {
    expect(opened(hex).number()).toBeNull()
  })
})

describe('DataSection.skip', () => {
  it.each([
    ['42 6869', 3],
    ['e2 4161 a101 4162 e1 4163 02 04 a0 a0', 14], // maps and arrays with their content
    ['e0', 1],
    ['00 04', 2],
    ['02 04 e1 4161 01 07 40', 8],
    ['2000', 2], // a pointer is skipped, not followed
    ['02 04 27ff 38ffffffff', 9], // wherever it leads
  ])('%s', (hex, length) => {
    const data = section(`${hex} 40`)
    expect(data.skip(4)).toBe(4 + length)
  })

  it.each(['e1 4161', '01 04', 'e1 4161 00 00'])('refuses a field that does not end: %s', (hex) => {
    expect(() => section(hex).skip(4)).toThrow(InvalidDatabaseError)
  })

  it('skips a limited number of values of a record', () => {
    const bytes = new Uint8Array(4 * MAX_VALUES).fill(0x40)
    // An array of the maximum number of texts.
    const count = MAX_VALUES - 1 - 285
    bytes.set([0x1e, 4, count >> 8, count & 255])
    const data = new DataSection(bytes, 0, bytes.length)
    data.beginRecord()
    expect(data.skip(0)).toBe(4 + MAX_VALUES - 1)
    expect(() => data.skip(0)).toThrow(`a record holds more than ${MAX_VALUES} values`)
    data.beginRecord()
    expect(data.skip(0)).toBe(4 + MAX_VALUES - 1)
  })

  it('does not recurse into nested fields', () => {
    const bytes = new Uint8Array(100_000)
    for (let at = 0; at < bytes.length - 2; at += 2) bytes.set([1, 4], at)
    const data = new DataSection(bytes, 0, bytes.length)
    expect(() => data.skip(0)).toThrow(InvalidDatabaseError)
  })
})
