import { describe, expect, it } from 'vitest'
import {
  countLocation,
  emptyCounts,
  mergeCounts,
  type RunningCounts,
} from '../../../src/enrich/counting/counts.ts'
import { localeOf } from '../../../src/location/locale.ts'
import { Location } from '../../../src/location/location-table.ts'
import {
  LocalizedCountry,
  LocalizedRegion,
  SharedParts,
  Translations,
} from '../../../src/location/shared-parts.ts'
import { timezoneOf } from '../../../src/location/timezone.ts'
import { heldMemory } from '../../heap.ts'

const english = localeOf('en')
const named = (name: string): Translations => new Translations(new Map([['en', name]]))
const nowhere = { latitude: 51.5, longitude: -0.5 }

/** Places in one country and region, with cities of names as long as given. */
function citiesIn(region: string, length: number): (index: number) => Location {
  const area = new SharedParts(
    new LocalizedCountry('GB', named('United Kingdom')),
    new LocalizedRegion('GB-ENG', named(region)),
    timezoneOf(null),
  )
  return (index) => new Location(area, `${index}`.padEnd(length, 'Ж'), null, nowhere)
}

/** The counts of some lines, one for each location. */
function counted(from: number, to: number, placeOf: (index: number) => Location): RunningCounts {
  const counts = emptyCounts()
  for (let index = from; index < to; index++) countLocation(counts, placeOf(index), english, 1, true)
  counts.resolved = to - from
  return counts
}

const linesOf = (rows: ReadonlyMap<string, { count: number }>): number =>
  [...rows.values()].reduce((sum, { count }) => sum + count, 0)

describe('the counts', () => {
  it('has a row for each of more cities than there are', () => {
    const cityOf = citiesIn('Nouvelle-Aquitaine', 15)
    const counts = emptyCounts()
    const pieces = 10
    const lines = 30_000
    for (let piece = 0; piece < pieces; piece++) {
      mergeCounts(counts, counted(piece * lines, (piece + 1) * lines, cityOf))
    }
    expect(counts.cities.size).toBe(pieces * lines)
    expect(counts.overflow).toEqual({ countries: 0, regions: 0, cities: 0 })
  })

  it('of a thread are limited to some megabytes of names; the others are counted', () => {
    const counts = counted(0, 32_000, citiesIn('Ж'.repeat(250), 250))
    expect(counts.rowBytes).toBeLessThanOrEqual(2 ** 26)
    expect(counts.cities.size).toBeGreaterThan(10_000)
    expect(counts.overflow.cities).toBe(32_000 - counts.cities.size)
    // Those have no names.
    expect(linesOf(counts.cells)).toBe(32_000)
    expect(counts.countries.get('GB')?.count).toBe(32_000)
  })

  it('of a run are limited too, and exact for the names in the list', () => {
    const cityOf = citiesIn('Ж'.repeat(250), 250)
    const before = heldMemory()
    const counts = emptyCounts()
    const lines = 12_000
    for (let piece = 0; piece < 7; piece++) {
      // As from another thread: with texts of its own.
      mergeCounts(counts, structuredClone(counted(piece * lines, (piece + 1) * lines, cityOf)))
    }
    expect(counts.rowBytes).toBeLessThanOrEqual(2 ** 27)
    expect(heldMemory() - before).toBeLessThan(2 ** 27 * 1.2)
    const { size } = counts.cities
    expect(size).toBeGreaterThan(40_000)
    expect(size).toBeLessThan(100_000)
    expect(linesOf(counts.cities) + counts.overflow.cities).toBe(counts.resolved)
    // What has a row goes on being counted, and what has none gets none.
    mergeCounts(counts, counted(0, lines, cityOf))
    expect(counts.cities.size).toBe(size)
    expect(linesOf(counts.cities)).toBe(size + lines)
    const unlisted = counts.overflow.cities
    mergeCounts(counts, counted(900_000, 900_010, cityOf))
    expect(counts.overflow.cities).toBe(unlisted + 10)
    expect(linesOf(counts.countries)).toBe(counts.resolved)
  })

  it('limit the names of countries and regions too', () => {
    const counts = emptyCounts()
    for (let index = 0; index < 20_000; index++) {
      const name = named(`${index}`.padEnd(500, 'x'))
      const area = new SharedParts(
        new LocalizedCountry(null, name),
        new LocalizedRegion(null, name),
        timezoneOf(null),
      )
      countLocation(counts, new Location(area, null, null, nowhere), english, 2, true)
    }
    expect(counts.rowBytes).toBeLessThanOrEqual(2 ** 26)
    expect(counts.overflow.countries).toBeGreaterThan(0)
    expect(counts.overflow.regions).toBeGreaterThan(0)
    for (const what of ['countries', 'regions'] as const) {
      expect(linesOf(counts[what]) + counts.overflow[what]).toBe(40_000)
    }
  })
})
