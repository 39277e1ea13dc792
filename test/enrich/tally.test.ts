import { describe, expect, it } from 'vitest'
import { countPlace } from '../../src/enrich/count.ts'
import { emptyTally, mergeTally, type Tally } from '../../src/enrich/tally.ts'
import { localeOf } from '../../src/location/locale.ts'
import { Location } from '../../src/location/location.ts'
import { LocalizedCountry, LocalizedRegion, SharedParts } from '../../src/location/shared-parts.ts'
import { timezoneOf } from '../../src/location/timezone.ts'
import { Translations } from '../../src/location/translations.ts'
import { heldMemory } from '../heap.ts'

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

/** The tally of some lines, one for each place. */
function counted(from: number, to: number, placeOf: (index: number) => Location): Tally {
  const tally = emptyTally()
  for (let index = from; index < to; index++) countPlace(tally, placeOf(index), english, 1, true)
  tally.resolved = to - from
  return tally
}

const linesOf = (rows: ReadonlyMap<string, { count: number }>): number =>
  [...rows.values()].reduce((sum, { count }) => sum + count, 0)

describe('a tally', () => {
  it('has a row for each of more cities than there are', () => {
    const cityOf = citiesIn('Nouvelle-Aquitaine', 15)
    const tally = emptyTally()
    const pieces = 10
    const lines = 30_000
    for (let piece = 0; piece < pieces; piece++) {
      mergeTally(tally, counted(piece * lines, (piece + 1) * lines, cityOf))
    }
    expect(tally.cities.size).toBe(pieces * lines)
    expect(tally.unlisted).toEqual({ countries: 0, regions: 0, cities: 0 })
  })

  it('of one piece lists no more than some megabytes of names, and counts the others', () => {
    const tally = counted(0, 32_000, citiesIn('Ж'.repeat(250), 250))
    expect(tally.weight).toBeLessThanOrEqual(2 ** 25)
    expect(tally.cities.size).toBeGreaterThan(10_000)
    expect(tally.unlisted.cities).toBe(32_000 - tally.cities.size)
    // Those have no names.
    expect(linesOf(tally.cells)).toBe(32_000)
    expect(tally.countries.get('GB')?.count).toBe(32_000)
  })

  it('of a run is bounded too, and exact in what it lists', () => {
    const cityOf = citiesIn('Ж'.repeat(250), 250)
    const before = heldMemory()
    const tally = emptyTally()
    const lines = 12_000
    for (let piece = 0; piece < 10; piece++) {
      // As from another thread: with texts of its own.
      mergeTally(tally, structuredClone(counted(piece * lines, (piece + 1) * lines, cityOf)))
    }
    expect(tally.weight).toBeLessThanOrEqual(2 ** 27)
    expect(heldMemory() - before).toBeLessThan(2 ** 27 * 1.2)
    const { size } = tally.cities
    expect(size).toBeGreaterThan(40_000)
    expect(size).toBeLessThan(100_000)
    expect(linesOf(tally.cities) + tally.unlisted.cities).toBe(tally.resolved)
    // What has a row goes on being counted, and what has none gets none.
    mergeTally(tally, counted(0, lines, cityOf))
    expect(tally.cities.size).toBe(size)
    expect(linesOf(tally.cities)).toBe(size + lines)
    const unlisted = tally.unlisted.cities
    mergeTally(tally, counted(900_000, 900_010, cityOf))
    expect(tally.unlisted.cities).toBe(unlisted + 10)
    expect(linesOf(tally.countries)).toBe(tally.resolved)
  })

  it('bounds countries and regions with them', () => {
    const tally = emptyTally()
    for (let index = 0; index < 20_000; index++) {
      const name = named(`${index}`.padEnd(500, 'x'))
      const area = new SharedParts(
        new LocalizedCountry(null, name),
        new LocalizedRegion(null, name),
        timezoneOf(null),
      )
      countPlace(tally, new Location(area, null, null, nowhere), english, 2, true)
    }
    expect(tally.weight).toBeLessThanOrEqual(2 ** 25)
    expect(tally.unlisted.countries).toBeGreaterThan(0)
    expect(tally.unlisted.regions).toBeGreaterThan(0)
    for (const what of ['countries', 'regions'] as const) {
      expect(linesOf(tally[what]) + tally.unlisted[what]).toBe(40_000)
    }
  })
})
