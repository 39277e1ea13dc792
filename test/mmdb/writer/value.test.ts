import { describe, expect, it } from 'vitest'
import { double, float, int32, uint16, uint32, uint64, uint128 } from '../../../src/writer.ts'

describe('typed numbers', () => {
  it.each([
    [
      'float',
      float,
      [0, -1.5, 3.4028234663852886e38],
      [3.5e38, -3.5e38, Number.NaN, Number.NEGATIVE_INFINITY],
    ],
    ['double', double, [0, -0.1, Number.MAX_VALUE], [Number.NaN, Number.POSITIVE_INFINITY]],
    ['int32', int32, [-(2 ** 31), 0, 2 ** 31 - 1], [-(2 ** 31) - 1, 2 ** 31, 0.5, Number.NaN]],
    ['uint16', uint16, [0, 65_535], [-1, 65_536, 1.5]],
    ['uint32', uint32, [0, 2 ** 32 - 1], [-1, 2 ** 32, 0.25]],
  ] as const)('%s accepts values in its range only', (type, make, fitting, others) => {
    for (const value of fitting) expect(make(value)).toMatchObject({ type, value })
    for (const value of others) {
      expect(() => make(value)).toThrow(RangeError)
      expect(() => make(value)).toThrow(`${type}(${value}) is out of range: it must be `)
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

  it('name the accepted range', () => {
    expect(() => float(Number.NaN)).toThrow('it must be a finite number below 3.41e38')
    expect(() => double(Number.NaN)).toThrow('it must be a finite number')
    expect(() => int32(0.5)).toThrow('it must be an integer from -2147483648 to 2147483647')
    expect(() => uint16(-1)).toThrow('it must be an integer from 0 to 65535')
    expect(() => uint32(-1)).toThrow('it must be an integer from 0 to 4294967295')
  })

  it('are rounded for float', () => {
    expect(float(51.4036).value).toBe(Math.fround(51.4036))
    expect(float(51.4036).value).not.toBe(51.4036)
  })
})
