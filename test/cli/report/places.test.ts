import { describe, expect, it } from 'vitest'
import { placesOf, reportTotals } from '../../../src/cli/report/places.ts'
import { dayHours } from '../../../src/cli/report/times.ts'
import { DETAILS } from '../../../src/enrich/count-plan.ts'
import { countriesOf, GroupTotals } from '../../../src/enrich/counting/totals.ts'
import type { EnrichOptions } from '../../../src/enrich/formats/formats.ts'
import { DatabaseSet } from '../../../src/location/database-set.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { MmdbWriter } from '../../../src/writer.ts'
import { NOTHING_ELSE } from '../../enrich/counted.ts'
import { run } from '../../enrich/world.ts'

/** The places of an input with details, and its countries as every run counts them. */
function placesIn(input: string, options: EnrichOptions, set?: DatabaseSet) {
  const { groups } = run(input, { ...options, details: true }, set && { set })
  return { ...placesOf(reportTotals(groups)), known: countriesOf(groups[0]) }
}

describe('the places', () => {
  const events = [
    ['81.2.69.142', '2026-07-01T10:30:00Z'],
    ['81.2.69.7', '2026-07-01T23:30:00Z'],
    ['1.128.1.1', '2026-07-01T18:29:59Z'],
    ['202.196.224.1', '2026-06-30T00:00:00Z'],
    ['216.160.83.56', '2026-07-02T00:00:00Z'],
    ['10.0.0.1', '2027-01-01T00:00:00Z'],
  ] as const
  const input = events.map(([ip, t]) => `${JSON.stringify({ ip, t })}\n`).join('')
  const options = { format: 'ndjson', field: 'ip', timeField: 't', locale: 'de' } as const

  it('are countries, regions, cities, cells and local hours', () => {
    const places = placesIn(input, options)
    expect([...places.countries.values()]).toMatchObject([
      { key: 'GB', name: 'Vereinigtes Königreich', within: 'GB', count: 2 },
      { key: 'IN', name: 'Indien', within: 'IN', count: 1 },
      { key: 'PH', name: 'Philippinen', within: 'PH', count: 1 },
      { key: 'US', name: 'Vereinigte Staaten', within: 'US', count: 1 },
    ])
    expect(Array.from(places.known.values())).toEqual([
      { code: 'GB', name: 'Vereinigtes Königreich', count: 2 },
      { code: 'IN', name: 'Indien', count: 1 },
      { code: 'PH', name: 'Philippinen', count: 1 },
      { code: 'US', name: 'Vereinigte Staaten', count: 1 },
    ])
    expect([...places.regions.values()]).toMatchObject([
      { within: 'GB', code: 'GB-ENG', name: 'England', count: 2 },
      { within: 'IN', code: 'IN-DL', name: 'Region "DL"', count: 1 },
      { within: 'US', code: 'US-WA', name: 'Washington', count: 1 },
    ])
    expect([...places.cities.values()]).toMatchObject([
      { within: 'GB', region: 'England', name: 'London', count: 2, located: 2 },
      { within: 'IN', region: 'Region "DL"', name: 'नई दिल्ली', count: 1, located: 1 },
      { within: 'US', region: 'Washington', name: '=HYPERLINK("x")', count: 1, located: 1 },
    ])
    expect([...places.cells.keys()].sort()).toEqual(['13,122', '28,77', '47,-123', '51,-1'])
    const london = places.cells.get('51,-1')
    expect(london?.count).toBe(2)
    expect((london?.latitudes ?? 0) / 2).toBeCloseTo(51.5142)
    expect((london?.longitudes ?? 0) / 2).toBeCloseTo(-0.0931)
    const occurred = (hours: readonly number[]) =>
      hours.flatMap((count, hour) => (count > 0 ? [[hour, count]] : []))
    // 11:30 and 00:30 in London, 23:59 in Delhi, 17:00 in Seattle; nobody knows when it is in the Philippines' middle.
    expect(occurred(dayHours(places.weekHours))).toEqual([
      [0, 1],
      [11, 1],
      [17, 1],
      [23, 1],
    ])
    // Wednesday and Thursday in London, Wednesday in Delhi and Seattle.
    expect(occurred(places.weekHours)).toEqual([
      [2 * 24 + 11, 1],
      [2 * 24 + 17, 1],
      [2 * 24 + 23, 1],
      [3 * 24, 1],
    ])
    expect(places.span).toEqual([Date.UTC(2026, 5, 30), Date.UTC(2026, 6, 2)])
  })

  it('have no hours of lines without a time of their own', () => {
    const { weekHours, span } = placesIn('{"ip":"81.2.69.142"}\n', { format: 'ndjson' })
    expect([Math.max(...weekHours), span]).toEqual([0, null])
  })

  it('say what has no row', () => {
    const totals = DETAILS.map((plan) => new GroupTotals(plan))
    const none = { values: [[]], groups: new Int32Array(), counts: new Float64Array() }
    totals[0]?.add({ ...NOTHING_ELSE, ...none, other: 5 })
    expect(placesOf(reportTotals(totals)).unlisted).toBe(5)
  })

  it('have as much of locations as is known', () => {
    const writer = new MmdbWriter({ databaseType: 'Sparse' })
      .insert('1.0.0.0/8', { city: { names: { en: 'Somewhere' } } })
      .insert('2.0.0.0/8', { location: { latitude: 1.5, longitude: 2.5 } })
      .insert('3.0.0.0/8', {
        country: { names: { en: 'Atlantis' } },
        subdivisions: [{ names: { en: 'East' } }],
      })
    const set = new DatabaseSet([new Database(writer.toBytes())])
    const list = ['1.1.1.1', '2.2.2.2', '10.0.0.1', '3.3.3.3', '3.3.3.4'].join('\n')
    const places = placesIn(list, { format: 'list' }, set)
    expect([...places.known]).toEqual([
      ['', { code: null, name: null, count: 2 }],
      ['Atlantis', { code: null, name: 'Atlantis', count: 2 }],
    ])
    expect([...places.countries.values()]).toMatchObject([
      { key: '', name: '', count: 2 },
      { key: 'Atlantis', name: 'Atlantis', within: null, count: 2 },
    ])
    expect([...places.regions.values()]).toMatchObject([{ within: null, code: null, name: 'East', count: 2 }])
    expect([...places.cities.values()]).toMatchObject([{ name: 'Somewhere', located: 0, count: 1 }])
    expect([...places.cells.values()]).toMatchObject([
      { key: '1,2', latitudes: 1.5, longitudes: 2.5, count: 1 },
    ])
  })
})
