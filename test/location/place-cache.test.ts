import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { coordinatesOf } from '../../src/location/coordinates.ts'
import { Location } from '../../src/location/location.ts'
import { LocalizedCountry, LocalizedRegion } from '../../src/location/named-part.ts'
import { LocationCache } from '../../src/location/place-cache.ts'
import { type SharedParts, SharedPartsTable } from '../../src/location/shared-parts.ts'
import { timezoneOf } from '../../src/location/timezone.ts'
import { Translations } from '../../src/location/translations.ts'

const noNames = new Translations(new Map())
const areas: readonly SharedParts[] = ['Europe/Paris', 'Asia/Tokyo'].map((zone) =>
  new SharedPartsTable().of(
    new LocalizedCountry('FR', noNames),
    new LocalizedRegion('FR-BRE', noNames),
    timezoneOf(zone),
  ),
)
const [area] = areas
if (area === undefined) throw new Error('there is no area')

const place = (city: string | null, latitude = 48.1, postalCode: string | null = null, where = area) =>
  new Location(where, city, postalCode, coordinatesOf(latitude, -1.7))

describe('PlaceCache', () => {
  it('tells a record that is no location from one that it does not know', () => {
    const cache = new LocationCache()
    expect(cache.get(20)).toBeUndefined()
    expect(cache.keep(20, null)).toBeNull()
    expect(cache.get(20)).toBeNull()
    expect(cache.get(21)).toBeUndefined()
  })

  it('keeps equal places once', () => {
    const cache = new LocationCache()
    const first = place('Rennes')
    expect(cache.keep(100, first)).toBe(first)
    expect(cache.keep(200, place('Rennes'))).toBe(first)
    expect(cache.get(200)).toBe(first)
  })

  it.each([
    ['city', place('Brest')],
    ['postal code', place('Rennes', 48.1, '35000')],
    ['latitude', place('Rennes', 48.2)],
    ['area', place('Rennes', 48.1, null, areas[1])],
    ['city, as it has none', place(null)],
  ])('keeps apart what differs in the %s', (_, other) => {
    const cache = new LocationCache()
    cache.keep(100, place('Rennes'))
    expect(cache.keep(200, other)).toBe(other)
    expect(cache.get(200)).toBe(other)
    expect(cache.get(100)?.city).toBe('Rennes')
  })

  it('gives what was kept last under an offset, or nothing', () => {
    const offsets = fc.array(fc.nat(2 ** 31 - 2), { minLength: 1, maxLength: 500 })
    fc.assert(
      fc.property(offsets, (asked) => {
        const cache = new LocationCache()
        const kept = new Map<number, Location>()
        for (const [i, offset] of asked.entries()) {
          if (kept.has(offset + 1)) continue
          kept.set(offset + 1, cache.keep(offset + 1, place(`City ${i % 7}`, i % 5)) ?? place(null))
        }
        // Far fewer than there are slots: all are there.
        for (const [offset, expected] of kept) expect(cache.get(offset)).toBe(expected)
      }),
      { numRuns: 20 },
    )
  })

  it('forgets records beyond its size, and never takes one for another', () => {
    const cache = new LocationCache()
    const cities = Array.from({ length: 1000 }, (_, i) => place(`City ${i}`, i / 20))
    const count = 600_000
    for (let i = 1; i <= count; i++) cache.keep(i * 37, cities[i % 1000] ?? null)
    let known = 0
    for (let i = 1; i <= count; i++) {
      const found = cache.get(i * 37)
      if (found === undefined) continue
      known++
      if (found?.city !== `City ${i % 1000}`) expect([i, found?.city]).toEqual([i, `City ${i % 1000}`])
    }
    // 2^18 slots, of which those of a crowded window change hands.
    expect(known).toBeGreaterThan(200_000)
    expect(known).toBeLessThanOrEqual(2 ** 18 + 8)
    for (let offset = 1; offset < 37; offset++) expect(cache.get(offset)).toBeUndefined()
  })
})
