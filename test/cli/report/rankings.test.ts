import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MOST_ROWS, ranked, rankedOf } from '../../../src/cli/report/ranked.ts'
import { MAX_ROWS } from '../../../src/cli/report/rankings.ts'
import { attribute, countsOf, Page, type SampleLocation, textOf, within } from './sample.ts'

/** The cells of the rows of a table. */
function rows(page: Page, title: string): string[][] {
  return within(page.card(title), 'tr')
    .slice(1)
    .map((row) => row.childNodes.map(textOf).filter((text) => text !== ''))
}

const SOME: SampleLocation[] = [
  { country: 'GB', name: 'United Kingdom', region: 'England', city: 'London', count: 30 },
  { country: 'US', name: 'United States', region: 'Texas', city: 'Austin', count: 50 },
  { country: 'FR', name: null, region: null, city: null, count: 20 },
]

describe('the tables', () => {
  it('have countries, regions and cities with lines and shares, sorted by lines', () => {
    const page = Page.of(countsOf(SOME))
    expect(rows(page, 'Countries')).toEqual([
      ['United States US', '50', '50.0%'],
      ['United Kingdom GB', '30', '30.0%'],
      ['FR', '20', '20.0%'],
    ])
    expect(rows(page, 'Regions')).toEqual([
      ['Texas US', '50', '50.0%'],
      ['England GB', '30', '30.0%'],
      ['Unknown region', '20', '20.0%'],
    ])
    expect(rows(page, 'Cities')).toEqual([
      ['Austin US', '50', '50.0%'],
      ['London GB', '30', '30.0%'],
      ['Unknown city', '20', '20.0%'],
    ])
  })

  it('say how many lines are in locations that were too many to list', () => {
    const page = Page.of({ ...countsOf(SOME), lines: 160, resolved: 160, unlisted: 60 })
    expect(rows(page, 'Regions').slice(2)).toEqual([
      ['Further regions, too many to list', '60', '37.5%'],
      ['Unknown region', '20', '12.5%'],
    ])
    expect(rows(page, 'Cities').slice(2)).toEqual([
      ['Further cities, too many to list', '60', '37.5%'],
      ['Unknown city', '20', '12.5%'],
    ])
    expect(textOf(page.card('Cities'))).toContain('over 2')
    expect(textOf(Page.of(countsOf(SOME)).card('Cities'))).not.toContain('over')
    expect(page.texts('span', 'detail')).toContain('over 2 regions, over 2 cities')
  })

  it('have a row for unlisted locations also if none is listed', () => {
    const counts = countsOf([{ country: 'FR', count: 20 }])
    expect(rows(Page.of({ ...counts, unlisted: 20 }), 'Cities')).toEqual([
      ['Further cities, too many to list', '20', '100%'],
    ])
  })

  it('have bars in proportion to the first row', () => {
    const bars = within(Page.of(countsOf(SOME)).card('Countries'), 'rect')
    expect(bars.map((bar) => attribute(bar, 'width'))).toEqual(['100%', '60%', '40%'])
  })

  it('sum up the rows after the first ones', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({
      country: `${index}`,
      name: `Land ${index}`,
      count: 100 - index,
    }))
    const shown = rows(Page.of(countsOf(many)), 'Countries')
    const rest = many.slice(MAX_ROWS).reduce((sum, { count }) => sum + count, 0)
    expect(shown[MAX_ROWS]?.slice(0, 2)).toEqual(['25 other countries', rest.toLocaleString('en')])
    // The rows that a reader opens follow, after their header.
    expect(shown.slice(MAX_ROWS + 2).map(([name]) => name)).toEqual(
      many.slice(MAX_ROWS).map(({ name, country }) => `${name} ${country}`),
    )
    expect(shown).toHaveLength(many.length + 2)
    const all = shown
      .slice(0, MAX_ROWS + 1)
      .reduce((sum, [, count = '']) => sum + Number(count.replace(',', '')), 0)
    expect(all).toBe(many.reduce((sum, { count }) => sum + count, 0))
  })

  it('use the singular for one other', () => {
    const many = Array.from({ length: MAX_ROWS + 1 }, (_, index) => ({ country: `${index}`, count: 9 }))
    expect(rows(Page.of(countsOf(many)), 'Countries')[MAX_ROWS]?.[0]).toBe('1 other country')
  })

  it('have locations with the same name in the order of their keys', () => {
    const twins = ['Illinois', 'Ohio'].map((key) => ({ name: 'Springfield', key, count: 2 }))
    expect(ranked(twins)).toEqual(twins)
    expect(ranked(twins.toReversed())).toEqual(twins)
  })

  it('say that there is nothing', () => {
    const page = Page.of(countsOf([{ country: null, count: 3 }]))
    expect(textOf(page.card('Countries'))).toBe('Countries No line has a country.'.replace(' ', ''))
    expect(page.all('table', 'ranking')).toEqual([])
  })

  it('have a heading for each column', () => {
    const [table] = within(Page.of(countsOf(SOME)).card('Countries'), 'table')
    const headers = table === undefined ? [] : within(table, 'th')
    expect(headers.filter((th) => attribute(th, 'scope') === 'col').map(textOf)).toEqual([
      'country',
      'Lines',
      'Share',
    ])
    expect(headers.filter((th) => attribute(th, 'scope') === undefined)).toEqual([])
  })
})

it('ranks as sorting all rows does, also if many have the same count', () => {
  const some = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 400 })
  const many = fc.constant(Array.from({ length: 12_000 }, (_, index) => (index % 97 === 0 ? 2 : 1)))
  fc.assert(
    fc.property(fc.oneof({ arbitrary: some, weight: 20 }, many), fc.nat(3), (counts, other) => {
      const nameOf = (index: number) => String((index * 7919) % 12_007).padStart(5, '0')
      const rest = { addresses: null, within: null, bytes: null }
      const asked: number[] = []
      const ranked = rankedOf(Float64Array.from(counts), other, (index) => {
        asked.push(index)
        return { name: nameOf(index), ...rest }
      })
      const sorted = counts
        .map((count, index) => ({ name: nameOf(index), count, ...rest }))
        .sort((a, b) => b.count - a.count || Number(a.name) - Number(b.name))
      expect(ranked.rows).toEqual(sorted.slice(0, MOST_ROWS))
      expect(ranked.all).toBe(counts.length)
      const lines = counts.reduce((sum, count) => sum + count, other)
      expect(ranked.rows.reduce((sum, { count }) => sum + count, ranked.otherLines)).toBe(lines)
      expect(ranked.isExact).toBe(other === 0)
      // No row is made that a smaller count keeps out.
      const least = sorted[MOST_ROWS - 1]?.count ?? 0
      expect(asked.every((index) => (counts[index] ?? 0) >= least)).toBe(true)
    }),
  )
})
