import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../src/index.ts'
import { coordinatesOf, Location } from '../../src/location/location.ts'
import { LocationCache } from '../../src/location/location-table.ts'
import {
  LocalizedCountry,
  LocalizedRegion,
  type SharedParts,
  SharedPartsTable,
} from '../../src/location/shared-parts.ts'
import { timezoneOf } from '../../src/location/timezone.ts'
import { Translations } from '../../src/location/translations.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { heldMemory } from '../heap.ts'

const noNames = new Translations(new Map())
const sharedParts: readonly SharedParts[] = ['Europe/Paris', 'Asia/Tokyo'].map((zone) =>
  new SharedPartsTable().of(
    new LocalizedCountry('FR', noNames),
    new LocalizedRegion('FR-BRE', noNames),
    timezoneOf(zone),
  ),
)
const [shared] = sharedParts
if (shared === undefined) throw new Error('no shared parts')

const locationIn = (city: string | null, latitude = 48.1, postalCode: string | null = null, parts = shared) =>
  new Location(parts, city, postalCode, coordinatesOf(latitude, -1.7))

describe('PlaceCache', () => {
  it('distinguishes a record that is not a location from an unknown record', () => {
    const cache = new LocationCache()
    expect(cache.get(20)).toBeUndefined()
    expect(cache.set(20, null)).toBeNull()
    expect(cache.get(20)).toBeNull()
    expect(cache.get(21)).toBeUndefined()
  })

  it('stores equal locations once', () => {
    const cache = new LocationCache()
    const first = locationIn('Rennes')
    expect(cache.set(100, first)).toBe(first)
    expect(cache.set(200, locationIn('Rennes'))).toBe(first)
    expect(cache.get(200)).toBe(first)
  })

  it.each([
    ['city', locationIn('Brest')],
    ['postal code', locationIn('Rennes', 48.1, '35000')],
    ['latitude', locationIn('Rennes', 48.2)],
    ['shared parts', locationIn('Rennes', 48.1, null, sharedParts[1])],
    ['city, which is missing', locationIn(null)],
  ])('stores locations that differ in the %s separately', (_, other) => {
    const cache = new LocationCache()
    cache.set(100, locationIn('Rennes'))
    expect(cache.set(200, other)).toBe(other)
    expect(cache.get(200)).toBe(other)
    expect(cache.get(100)?.city).toBe('Rennes')
  })

  it('returns what was stored last for an offset', () => {
    const offsets = fc.array(fc.nat(2 ** 31 - 2), { minLength: 1, maxLength: 500 })
    fc.assert(
      fc.property(offsets, (asked) => {
        const cache = new LocationCache()
        const kept = new Map<number, Location>()
        for (const [i, offset] of asked.entries()) {
          if (kept.has(offset + 1)) continue
          kept.set(offset + 1, cache.set(offset + 1, locationIn(`City ${i % 7}`, i % 5)) ?? locationIn(null))
        }
        // Far fewer than the slots, so all are still there.
        for (const [offset, expected] of kept) expect(cache.get(offset)).toBe(expected)
      }),
      { numRuns: 20 },
    )
  })

  it('evicts records beyond its size and never confuses two', () => {
    const cache = new LocationCache()
    const cities = Array.from({ length: 1000 }, (_, i) => locationIn(`City ${i}`, i / 20))
    const count = 600_000
    for (let i = 1; i <= count; i++) cache.set(i * 37, cities[i % 1000] ?? null)
    let known = 0
    for (let i = 1; i <= count; i++) {
      const found = cache.get(i * 37)
      if (found === undefined) continue
      known++
      if (found?.city !== `City ${i % 1000}`) expect([i, found?.city]).toEqual([i, `City ${i % 1000}`])
    }
    // There are 2^18 slots; full ones are reused.
    expect(known).toBeGreaterThan(200_000)
    expect(known).toBeLessThanOrEqual(2 ** 18 + 8)
    for (let offset = 1; offset < 37; offset++) expect(cache.get(offset)).toBeUndefined()
  })
})

const RECORDS = 6000
/** Without a limit these locations would take nearly 80 MB. */
const MAX_HELD_BYTES = 50_000_000

const networkOf = (index: number): string => `${20 + (index >>> 8)}.${index & 255}`

/** The file stores each text once, so a hundred pointers to them in each record take little space. */
const texts = Array.from({ length: 500 }, (_, index) => `${index} `.padEnd(70, 'long'))
const LETTERS = [...'abcdefghij']
const languages = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
const nameOf = (index: number, language: number): string =>
  texts[(index * 7 + language * (1 + (index % 13))) % texts.length] ?? ''

describe('LocationTable of a hostile database', () => {
  it('stays within its memory limit and returns correct locations', () => {
    const writer = new MmdbWriter({ databaseType: 'Greedy', aliases: false })
    for (let index = 0; index < RECORDS; index++) {
      const names = Object.fromEntries(languages.map((tag, at) => [tag, nameOf(index, at)]))
      const country = { iso_code: 'GB', names }
      writer.insert(`${networkOf(index)}.0.0/16`, { country, city: { names: { en: `city ${index}` } } })
    }
    const resolver = Resolver.openSync(writer.toBytes())
    const before = heldMemory()
    for (const round of [1, 2]) {
      for (let index = 0; index < RECORDS; index++) {
        const { city, country } = resolver.lookup(`${networkOf(index)}.0.1`, { locale: languages[1] })
        if (city !== `city ${index}` || country.name !== nameOf(index, 1)) {
          throw new Error(`in round ${round} record ${index} is ${city}, ${country.name}`)
        }
        if (index % 2000 === 1999) expect(heldMemory() - before).toBeLessThan(MAX_HELD_BYTES)
      }
    }
    resolver.close()
  })
})
