import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { daysCard, errorChart, timelineCard } from '../../../src/cli/report/charts.ts'
import { Markup } from '../../../src/cli/report/markup.ts'
import type { Timeline } from '../../../src/cli/report/times.ts'
import { attribute, countsOf, type Element, Page, textOf, within } from './sample.ts'

const DAY_MS = 86_400_000
/** A bar of a path: its left edge, its lower edge, its width and its height. */
const BAR = /M([\d.]+) (\d+)h([\d.]+)v(\d+)h-[\d.]+z/g

function bars(
  unit: Timeline['unit'],
  series: readonly string[],
  ...counts: readonly (readonly number[])[]
): Timeline {
  return {
    unit,
    ...{ clock: 'UTC', localTimes: 0, omitted: 0 },
    series,
    buckets: counts.map((each, day) => ({ start: day * DAY_MS, counts: each })),
  }
}

function cardOf(...counts: readonly (readonly number[])[]): string {
  return timelineCard(bars('day', ['Norway', 'Chile'], ...counts), (title) => Markup.of(title))?.text ?? ''
}

function titlesOf(card: string | undefined): (string | undefined)[] {
  return [...(card ?? '').matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)
}

describe('the bars of the timeline', () => {
  it('have heights in proportion to their lines, and stand on each other', () => {
    const bucket = fc.array(fc.nat(1000), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(bucket, { minLength: 2, maxLength: 200 }), (counts) => {
        const card = cardOf(...counts)
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
    expect(titlesOf(cardOf([3, 2, 1], [0, 5, 0]))).toEqual([
      '1 Jan 1970 UTC: 6 lines (Norway 3, Chile 2, others 1)',
      '2 Jan 1970 UTC: 5 lines (Chile 5)',
    ])
  })

  it('have the time of the log if it has no offset from UTC', () => {
    const timeline: Timeline = {
      ...bars('day', ['Norway'], [3, 0], [5, 0]),
      clock: 'log time',
      localTimes: 8,
    }
    const card = timelineCard(timeline, (title) => Markup.of(title))?.text
    expect(titlesOf(card)[1]).toBe('2 Jan 1970 log time: 5 lines')
    expect(card).not.toContain('UTC')
  })

  it.each<[Timeline['clock'], number, string]>([
    ['UTC', 3, '3 lines whose times have no offset from UTC.'],
    ['log time', 1, '1 line whose time has an offset from UTC.'],
  ])('say how many times are not %s', (clock, omitted, note) => {
    const timeline = { ...bars('day', ['Norway'], [3, 0], [5, 0]), clock, omitted }
    expect(timelineCard(timeline, (title) => Markup.of(title))?.text).toContain(`Left out: ${note}`)
  })
})

describe('the bars of other figures', () => {
  it('are errors of the client and of the server', () => {
    const chart = errorChart(bars('day', ['4xx', '5xx'], [3, 1], [0, 0]))
    expect(titlesOf(chart?.text)).toEqual([
      '1 Jan 1970 UTC: 4 errors (4xx 3, 5xx 1)',
      '2 Jan 1970 UTC: 0 errors',
    ])
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
    expect(titlesOf(card?.text)[1]).toMatch(/: 7 addresses$/)
    expect(daysCard({ ...bars(unit, ['addresses'], [5]), isExact }, (title) => Markup.of(title))).toBeNull()
  })
})

function hoursCard(page: Page): Element {
  return page.card('Local time of day')
}

/** The bars of the chart: their hours, and their heights in thousandths. */
function hoursOf(page: Page): [hour: number, height: number][] {
  const paths = within(hoursCard(page), 'path').map((path) => attribute(path, 'd') ?? '')
  return [...paths.join('').matchAll(BAR)].map(([, x, , , tall]) => [Math.floor(Number(x)), Number(tall)])
}

const MORNING = { country: 'NL', hour: 9, count: 30 }
const EVENING = { country: 'US', hour: 21, count: 10 }

describe('the chart of local hours', () => {
  it('has a bar for each hour with lines, a title for each hour and a label with all of them', () => {
    const page = Page.of(countsOf([MORNING, EVENING]))
    expect(hoursOf(page)).toEqual([
      [9, 1000],
      [21, 333],
    ])
    const titles = within(hoursCard(page), 'g').map(textOf)
    expect([titles.length, titles[9], titles[23]]).toEqual([
      24,
      '09:00–10:00: 30 lines, 75.0%',
      '23:00–24:00: 0 lines, 0%',
    ])
    const [plot] = page.all('svg', 'plot')
    expect(plot && attribute(plot, 'role')).toBe('img')
    expect(plot && attribute(plot, 'aria-label')).toContain('09:00 75.0%, 10:00 0%')
    expect(textOf(hoursCard(page))).toContain('The busiest hour starts at 09:00, with 75.0%.')
  })

  it.each([
    [1, ['0', '1']],
    [3, ['0', '1', '2', '3']],
    [40, ['0', '20', '40']],
    [999, ['0', '200', '400', '600', '800', '1K']],
    [54_321, ['0', '20K', '40K', '60K']],
    [3_000_000_000, ['0', '1B', '2B', '3B']],
  ])('has an axis of round numbers up to %d', (count, labels) => {
    const page = Page.of(countsOf([{ ...MORNING, count }]))
    const [scale] = page.all('svg', 'scale')
    expect(scale && within(scale, 'text').map(textOf)).toEqual(labels)
    expect(hoursOf(page)[0]?.[1]).toBeGreaterThan(600)
  })

  it('says how many lines it counts', () => {
    const page = Page.of(countsOf([MORNING, { country: 'AQ', count: 5 }]))
    expect(textOf(hoursCard(page))).toContain('30 of 35 located lines. The others have no time')
    expect(textOf(hoursCard(Page.of(countsOf([MORNING]))))).not.toContain('located lines.')
  })

  it('says that the lines have no time', () => {
    const page = Page.of(countsOf([{ country: 'NL', count: 5 }]))
    expect(hoursOf(page)).toEqual([])
    expect(textOf(hoursCard(page))).toContain('No line has a readable time.')
    expect(textOf(hoursCard(page))).toContain('--time-field')
  })

  it('says that the database has no time zones', () => {
    const counts = { ...countsOf([{ country: 'NL', count: 5 }]), span: [0, 1] as const }
    expect(textOf(hoursCard(Page.of(counts)))).toContain('has no time zones for their locations')
    // The other lines can have an offset.
    expect(textOf(hoursCard(Page.of({ ...counts, localTimes: 2 })))).toContain(
      'The times of located lines have no offset from UTC, or the database has no time zones',
    )
    const page = Page.of({ ...counts, clock: 'log time' })
    expect(page.texts('span', 'detail')).toContain('1 Jan 1970, log time')
  })

  it('has a grid of weekdays and hours, darker the more lines', () => {
    const weekHours = Array.from({ length: 168 }, (_, hour) =>
      hour === 9 ? 30 : hour === 6 * 24 + 21 ? 10 : 0,
    )
    const cells = Page.of({ ...countsOf([MORNING, EVENING]), weekHours })
      .all('rect')
      .filter((rect) => /^w\d$/.test(attribute(rect, 'class') ?? ''))
    expect(cells).toHaveLength(168)
    const shaded = cells.filter((cell) => attribute(cell, 'class') !== 'w0')
    expect(shaded.map((cell) => [attribute(cell, 'class'), textOf(cell)])).toEqual([
      ['w5', 'Monday 09:00: 30 lines'],
      ['w2', 'Sunday 21:00: 10 lines'],
    ])
    expect(Page.of(countsOf([MORNING])).all('div', 'week')).toEqual([])
  })
})
