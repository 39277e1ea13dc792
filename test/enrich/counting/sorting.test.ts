import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numbersAt, ranksOf, sortedBy } from '../../../src/enrich/counting/sorting.ts'

const sortedValues = (values: readonly (string | number | null)[], areDays = false) => {
  const order = sortedBy([ranksOf(values, areDays)], Int32Array.from(values.keys()))
  return Array.from(order, (index) => values[index])
}

describe('ranksOf', () => {
  it('has numbers first, then texts by their characters, then missing values', () => {
    expect(sortedValues(['b', null, 10, 'B', 9, 'a10', -1, 'a9', null, ''])).toEqual([
      ...[-1, 9, 10, '', 'B', 'a10', 'a9', 'b', null, null],
    ])
  })

  it('has days of the week in their order if it is asked for, after other texts', () => {
    const days = ['Tuesday', null, 'Sunday', 'Monday', 'never']
    expect(sortedValues(days, true)).toEqual(['never', 'Monday', 'Tuesday', 'Sunday', null])
    expect(sortedValues(days)).toEqual(['Monday', 'Sunday', 'Tuesday', 'never', null])
  })
})

describe('sortedBy', () => {
  // Together with the number of indexes, some of these exceed what one number can hold.
  const size = fc.constantFrom(1, 3, 2 ** 20, 2 ** 24, 2 ** 31)
  const keys = fc
    .array(size, { minLength: 0, maxLength: 4 })
    .chain((sizes) =>
      fc
        .array(fc.tuple(...sizes.map((each) => fc.nat(each - 1))), { maxLength: 60 })
        .map((rows) => ({ sizes, rows })),
    )

  it('sorts as comparing key after key does, and keeps the order of equal ones', () => {
    fc.assert(
      fc.property(keys, ({ sizes, rows }) => {
        const ranks = sizes.map((each, key) => ({
          size: each,
          ranks: Int32Array.from(rows, (row) => row[key] ?? 0),
        }))
        const expected = [...rows.keys()].sort((a, b) => {
          const key = sizes.findIndex((_, index) => rows[a]?.[index] !== rows[b]?.[index])
          return key === -1 ? 0 : (rows[a]?.[key] ?? 0) - (rows[b]?.[key] ?? 0)
        })
        expect([...sortedBy(ranks, Int32Array.from(rows.keys()))]).toEqual(expected)
      }),
    )
  })
})

it('numbersAt gives the numbers at indexes', () => {
  expect([...numbersAt(Int32Array.of(5, 6, 7), Int32Array.of(2, 0, 2))]).toEqual([7, 5, 7])
})
