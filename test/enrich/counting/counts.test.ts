import { describe, expect, it } from 'vitest'
import { queriesOf } from '../../../src/enrich/count-plan.ts'
import { emptyCounts } from '../../../src/enrich/counting/counts.ts'
import type { GroupPart } from '../../../src/enrich/counting/groups.ts'
import { RunTotals } from '../../../src/enrich/counting/totals.ts'
import { NO_CODE, Tuples } from '../../../src/enrich/counting/values.ts'
import { LineCounter } from '../../../src/enrich/locating/line-counter.ts'
import { LineLocator } from '../../../src/enrich/locating/line-locator.ts'
import { commonPlan } from '../../../src/enrich/options.ts'
import { DatabaseSet } from '../../../src/location/database-set.ts'
import { localeOf } from '../../../src/location/locale.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { MmdbWriter } from '../../../src/writer.ts'
import { heldMemory } from '../../heap.ts'
import { NOTHING_ELSE } from '../counted.ts'
import { utf8 } from '../world.ts'

const plan = commonPlan({ details: true })
const cityOf = (name: string, index: number) => {
  return ['GB', 'United Kingdom', 'GB-ENG', name, name + index, 51.5, -0.5]
}

describe('the values of locations', () => {
  it('have room for more cities than there are', () => {
    const tuples = new Tuples()
    for (let index = 0; index < 400_000; index += 1) tuples.code(cityOf('Nouvelle-Aquitaine', index), true)
    expect(tuples.size).toBe(400_000)
  })

  it('are limited to some megabytes of names; the others have no code', () => {
    const before = heldMemory()
    const tuples = new Tuples()
    const name = 'Ж'.repeat(250)
    for (let index = 0; index < 120_000; index++) tuples.code(cityOf(name, index), true)
    expect(tuples.size).toBeGreaterThan(80_000)
    expect(tuples.size).toBeLessThan(100_000)
    expect(heldMemory() - before).toBeLessThan(2 ** 28)
    // What has a code keeps it.
    expect(tuples.code(cityOf(name, 7), true)).toBe(7)
    expect(tuples.code(cityOf(name, 119_999), true)).toBe(NO_CODE)
  })
})

describe('the counts', () => {
  it('are those of several threads, and say what has no row', () => {
    const totals = new RunTotals(plan)
    const part = (city: string, count: number, other: number) => ({
      values: [[['GB', 'United Kingdom', 'GB-ENG', 'England', city, 51.5, -0.5]]],
      groups: Int32Array.of(0),
      counts: Float64Array.of(count),
      ...NOTHING_ELSE,
      other,
    })
    const hours = {
      ...part('', 3, 0),
      values: [
        [
          [null, null],
          [6, 5],
        ],
      ],
      groups: Int32Array.of(1),
    }
    const added = (...parts: readonly GroupPart[]): void => totals.add(structuredClone(parts))
    added(part('London', 4, 5), { ...hours, span: [10, 20] as const })
    added(part('Leeds', 9, 0), { ...hours, span: [5, 15] as const })
    added(part('London', 9, 0), hours)
    const counts = emptyCounts()
    totals.addTo(counts)
    expect([...counts.countries]).toEqual([['GB', { code: 'GB', name: 'United Kingdom', count: 22 }]])
    expect([...counts.regions.values()]).toEqual([
      { country: 'GB', code: 'GB-ENG', name: 'England', count: 22 },
    ])
    expect(Array.from(counts.cities.values(), ({ name, count }) => [name, count])).toEqual([
      ['London', 13],
      ['Leeds', 9],
    ])
    expect([...counts.cells]).toEqual([['51,-1', { latitudes: 22 * 51.5, longitudes: -11, count: 22 }]])
    expect(counts.overflow).toEqual({ countries: 5, regions: 5, cities: 5 })
    expect(counts.hours[5]).toBe(9)
    expect(counts.weekHours[6 * 24 + 5]).toBe(9)
    expect([counts.firstInstant, counts.lastInstant]).toEqual([5, 20])
  })

  it('have details of locations as far as they are known', () => {
    const writer = new MmdbWriter({ databaseType: 'Sparse' })
      .insert('1.0.0.0/8', { city: { names: { en: 'Somewhere' } } })
      .insert('2.0.0.0/8', { location: { latitude: 1.5, longitude: 2.5 } })
      .insert('3.0.0.0/8', {
        country: { names: { en: 'Atlantis' } },
        subdivisions: [{ names: { en: 'East' } }],
      })
    const set = new DatabaseSet([new Database(writer.toBytes())])
    const countsOf = (own: typeof plan) => {
      const locator = new LineLocator(set, own)
      const counter = new LineCounter(queriesOf(own), locator, null, localeOf('en'))
      for (const ip of ['1.1.1.1', '2.2.2.2', '10.0.0.1', '3.3.3.3', '3.3.3.4']) {
        locator.locate(utf8(ip), 0, ip.length)
        counter.count()
      }
      const totals = new RunTotals(own)
      const counts = emptyCounts()
      totals.add(counter.take())
      // Each is given once.
      totals.add(counter.take())
      totals.addTo(counts)
      return counts
    }
    const counts = countsOf(plan)
    const { countries, ...others } = countsOf(commonPlan({}))
    expect(countries).toEqual(counts.countries)
    expect(others).toEqual({ ...emptyCounts(), countries: undefined })
    expect([...counts.countries.values()]).toEqual([
      { code: null, name: null, count: 2 },
      { code: null, name: 'Atlantis', count: 2 },
    ])
    expect([...counts.regions.values()]).toEqual([{ country: null, code: null, name: 'East', count: 2 }])
    expect([...counts.cities.values()]).toEqual([
      expect.objectContaining({ name: 'Somewhere', located: 0, count: 1 }),
    ])
    expect([...counts.cells]).toEqual([['1,2', { latitudes: 1.5, longitudes: 2.5, count: 1 }]])
  })
})
