import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { worldModule } from '../../../scripts/build-world-map.ts'
import { MAP_HEIGHT, MAP_WIDTH } from '../../../src/cli/report/equal-earth.ts'
import { BORDERS, LAND } from '../../../src/cli/report/world.ts'

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

  it.each([
    ['land', LAND, /^(M\d+ \d+l[-\d ]+z)+$/],
    ['borders', BORDERS, /^(M\d+ \d+l[-\d ]+)+$/],
  ])('is a path within the map: %s', (_, path, grammar) => {
    const points = pointsOf(path)
    expect(path).toMatch(grammar)
    expect(points.length).toBeGreaterThan(1000)
    const outside = points.filter(([x, y]) => !(x >= 0 && x <= MAP_WIDTH && y >= 0 && y <= MAP_HEIGHT))
    expect(outside).toEqual([])
  })
})
