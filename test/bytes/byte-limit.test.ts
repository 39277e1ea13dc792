import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allocate, ByteCollector, checkSize, isOutOfMemory, maxBytesOf } from '../../src/bytes/byte-limit.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'

describe('maxBytesOf', () => {
  it.each([
    [undefined, 2 ** 31],
    [1, 1],
    [2 ** 31, 2 ** 31],
  ])('%s is %i', (option, expected) => {
    expect(maxBytesOf(option)).toBe(expected)
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 31 + 1, 5e9, '1000', 1000n, null, {}])(
    'refuses %s',
    (option) => {
      expect(() => maxBytesOf(option)).toThrow(TypeError)
    },
  )
})

describe('checkSize', () => {
  it('names the limit, and how to raise it if that is possible', () => {
    expect(() => checkSize(1000, 1000)).not.toThrow()
    expect(() => checkSize(1001, 1000, '/x.gz')).toThrow(
      '/x.gz: it has more than 1000 bytes, the limit that maxBytes sets: use a larger maxBytes if the database is meant to be that large',
    )
    expect(() => checkSize(2 ** 31 + 1, 2 ** 31)).toThrow(
      'more than 2147483648 bytes, too many for one database: open files for IPv4 and IPv6 apart, [ipv4, ipv6]',
    )
  })
})

describe('allocate', () => {
  it('throws an error of this package if there is not enough memory', () => {
    const action = (): Uint8Array => allocate(2 ** 52, (bytes) => new Uint8Array(bytes), '/x')
    expect(action).toThrow(InvalidDatabaseError)
    expect(action).toThrow('/x: there is not enough memory for it')
  })
})

describe('isOutOfMemory', () => {
  it.each([
    [new RangeError('Array buffer allocation failed'), true],
    [Object.assign(new Error('x'), { code: 'ERR_MEMORY_ALLOCATION_FAILED' }), true],
    [Object.assign(new RangeError('x'), { code: 'ERR_BUFFER_TOO_LARGE' }), false],
    [Object.assign(new Error('x'), { code: 'Z_DATA_ERROR' }), false],
    [new Error('x'), false],
    ['RangeError', false],
  ])('%s: %s', (error, expected) => {
    expect(isOutOfMemory(error)).toBe(expected)
  })
})

describe('ByteCollector', () => {
  it('joins chunks of any size, even across its blocks', () => {
    const sizes = fc.array(fc.oneof(fc.nat(9), fc.constantFrom(2 ** 20 - 1, 2 ** 20, 2 ** 21 + 1)), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(sizes, (lengths) => {
        const pieces = lengths.map((length, at) => new Uint8Array(length).fill(at + 1))
        const collector = new ByteCollector(2 ** 31)
        for (const piece of pieces) collector.add(piece)
        expect(Buffer.compare(collector.bytes(), Buffer.concat(pieces))).toBe(0)
        expect(collector.bytes()).toHaveLength(0)
      }),
      { numRuns: 30 },
    )
  })

  it('copies chunks, so that the caller can reuse their memory', () => {
    const collector = new ByteCollector(10)
    const piece = Uint8Array.of(1)
    collector.add(piece)
    piece[0] = 2
    expect([...collector.bytes()]).toEqual([1])
  })
})
