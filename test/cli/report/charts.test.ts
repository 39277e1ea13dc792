import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { daysCard, errorChart, timelineCard } from '../../../src/cli/report/charts.ts'
import { Markup } from '../../../src/cli/report/markup.ts'
import type { Timeline } from '../../../src/cli/report/times.ts'

const DAY_MS = 86_400_000
/** A bar of a path: its left edge, its lower edge, its width and its height. */
const BAR = /M([\d.]+) (\d+)h([\d.]+)v(\d+)h-[\d.]+z/g

function timelineOf(counts: readonly (readonly number[])[]): Timeline {
  const series = ['Norway', 'Chile'].slice(0, (counts[0]?.length ?? 1) - 1)
  return {
    unit: 'day',
    series,
    buckets: counts.map((each, day) => ({ start: day * DAY_MS, counts: each })),
  }
}

function cardOf(timeline: Timeline): string {
  return timelineCard(timeline, (title) => Markup.of(title))?.text ?? ''
}

describe('the bars of the timeline', () => {
  it('have heights in proportion to their lines, and stand on each other', () => {
    const bucket = fc.array(fc.nat(1000), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(bucket, { minLength: 2, maxLength: 200 }), (counts) => {
        const card = cardOf(timelineOf(counts))
        const highest = Math.max(...counts.map((each) => each.reduce((sum, count) => sum + count, 0)))
        fc.pre(highest > 0)
        const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(card) ?? []
        expect(Number(width)).toBe(counts.length)
        const tops = counts.map(() => Number(height))
        const kinds = [...card.matchAll(/<path class="c(\w+)" d="([^"]*)"/g)]
        for (const [, kind, path = ''] of kinds) {
          for (const [, x, y, wide, tall] of path.matchAll(BAR)) {
            const day = Math.floor(Number(x))
            expect(Number(x) + Number(wide)).toBeLessThanOrEqual(day + 1)
            const count = counts[day]?.[kind === 'others' ? 2 : Number(kind)] ?? Number.NaN
            // The highest bar has more than half of the height.
            expect(Number(tall) / Number(height)).toBeLessThan(count / highest + 0.002)
            expect(Number(tall) / Number(height)).toBeGreaterThan(count / highest / 2.1 - 0.002)
            expect(Number(y) + Number(tall)).toBe(tops[day])
            tops[day] = Number(y)
          }
        }
        // Bars with the same lines have the same height.
        const heights = new Map<number, number>()
        for (const [day, each] of counts.entries()) {
          const sum = each.reduce((all, count) => all + count, 0)
          expect(heights.get(sum) ?? tops[day]).toBe(tops[day])
          heights.set(sum, tops[day] ?? 0)
        }
      }),
    )
  })

  it('have a title each, with the lines of each country', () => {
    const card = cardOf(
      timelineOf([
        [3, 2, 1],
        [0, 5, 0],
      ]),
    )
    expect([...card.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)).toEqual([
      '1 Jan 1970 UTC: 6 lines (Norway 3, Chile 2, others 1)',
      '2 Jan 1970 UTC: 5 lines (Chile 5)',
    ])
  })
})

describe('the bars of other figures', () => {
  const bars = (
    unit: Timeline['unit'],
    series: readonly string[],
    ...counts: readonly (readonly number[])[]
  ) => ({
    unit,
    series,
    buckets: counts.map((each, day) => ({ start: day * DAY_MS, counts: each })),
  })
  const titles = (card: Markup | null): (string | undefined)[] =>
    [...(card?.text ?? '').matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)

  it('are errors of the client and of the server', () => {
    const chart = errorChart(bars('day', ['4xx', '5xx'], [3, 1], [0, 0]))
    expect(titles(chart)).toEqual(['1 Jan 1970 UTC: 4 errors (4xx 3, 5xx 1)', '2 Jan 1970 UTC: 0 errors'])
    expect(chart?.text.match(/class="s[45]" d=/g)).toHaveLength(2)
    expect(errorChart(bars('day', ['4xx', '5xx'], [3, 1]))).toBeNull()
  })

  it.each([
    ['day', true, 'Distinct addresses of each day. The most are 7 addresses, on 2 Jan 1970.'],
    [
      'month',
      false,
      'Distinct addresses of a day, the mean of each month, estimated. The most are 7 addresses, in Jan 1970.',
    ],
  ] as const)('are distinct addresses by %s', (unit, isExact, lead) => {
    const days = { ...bars(unit, ['addresses'], [5], [7]), isExact }
    const card = daysCard(days, (title) => Markup.of(title))
    expect(card?.text).toContain(lead)
    expect(titles(card)[1]).toMatch(/: 7 addresses$/)
    expect(daysCard({ ...bars(unit, ['addresses'], [5]), isExact }, (title) => Markup.of(title))).toBeNull()
  })
})
