import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mapPoint } from '../../../src/cli/report/equal-earth.ts'
import { legendCounts, MAX_CIRCLES, MAX_RADIUS, NARROW_GROWTH } from '../../../src/cli/report/map.ts'
import { attribute, countsOf, type Element, Page, type SampleLocation, textOf, within } from './sample.ts'

function circlesOf(page: Page): Element[] {
  return page.all('svg', 'world').flatMap((svg) => within(svg, 'circle'))
}

function number(element: Element | undefined, name: string): number {
  return Number(element === undefined ? undefined : attribute(element, name))
}

function location(
  latitude: number,
  longitude: number,
  count: number,
  more: Partial<SampleLocation> = {},
): SampleLocation {
  return { country: 'XX', latitude, longitude, count, ...more }
}

/** Locations in different cells. */
function grid(counts: readonly number[]): SampleLocation[] {
  return counts.map((count, index) => location((index % 80) + 0.5, Math.floor(index / 80) + 0.5, count))
}

describe('circles of the map', () => {
  it('have areas in proportion to their counts', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1e9 }), { minLength: 1, maxLength: 30 }), (counts) => {
        const most = Math.max(...counts)
        const radii = circlesOf(Page.of(countsOf(grid(counts)))).map((circle) => number(circle, 'r'))
        const expected = counts.toSorted((a, b) => b - a).map((count) => (count / most) * MAX_RADIUS ** 2)
        expect(radii).toHaveLength(counts.length)
        // Radii have two decimals.
        for (const [index, radius] of radii.entries()) {
          expect(Math.abs(radius - Math.sqrt(expected[index] ?? Number.NaN))).toBeLessThan(0.0051)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('lie at the mean coordinates of their lines', () => {
    const [circle] = circlesOf(Page.of(countsOf([location(51.5, -0.1, 7)])))
    const { x, y } = mapPoint(51.5, -0.1)
    expect(number(circle, 'cx')).toBeCloseTo(x, 1)
    expect(number(circle, 'cy')).toBeCloseTo(y, 1)
  })

  it('have titles with busiest city, coordinates, lines and share', () => {
    const counts = countsOf([
      location(51.5, -0.12, 25, { city: 'London' }),
      location(51.5, -0.12, 5, { city: 'Camden' }),
      location(-33.87, 151.2, 10, { city: '<Sydney>' }),
      location(1.3, 103.8, 60),
    ])
    const titles = circlesOf(Page.of(counts)).map((circle) => textOf(circle).replace(/[\u2068\u2069]/g, '|'))
    expect(titles).toEqual([
      '1.3° N 103.8° E: 60 lines, 60.0%',
      '|London|, around 51.5° N 0.1° W: 30 lines, 30.0%',
      '|<Sydney>|, around 33.9° S 151.2° E: 10 lines, 10.0%',
    ])
  })

  it(`are ${MAX_CIRCLES} at most, and the caption counts the others`, () => {
    const counts = Array.from({ length: 1000 }, (_, index) => index + 1)
    const page = Page.of(countsOf(grid(counts)))
    expect(circlesOf(page)).toHaveLength(MAX_CIRCLES)
    // 601 + … + 1000 of 1 + … + 1000
    expect(page.texts('figcaption')[0]).toMatch(
      /^The 400 busiest of 1,000 locations, with 64\.0% of the located lines\./,
    )
  })
})

describe('the map', () => {
  it('says how many lines have no coordinates', () => {
    const page = Page.of(countsOf([location(1, 1, 9), { country: 'YY', count: 1 }]))
    expect(page.texts('figcaption')[0]).toMatch(
      /^1 location, with 90\.0% .* 1 located line has no coordinates\.$/,
    )
  })

  it('says why it is empty, and has no legend', () => {
    const page = Page.of(countsOf([{ country: 'YY', count: 1 }]))
    expect(page.texts('figcaption')).toEqual([
      'The database has no coordinates for these locations, so the map is empty.',
    ])
    expect(page.all('div', 'legend')).toEqual([])
  })

  it.each([
    ['leaves out Antarctica', 40, 910],
    ['shows Antarctica when something is there', -77.8, 1064],
    ['shows the pole when something is there', 89, 1064],
  ])('%s', (_, latitude, height) => {
    const [world] = Page.of(countsOf([location(latitude, 10, 1)])).all('svg', 'world')
    const box = (world && attribute(world, 'viewBox'))?.split(' ').map(Number) ?? []
    const [circle] = world === undefined ? [] : within(world, 'circle')
    const [left = 0, top = 0, width = 0, tall = 0] = box
    expect(Math.abs(tall - height)).toBeLessThan(5)
    const edge = number(circle, 'r')
    expect(number(circle, 'cx') - edge).toBeGreaterThan(left)
    expect(number(circle, 'cx') + edge).toBeLessThan(left + width)
    expect(number(circle, 'cy')).toBeGreaterThan(top)
    expect(number(circle, 'cy') + edge).toBeLessThan(top + tall)
  })

  it('has a legend to scale, also on narrow screens', () => {
    const page = Page.of(countsOf(grid([6_000, 10])))
    const [world] = page.all('svg', 'world')
    const mapWidth = Number((world && attribute(world, 'viewBox'))?.split(' ')[2])
    for (const [kind, growth] of [
      ['wide', 1],
      ['narrow', NARROW_GROWTH],
    ] as const) {
      const [legend] = page.all('div', kind)
      const svgs = legend === undefined ? [] : within(legend, 'svg')
      expect(svgs).toHaveLength(3)
      for (const [index, count] of [5000, 500, 50].entries()) {
        const svg = svgs[index]
        if (svg === undefined) expect.fail()
        const [circle] = within(svg, 'circle')
        const unitsAcross = Number(attribute(svg, 'viewBox')?.split(' ')[2])
        // The radius on the screen, as a fraction of the width of the map.
        const shown =
          (Number.parseFloat(attribute(svg, 'width') ?? '') / 100) * (number(circle, 'r') / unitsAcross)
        const onMap = (MAX_RADIUS * Math.sqrt(count / 6000) * growth) / mapWidth
        expect(shown).toBeCloseTo(onMap, 4)
      }
    }
    expect(page.texts('style')[0]).toContain(`.world circle { transform: scale(${NARROW_GROWTH}); }`)
  })

  it.each([
    [1, [1]],
    [7, [7]],
    [10, [10, 1]],
    [73, [50, 5]],
    [199, [100, 10, 1]],
    [1_000_000, [1_000_000, 100_000, 10_000]],
    [999_999, [500_000, 50_000, 5_000]],
  ])('has a legend for a highest count of %d: %j', (most, counts) => {
    expect(legendCounts(most)).toEqual(counts)
  })
})
