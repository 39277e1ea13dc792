import { describe, expect, it } from 'vitest'
import { connectionLimit } from '../../../src/cli/serve/connections.ts'

describe('connections', () => {
  it.each([
    // Few descriptors: a fourth.
    [64, 16],
    [128, 32],
    // The usual soft limit.
    [1024, 928],
    // The unit file of the guide.
    [16_384, 10_000],
    // Windows.
    [Number.POSITIVE_INFINITY, 10_000],
  ])('of %d descriptors take at most %d', (limit, most) => {
    expect(connectionLimit(10_000, limit)).toBe(most)
  })

  it('are limited in this process too', () => {
    expect(connectionLimit(10_000)).toBeGreaterThan(0)
    expect(connectionLimit(1)).toBe(1)
  })
})
