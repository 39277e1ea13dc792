import { geoEqualEarth } from 'd3-geo'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CENTRAL_MERIDIAN, MAP_HEIGHT, MAP_WIDTH, mapPoint } from '../../../src/cli/report/equal-earth.ts'

/** scripts/build-world-map.ts draws the land with this projection. */
const oracle = geoEqualEarth().rotate([-CENTRAL_MERIDIAN, 0]).fitWidth(MAP_WIDTH, { type: 'Sphere' })

describe('the map', () => {
  it('agrees with d3-geo', () => {
    const latitude = fc.double({ min: -90, max: 90, noNaN: true })
    // A point on the edge of the map may be at either side.
    const longitude = fc.double({ min: -168.999, max: 190.999, noNaN: true })
    fc.assert(
      fc.property(latitude, longitude, (north, east) => {
        const { x, y } = mapPoint(north, east)
        const [expectedX, expectedY] = oracle([east, north]) ?? [Number.NaN, Number.NaN]
        expect(Math.abs(x - expectedX)).toBeLessThan(0.01)
        expect(Math.abs(y - expectedY)).toBeLessThan(0.01)
      }),
    )
  })

  it.each([
    ['the middle', 0, CENTRAL_MERIDIAN, MAP_WIDTH / 2, MAP_HEIGHT / 2],
    ['the north pole', 90, CENTRAL_MERIDIAN, MAP_WIDTH / 2, 0],
    ['the south pole', -90, CENTRAL_MERIDIAN, MAP_WIDTH / 2, MAP_HEIGHT],
    ['the western edge', 0, CENTRAL_MERIDIAN - 180 + 1e-9, 0, MAP_HEIGHT / 2],
    ['the eastern edge', 0, CENTRAL_MERIDIAN + 180 - 1e-9, MAP_WIDTH, MAP_HEIGHT / 2],
    ['a longitude beyond 180 degrees', 0, CENTRAL_MERIDIAN + 360, MAP_WIDTH / 2, MAP_HEIGHT / 2],
  ])('projects %s', (_, latitude, longitude, x, y) => {
    const point = mapPoint(latitude, longitude)
    expect(point.x).toBeCloseTo(x, 5)
    expect(point.y).toBeCloseTo(y, 5)
  })
})
