import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { Resolver } from '../../src/index.ts'
import { BORROW, DatabaseSet } from '../../src/location/database-set.ts'
import { localeOf } from '../../src/location/locale.ts'
import { isLookupFailure } from '../../src/location/location-record.ts'
import { BATCH_ITEMS, findLocation, lookupRecord, lookupResult } from '../../src/location/lookup.ts'
import { Database } from '../../src/mmdb/database.ts'
import { MmdbWriter, type WritableValue } from '../../src/writer.ts'
import { addressOf } from '../address/address-of.ts'
import { databaseOf } from '../own-databases.ts'

const AT = Date.UTC(2026, 5, 1)

const setOf = (record: WritableValue): DatabaseSet =>
  new DatabaseSet([new Database(databaseOf({ '81.2.69.0/24': record }, { ipVersion: 4 }))])

const set = setOf({ city: { names: { en: 'Boxford' } } })
const withoutLocations = setOf({ asn: 1 })
/** The names are too long, which is only noticed when the record is read. */
const damaged = setOf({ city: { names: { en: 'n'.repeat(1000) } } })

it('findLocation returns the reason for special-purpose addresses even without any locations', () => {
  expect(findLocation(withoutLocations, addressOf('127.0.0.1'))).toBe('loopback')
  expect(findLocation(withoutLocations, addressOf('8.8.8.8'))).toBe(withoutLocations.noLocationsError)
})

describe('lookupRecord and lookupResult', () => {
  it.each([
    ['a special-purpose address', set, '10.0.0.1'],
    ['an address that is not found', set, '8.8.8.8'],
    ['an address without a database for its family', set, '2001:4860::1'],
    ['databases without locations', withoutLocations, '81.2.69.142'],
    ['a damaged record', damaged, '81.2.69.142'],
  ])('have the same code, status and message for %s', (_, databases, ip) => {
    const result = lookupResult(databases, addressOf(ip), localeOf('en'), AT, 'socket')
    if (!isLookupFailure(result)) throw new Error('it has a location')
    const { via, ...same } = result.error
    expect([result.ip, via]).toEqual([ip, 'socket'])
    const ofAddress = same.code === 'UNRESOLVABLE_ADDRESS' && { address: ip, via }
    expect(() => lookupRecord(databases, addressOf(ip), localeOf('en'), AT, 'socket')).toThrow(
      expect.objectContaining({ ...same, ...ofAddress }),
    )
  })

  it('make a new error each time for databases without locations', () => {
    const { noLocationsError } = withoutLocations
    const isNew = (error: unknown) => error instanceof InvalidDatabaseError && error !== noLocationsError
    expect(() => lookupRecord(withoutLocations, addressOf('81.2.69.142'), localeOf('en'), AT)).toThrow(
      expect.toSatisfy(isNew),
    )
  })
})

const country = (code: string) => ({ country: { iso_code: code } })

/** Two databases, so that some addresses are only in the second one. */
const geo = Resolver.openSync([
  databaseOf({ '20.0.0.0/8': country('FR'), '2a00::/16': country('DE') }),
  databaseOf({ '20.0.0.0/7': country('GB'), '2a00::/12': country('IT') }),
])
const item = fc.oneof(
  fc.constantFrom(...'20.1.2.3 21.1.2.3 30.1.2.3 2A00::1 2a01:: 2002:1401:203::1 ::ffff:20.0.0.1'.split(' ')),
  fc.constantFrom('10.0.0.1', '::', 'nonsense', '', '020.0.0.1'),
  fc.constantFrom(null, undefined, 7, {}) as unknown as fc.Arbitrary<string>,
)

describe('lookupMany', () => {
  it('has the results of single lookups, in order, for any number of items', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 3 * BATCH_ITEMS, size: 'max' }), (items) => {
        const single = items.map((each) => geo.lookupMany([each], { at: AT })[0])
        const results = geo.lookupMany(items, { at: AT })
        expect(results).toEqual(single)
        expect(JSON.parse(JSON.stringify(structuredClone(results)))).toEqual(results)
      }),
      { numRuns: 20 },
    )
  })

  it('may be called by the iterable that another call reads', () => {
    function* addresses(): Generator<string> {
      for (let i = 0; i < 3 * BATCH_ITEMS; i++) {
        yield `20.0.${i >>> 8}.${i & 255}`
        if (i % 100 === 0) geo.lookupMany(['21.0.0.1', 'nonsense', '30.0.0.1'])
      }
    }
    const results = geo.lookupMany(addresses())
    expect(results.map(({ ip }) => ip)).toEqual([...addresses()])
    expect(new Set(results.map((result) => ('country' in result ? result.country.code : null)))).toEqual(
      new Set(['FR']),
    )
  })

  it('throws what the iterable throws, and then goes on', () => {
    function* addresses(): Generator<string> {
      yield '20.0.0.1'
      throw new RangeError('broken off')
    }
    expect(() => geo.lookupMany(addresses())).toThrow('broken off')
    expect(geo.lookupMany(['21.0.0.1'])).toMatchObject([{ country: { code: 'GB' } }])
  })

  it('is right for a database whose locations do not fit in memory all at once', () => {
    const writer = new MmdbWriter({ databaseType: 'Greedy', aliases: false })
    const name = (index: number): string => `${index} `.padEnd(500, 'long')
    const count = 8 * BATCH_ITEMS
    for (let index = 0; index < count; index++) {
      const names = Object.fromEntries(
        Array.from({ length: 15 }, (_, at) => [`a${String.fromCharCode(97 + at)}`, name(index + at)]),
      )
      writer.insert(`20.${index >>> 8}.${index & 255}.0/24`, {
        country: { iso_code: 'GB', names: { en: `${index}`, ...names } },
        subdivisions: [{ names: { en: `${index}`, ...names } }],
      })
    }
    const greedy = Resolver.openSync(writer.toBytes())
    const ips = Array.from({ length: count }, (_, index) => `20.${index >>> 8}.${index & 255}.1`)
    for (let round = 0; round < 2; round++) {
      const names = greedy.lookupMany(ips).map((result) => ('country' in result ? result.country.name : null))
      expect(names).toEqual(ips.map((_, index) => `${index}`))
    }
    // Tables were emptied.
    expect(greedy[BORROW]().generation).toBeGreaterThan(0)
  })
})
