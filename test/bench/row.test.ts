import { describe, expect, it } from 'vitest'
import { measurement } from '../../scripts/bench/row.ts'

describe('measurement', () => {
  it.each([
    [[5], 5],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5], // between the two middle rounds
  ])('has the median of %j', (rounds, median) => {
    expect(measurement(rounds).median).toBe(median)
  })

  it('keeps the order of rounds, and has the extremes', () => {
    expect(measurement([10, 9, 100])).toEqual({ median: 10, lowest: 9, highest: 100, rounds: [10, 9, 100] })
  })

  it('requires a round', () => {
    expect(() => measurement([])).toThrow('no rounds')
  })
})
