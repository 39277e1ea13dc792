import { describe, expect, it } from 'vitest'
import { allocate, checkSize, isOutOfMemory, maxBytesOf } from '../../src/bytes/byte-limit.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'

describe('maxBytesOf', () => {
  it.each([
    [undefined, 2 ** 31],
    [1, 1],
    [2 ** 53 - 1, 2 ** 53 - 1],
  ])('%s is %i', (option, expected) => {
    expect(maxBytesOf(option)).toBe(expected)
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53, '1000', 1000n, null, {}])('refuses %s', (option) => {
    expect(() => maxBytesOf(option)).toThrow(TypeError)
  })
})

describe('checkSize', () => {
  it('says the limit, and how to raise it where that helps', () => {
    expect(() => checkSize(1000, 1000)).not.toThrow()
    expect(() => checkSize(1001, 1000, '/x.gz')).toThrow(
      '/x.gz: it has more than 1000 bytes, the limit that maxBytes sets: open it with a larger maxBytes if it is meant to be that large',
    )
    expect(() => checkSize(2 ** 31 + 1, 2 ** 31)).toThrow('more than 2147483648 bytes, which no database has')
  })
})

describe('allocate', () => {
  it('makes an error of this package of memory that is not there', () => {
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
