import { readFileSync } from 'node:fs'
import { geoEqualEarth } from 'd3-geo'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { worldJson } from '../../../scripts/build-world-map.ts'
import { CENTRAL_MERIDIAN, MAP_HEIGHT, MAP_WIDTH, mapPoint } from '../../../src/cli/report/equal-earth.ts'
import WORLD from '../../../src/cli/report/world.json' with { type: 'json' }

const FILE = new URL('../../../src/cli/report/world.json', import.meta.url)

const COUNTRIES: Readonly<Record<string, string>> = WORLD

/** All points of a path that consists of `M` and relative `l`. */
function pointsOf(path: string): [x: number, y: number][] {
  return path
    .split('M')
    .slice(1)
    .flatMap((line) => {
      const numbers = (line.match(/-?\d+/g) ?? []).map(Number)
      let [x, y] = [0, 0]
      const points: [number, number][] = []
      for (let index = 0; index < numbers.length; index += 2) {
        x += numbers[index] ?? Number.NaN
        y += numbers[index + 1] ?? Number.NaN
        points.push([x, y])
      }
      return points
    })
}

describe('the land of the map', () => {
  it('is the output of scripts/build-world-map.ts', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(worldJson())
  })

  it.each(Object.entries(COUNTRIES))('is a path within the map: %s', (_, path) => {
    expect(path).toMatch(/^(M\d+ \d+l[-\d ]+z)+$/)
    const outside = pointsOf(path).filter(
      ([x, y]) => !(x >= 0 && x <= MAP_WIDTH && y >= 0 && y <= MAP_HEIGHT),
    )
    expect(outside).toEqual([])
  })

  it.each([
    ['NZ', -40, 175],
    ['FR', 47, 2],
    ['US', 40, -100],
    ['ZA', -30, 24],
    ['CN', 35, 105],
    ['BR', -10, -55],
  ])('has the country %s around a place in it', (code, latitude, longitude) => {
    const points = pointsOf(COUNTRIES[code] ?? '')
    const place = mapPoint(latitude, longitude)
    for (const [axis, at] of [place.x, place.y].entries()) {
      const all = points.map((point) => point[axis] ?? Number.NaN)
      expect([Math.min(...all) < at, Math.max(...all) > at]).toEqual([true, true])
    }
  })

  it('has countries by their codes', () => {
    expect(Object.keys(COUNTRIES).length).toBeGreaterThan(170)
    expect(Object.keys(COUNTRIES).filter((code) => !/^[A-Z]{2}$/.test(code))).toEqual([])
  })
})

/** scripts/build-world-map.ts draws the land with this projection. */
const oracle = geoEqualEarth().rotate([-CENTRAL_MERIDIAN, 0]).fitWidth(MAP_WIDTH, { type: 'Sphere' })

describe('the projection', () => {
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
    ['the western edge', 0, CENTRAL_MERIDIAN - 180 + 1e-9, 0, MAP_HEIGHT / 2],
    ['the eastern edge', 0, CENTRAL_MERIDIAN + 180 - 1e-9, MAP_WIDTH, MAP_HEIGHT / 2],
    ['a longitude beyond 180 degrees', 0, CENTRAL_MERIDIAN + 360, MAP_WIDTH / 2, MAP_HEIGHT / 2],
  ])('projects %s', (_, latitude, longitude, x, y) => {
    const point = mapPoint(latitude, longitude)
    expect(point.x).toBeCloseTo(x, 5)
    expect(point.y).toBeCloseTo(y, 5)
  })
})
