import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Activity } from '../../../src/cli/report/activity.ts'
import { type Ranked, TABLES, type Tallied } from '../../../src/cli/report/ranked.ts'
import { renderReport } from '../../../src/cli/report/report.ts'
import { summaryOf } from '../../../src/cli/report/summary.ts'
import { countsOf, Page, REPORT_DETAILS } from './sample.ts'

const KIB = 1024

/** An activity in which all names are this text, with as many rows as a report shows at most. */
function activityWith(name: (index: number) => string, rows = 250, buckets = 96): Activity {
  const tallied = (index: number): Tallied => ({
    name: name(index),
    count: 1000 - index,
    addresses: 7,
    within: name(index + 1),
    bytes: 1e9,
  })
  const all = Array.from({ length: rows }, (_, index) => tallied(index))
  const ranked: Ranked = { rows: all, all: 5000, otherLines: 99, isExact: false }
  return {
    addresses: { total: 5000, isExact: false },
    tables: Object.fromEntries(Object.keys(TABLES).map((title) => [title, ranked])),
    timeline: {
      unit: 'hour',
      ...{ clock: 'UTC', localTimes: 0, omitted: 0 },
      series: [0, 1, 2, 3, 4].map(name),
      buckets: Array.from({ length: buckets }, (_, index) => ({
        start: Date.UTC(2026, 6, 1, index),
        counts: [9, 8, 7, 6, 5, 4],
      })),
    },
    days: null,
    requests: { statuses: all, methods: all, bytes: 1e12, errors: null },
  }
}

/** Counts of as many places as there are in a large log. */
function manyPlaces(name: (index: number) => string) {
  return countsOf(
    Array.from({ length: 2000 }, (_, index) => ({
      country: String.fromCharCode(65 + ((index >> 3) % 26), 65 + (index % 26)),
      name: name(index),
      region: name(index),
      city: name(index),
      latitude: ((index * 37) % 170) - 84.5,
      longitude: ((index * 61) % 360) - 179.5,
      hour: index % 24,
      count: 1 + index,
    })),
  )
}

describe('the size of a report', () => {
  it('is less than 300 kB for places, addresses and paths of usual length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 40 }), fc.integer({ min: 0, max: 250 }), (length, rows) => {
        const name = (index: number): string => `${index} `.padEnd(length, 'of a name ')
        const html = renderReport(manyPlaces(name), { ...REPORT_DETAILS, activity: activityWith(name, rows) })
        expect(Buffer.byteLength(html)).toBeLessThan(300_000)
      }),
      { numRuns: 8 },
    )
  })

  it('is bounded for any texts', () => {
    // The text that grows most when it is escaped.
    const name = (index: number): string => `${index}${"'".repeat(20_000)}`
    const badLineGroups = Array.from({ length: 20 }, (_, line) => ({
      line,
      message: name(line),
      text: name(line),
      count: 2,
    }))
    const counts = { ...manyPlaces(name), bad: 40, badLineGroups }
    const page = Page.of(counts, {
      ...{ activity: activityWith(name), title: name(1) },
      sources: Array.from({ length: 5000 }, (_, index) => name(index)),
      databases: [{ type: name(1), buildDate: null, licence: name(1), attribution: name(1).repeat(50) }],
    })
    expect(page.errors).toEqual([])
    expect(Buffer.byteLength(page.source)).toBeLessThan(2048 * KIB)
  })
})

describe('the summary as data', () => {
  it('says that nothing was counted', () => {
    expect(summaryOf(countsOf([]), REPORT_DETAILS)).toMatchObject({
      addresses: { distinct: 0, is_exact: true },
      first: null,
      bytes_sent: null,
    })
  })
})
