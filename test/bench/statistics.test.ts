import { describe, expect, it } from 'vitest'
import { measurement } from '../../scripts/bench/statistics.ts'

describe('measurement', () => {
  it.each([
    [[5], 5],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5], // between the two in the middle
  ])('of %j has its median', (rounds, median) => {
    expect(measurement(rounds).median).toBe(median)
  })

  it('keeps the order of rounds, and knows the extremes', () => {
    expect(measurement([10, 9, 100])).toEqual({ median: 10, lowest: 9, highest: 100, rounds: [10, 9, 100] })
  })

  it('needs a round', () => {
    expect(() => measurement([])).toThrow('no round')
  })
})
