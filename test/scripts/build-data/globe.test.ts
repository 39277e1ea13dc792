import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { distanceKm, NearestIndex, type Point } from '../../../scripts/build-data/globe.ts'

const at = (latitude: number, longitude: number): Point => ({ latitude, longitude })

describe('distanceKm', () => {
  it.each([
    ['London to New York', at(51.5074, -0.1278), at(40.7128, -74.006), 5570],
    ['across the antimeridian', at(0, 179.5), at(0, -179.5), 111],
    ['pole to pole', at(90, 0), at(-90, 0), 20_015],
  ])('%s', (_, a, b, km) => expect(Math.abs(distanceKm(a, b) - km)).toBeLessThan(2))
})

describe('NearestIndex', () => {
  const point = fc.record({
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  })

  it('finds what comparing all finds', () => {
    fc.assert(
      fc.property(
        fc.array(point, { maxLength: 60 }),
        point,
        fc.integer({ min: 1, max: 9 }),
        (points, from, count) => {
          const found = new NearestIndex(points).nearestOf(from, count)
          const all = points.map((item) => distanceKm(item, from)).sort((a, b) => a - b)
          expect(found.length).toBe(Math.min(count, points.length))
          for (const [rank, { item, km }] of found.entries()) {
            expect(points).toContain(item)
            expect(Math.abs(km - (all[rank] ?? Number.NaN))).toBeLessThan(0.01)
          }
        },
      ),
    )
  })
})
