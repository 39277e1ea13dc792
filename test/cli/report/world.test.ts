import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { worldModule } from '../../../scripts/build-world-map.ts'
import { MAP_HEIGHT, MAP_WIDTH, mapPoint } from '../../../src/cli/report/equal-earth.ts'
import { COUNTRIES, LAND } from '../../../src/cli/report/world.ts'

const FILE = new URL('../../../src/cli/report/world.ts', import.meta.url)

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
    expect(readFileSync(FILE, 'utf8')).toBe(worldModule())
  })

  it.each([['land', LAND], ...Object.entries(COUNTRIES)])('is a path within the map: %s', (_, path) => {
    expect(path).toMatch(/^(M\d+ \d+l[-\d ]+z)+$/)
    const outside = pointsOf(path).filter(
      ([x, y]) => !(x >= 0 && x <= MAP_WIDTH && y >= 0 && y <= MAP_HEIGHT),
    )
    expect(outside).toEqual([])
  })

  it('has the countries by their codes', () => {
    // The corners of the box around a country, and a place in it.
    for (const [code, latitude, longitude] of [
      ['NZ', -40, 175],
      ['FR', 47, 2],
      ['US', 40, -100],
      ['ZA', -30, 24],
      ['CN', 35, 105],
      ['BR', -10, -55],
    ] as const) {
      const points = pointsOf(COUNTRIES[code] ?? '')
      const { x, y } = mapPoint(latitude, longitude)
      expect([
        Math.min(...points.map(([each]) => each)) < x,
        Math.max(...points.map(([each]) => each)) > x,
      ]).toEqual([true, true])
      expect([
        Math.min(...points.map(([, each]) => each)) < y,
        Math.max(...points.map(([, each]) => each)) > y,
      ]).toEqual([true, true])
    }
    expect(Object.keys(COUNTRIES).length).toBeGreaterThan(170)
    expect(Object.keys(COUNTRIES).filter((code) => !/^[A-Z]{2}$/.test(code))).toEqual([])
  })
})
