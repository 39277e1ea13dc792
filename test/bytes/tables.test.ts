import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ABSENT, NumberMap, RowSet, remember } from '../../src/bytes/tables.ts'

const KEY = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }))

describe('NumberMap', () => {
  it('is a map', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(KEY, fc.nat(2 ** 31 - 1)), { maxLength: 3000 }), (entries) => {
        const map = new NumberMap()
        const expected = new Map<number, number>()
        for (const [key, value] of entries) {
          expect(map.get(key)).toBe(expected.get(key) ?? ABSENT)
          map.set(key, value)
          expected.set(key, value)
        }
        expect(map.size).toBe(expected.size)
        for (const [key, value] of expected) expect(map.get(key)).toBe(value)
      }),
      { numRuns: 30 },
    )
  })
})

describe('RowSet', () => {
  it('numbers distinct rows in the order in which they are added', () => {
    const row = fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }))
    fc.assert(
      fc.property(fc.array(row, { maxLength: 3000 }), (rows) => {
        const set = new RowSet(2)
        const expected = new Map<string, number>()
        for (const values of rows) {
          const known = expected.get(values.join()) ?? ABSENT
          const number = known === ABSENT ? expected.size : known
          expected.set(values.join(), number)
          expect(set.add(Int32Array.from(values))).toBe(number)
          expect([...set.rows.subarray(2 * number, 2 * number + 2)]).toEqual(values)
        }
        expect(set.size).toBe(expected.size)
      }),
      { numRuns: 30 },
    )
  })
})

describe('RowSet with rows that it did not search', () => {
  const rowsOf = (count: number, first = 0): Int32Array[] =>
    Array.from({ length: count }, (_, index) => Int32Array.of(first + index, -index))

  it('finds them when it is searched', () => {
    const set = new RowSet(2)
    const rows = rowsOf(3000)
    for (const [index, row] of rows.entries()) expect(set.append(row)).toBe(index)
    expect(set.find(Int32Array.of(-1, 0))).toBe(ABSENT)
    expect(rows.every((row, index) => set.find(row) === index && set.add(row) === index)).toBe(true)
    expect(set.append(Int32Array.of(-1, 0))).toBe(3000)
    expect(set.add(Int32Array.of(-1, 0))).toBe(3000)
    expect(set.add(Int32Array.of(-2, 0))).toBe(3001)
  })

  it('takes rows, and adds others', () => {
    const rows = rowsOf(700)
    const set = new RowSet(2, Int32Array.from(rows.flatMap((row) => [...row])))
    expect(set.size).toBe(700)
    expect(rows.every((row, index) => set.add(row) === index)).toBe(true)
    expect(rowsOf(700, 9000).map((row) => set.add(row))).toEqual(Array.from(rows, (_, index) => 700 + index))
  })
})

describe('remember', () => {
  it('makes a value on the first use of its key', () => {
    const cache = new Map<string, string | null>()
    const make = vi.fn((key: string) => (key === 'none' ? null : key.toUpperCase()))
    for (const key of ['a', 'none', 'a', 'none']) remember(cache, 10, key, make)
    expect(remember(cache, 10, 'a', make)).toBe('A')
    expect(remember(cache, 10, 'none', make)).toBeNull()
    expect(make).toHaveBeenCalledTimes(2)
  })

  it('empties a full cache', () => {
    const cache = new Map<number, number>()
    for (let key = 0; key < 100; key++) {
      expect(remember(cache, 7, key, (value) => -value)).toBe(-key)
      expect(cache.size).toBeLessThanOrEqual(7)
    }
  })

  it('caches nothing when making a value throws', () => {
    const cache = new Map([[1, 1]])
    const make = (): number => {
      throw new Error('no value')
    }
    expect(() => remember(cache, 1, 2, make)).toThrow('no value')
    expect([...cache]).toEqual([[1, 1]])
  })
})
