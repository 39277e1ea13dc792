import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { Address } from '../../src/address/address.ts'
import { RenderedLocations } from '../../src/enrich/writing/rendered-locations.ts'
import { BatchJson } from '../../src/http/batch.ts'
import { isLookupFailure, Resolver } from '../../src/index.ts'
import { BORROW, DatabaseSet } from '../../src/location/database-set.ts'
import { localeOf } from '../../src/location/locale.ts'
import { Location } from '../../src/location/location-table.ts'
import { Database } from '../../src/mmdb/database.ts'
import { DATABASE, openSample } from './service.ts'

const geo = await openSample()
const set = geo[BORROW]()
/** Some thousands of these are more than is kept. */
const LONG = 'x'.repeat(5000)
const AT = Date.UTC(2026, 5, 1)
const decoder = new TextDecoder()

const ip = fc.constantFrom(
  ...['81.2.69.142', '81.2.69.143', '133.11.93.3', '2001:4860::1', '2001:4860:0::1', '::ffff:133.11.0.1'],
  ...['198.41.0.4', '10.0.0.1', '9.9.9.9', 'nonsense', '"\u2028', '', '2002:5102:458e::'],
)
const locale = fc.constantFrom('en', 'de', 'ja', 'fr', 'pt-BR', 'zh')

describe('the JSON of a batch', () => {
  it('is that of lookupMany, whatever was asked before', () => {
    const json = new BatchJson()
    fc.assert(
      fc.property(fc.array(ip), locale, fc.constantFrom(AT, AT + 1e10), (ips, tag, at) => {
        const expected = geo.lookupMany(ips, { locale: tag, at })
        const failures: unknown[] = []
        const bytes = json.write(set, ips, localeOf(tag), at, (failure) => failures.push(failure))
        expect(decoder.decode(bytes)).toBe(JSON.stringify(expected))
        expect(failures).toEqual(expected.map((each) => (isLookupFailure(each) ? each : null)))
        const alone = ips.map((ip) => json.one(set, ip, localeOf(tag), at))
        expect(alone).toEqual(expected.map((each) => (isLookupFailure(each) ? each : JSON.stringify(each))))
      }),
    )
  })

  it('is of the databases that are given', () => {
    const json = new BatchJson()
    const other = Resolver.openSync(DATABASE.slice())[BORROW]()
    const of = (databases: DatabaseSet) =>
      decoder.decode(json.write(databases, ['81.2.69.142'], localeOf('en'), AT, () => {}))
    expect(of(other)).toBe(of(set))
    const nowhere = new DatabaseSet([])
    expect(of(nowhere)).toContain('not-found')
    expect(of(set)).toContain('London')
  })

  it('takes the numbers of emptied tables for other locations, and forgets texts that are too many', () => {
    // Each address has its own location, with a long name. The table is emptied once, and its numbers begin again.
    let places: Location[] = []
    class Endless extends DatabaseSet {
      #emptied = 0

      override get generation(): number {
        return this.#emptied
      }

      override find(address: Address): number {
        if (places.length === 1000 && this.#emptied === 0) {
          places = []
          this.#emptied++
        }
        const { shared, coordinates } = set.location(1)
        return places.push(new Location(shared, LONG + address.ipv4, null, coordinates))
      }

      override stored(): null {
        return null
      }

      override location(number: number): Location {
        const place = places[number - 1]
        if (place === undefined) throw new RangeError('no location has this number')
        return place
      }
    }
    const endless = new Endless([new Database(DATABASE)])
    const forget = vi.spyOn(RenderedLocations.prototype, 'clear')
    const json = new BatchJson()
    for (let first = 0; first < 5000; first += 500) {
      const ips = Array.from({ length: 500 }, (_, index) => {
        const n = first + index
        return `1.0.${n >> 8}.${n & 255}`
      })
      const records = JSON.parse(decoder.decode(json.write(endless, ips, localeOf('en'), AT, () => {})))
      const cities = records.map(({ city }: { city: string }) => city)
      expect(cities).toEqual(ips.map((_, index) => `${LONG}${(1 << 24) + first + index}`))
    }
    // Once for the emptied table.
    expect(forget.mock.calls.length).toBeGreaterThan(1)
  })
})
