import fc from 'fast-check'
import { Reader } from 'mmdb-lib'
import { describe, expect, it } from 'vitest'
import { formatIPv4, formatIPv6 } from '../../src/address/ip-text.ts'
import { isLookupFailure, type LocationRecord, Resolver } from '../../src/index.ts'
import { Database } from '../../src/mmdb/database.ts'
import { countNetworks } from '../../src/mmdb/networks.ts'
import { verify } from '../../src/mmdb/verify.ts'
import { float, MmdbWriter, pack, type SlimOptions, slim } from '../../src/writer.ts'
import { effort } from '../effort.ts'
import { geoip2Records } from '../fuzz/sample-databases.ts'
import { mappedRecord, type SourceRecord, SUMMER } from '../location/mapped-record.ts'
import { visitNetworks } from '../mmdb/every-network.ts'
import { databaseOf, databaseWith } from '../own-databases.ts'

/** What a lookup in the slimmed database must give for a record of the original; `null` for no location. */
function projected(record: LocationRecord, { fields, countries }: SlimOptions): LocationRecord | null {
  const { ip, country, region, city, postal_code, coordinates, timezone } = record
  const has = (field: (typeof ALL)[number]): boolean => fields === undefined || fields.includes(field)
  if (countries !== undefined && !(country.code !== null && countries.includes(country.code))) return null
  const kept: LocationRecord = {
    ip,
    country: has('country') ? country : { code: null, name: null },
    region: has('region') ? region : { code: null, name: null },
    city: has('city') ? city : null,
    postal_code: has('postal_code') ? postal_code : null,
    coordinates: has('coordinates') ? coordinates : { latitude: null, longitude: null },
    timezone: has('timezone') ? timezone : { id: null, offset: null },
  }
  const place = [kept.country.code, kept.country.name, kept.region.code, kept.region.name]
  return [...place, kept.city, kept.coordinates.latitude].some((value) => value !== null) ? kept : null
}

const ALL = ['country', 'region', 'city', 'postal_code', 'coordinates', 'timezone'] as const

/** The first address of every network of a database. */
function addressesOf(bytes: Uint8Array): string[] {
  const addresses: string[] = []
  visitNetworks(new Database(bytes), (_, first, depth) => {
    const isIPv4 = first.length === 1 || (depth >= 96 && first.subarray(0, 3).every((word) => word === 0))
    addresses.push(isIPv4 ? formatIPv4(first.at(-1) ?? 0) : formatIPv6(first))
  })
  return addresses
}

/** Whether the oracle has the same values: it knows no fallback to other languages, and no unknown time zones. */
function isPlain({ country, subdivisions, location }: SourceRecord): boolean {
  if (location?.time_zone === 'Nowhere/Land') return false
  return [country?.names, subdivisions?.[0]?.names].every((names) => names === undefined || 'en' in names)
}

/** Compares lookups in both databases, and what mmdb-lib reads in the slimmed one. */
function compare(original: Uint8Array, options: SlimOptions, addresses: readonly string[]): void {
  const [geo, small] = [Resolver.openSync(original), Resolver.openSync(slim(original, options))]
  const reader = new Reader<Record<string, unknown>>(Buffer.from(slim(original, options)))
  for (const locale of options.locales ?? ['en', 'de', 'ja', 'pt', 'zh', 'it']) {
    for (const ip of addresses) {
      if (options.ipv4Only === true && ip.includes(':')) continue
      const before = geo.find(ip, { locale, at: SUMMER })
      const after = small.find(ip, { locale, at: SUMMER })
      if (isLookupFailure(before)) {
        expect(after).toMatchObject({ error: { reason: before.error.reason } })
        continue
      }
      const expected = projected(before, options)
      if (expected === null) {
        expect(after).toMatchObject({ ip, error: { reason: 'not-found' } })
        continue
      }
      expect(after).toEqual(expected)
      const source: SourceRecord | null = reader.get(before.ip)
      if (locale === 'en' && source?.country !== undefined && isPlain(source)) {
        expect(mappedRecord(before.ip, source, 'en')).toEqual(expected)
      }
    }
  }
}

/** Networks that overlap, and records. */
const database = fc
  .record({
    ipVersion: fc.constantFrom(4, 6),
    networks: fc.array(
      fc.tuple(fc.boolean(), fc.nat(0xffff), fc.integer({ min: 8, max: 32 }), geoip2Records),
      {
        minLength: 1,
        maxLength: 12,
      },
    ),
  })
  .map(({ ipVersion, networks }) => {
    const writer = new MmdbWriter({ databaseType: 'Random', ipVersion: ipVersion === 4 ? 4 : 6 })
    // Some record has a field, or it is not a database of locations.
    writer.insert('1.0.0.0/8', { country: { iso_code: 'AU' } })
    const masked = (word: number, length: number): number =>
      length === 0 ? 0 : (word & (0xffffffff << (32 - length))) >>> 0
    for (const [isIPv6, bits, length, value] of networks) {
      if (isIPv6 && ipVersion === 6) {
        const words = Uint32Array.of(masked(0x2a000000 + bits * 997, length), 0, 0, 0)
        writer.insert(`${formatIPv6(words)}/${length}`, value)
      } else writer.insert(`${formatIPv4(masked(0x50000000 + bits * 997, length))}/${length}`, value)
    }
    return writer.toBytes()
  })

const options: fc.Arbitrary<SlimOptions> = fc.record(
  {
    fields: fc
      .subarray([...ALL], { minLength: 1 })
      .filter((fields) => fields.some((field) => field !== 'postal_code' && field !== 'timezone')),
    locales: fc.subarray(['en', 'de', 'pt', 'zh', 'it'], { minLength: 1 }),
    countries: fc.subarray(['GB', 'US', 'DE'], { minLength: 1 }),
    ipv4Only: fc.boolean(),
  },
  { requiredKeys: [] },
)

describe('slim', () => {
  it('gives what a lookup in the original gives, for the kept fields', () => {
    fc.assert(
      fc.property(database, options, (original, each) => {
        compare(original, each, addressesOf(original))
      }),
      { numRuns: effort({ short: 25, long: 100 }) },
    )
  })

  it('gives the same file for the same input, a valid one', () => {
    fc.assert(
      fc.property(database, options, (original, each) => {
        const bytes = slim(original, each)
        expect(slim(pack(original), each)).toEqual(bytes)
        expect(verify(new Database(bytes)).faults).toEqual([])
      }),
      { numRuns: effort({ short: 6, long: 20 }) },
    )
  })

  it('reads every known schema, and writes that of GeoIP2', () => {
    const flat = databaseWith({
      country: 'GB',
      region: 'England',
      city: 'London',
      loc: '51.5,-0.1',
      postal: 'EC1A',
      timezone: 'Europe/London',
    })
    const bytes = slim(flat)
    compare(flat, {}, ['81.2.69.142', '8.8.8.8'])
    expect(new Reader(Buffer.from(bytes)).get('81.2.69.142')).toEqual({
      city: { names: { en: 'London' } },
      country: { iso_code: 'GB' },
      location: { latitude: 51.5, longitude: Math.fround(-0.1), time_zone: 'Europe/London' },
      postal: { code: 'EC1A' },
      subdivisions: [{ names: { en: 'England' } }],
    })
  })
})

const LONDON = {
  city: { names: { en: 'London', de: 'London' } },
  country: {
    iso_code: 'GB',
    names: { en: 'United Kingdom', de: 'Vereinigtes Königreich', 'pt-BR': 'Reino Unido' },
  },
  subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
}
const SAMPLE = new MmdbWriter({
  databaseType: 'Sample-City',
  languages: ['en', 'de', 'pt-BR'],
  description: { en: 'A sample', de: 'Eine Probe' },
  buildDate: new Date('2026-02-03T04:05:06Z'),
})
  .insert('81.2.69.0/25', LONDON)
  .insert('81.2.69.128/25', { ...LONDON, city: { names: { en: 'Leeds' } } })
  .insert('2001:4860::/32', { country: { iso_code: 'US', names: { en: 'United States' } } })
  .toBytes()

describe('what slim keeps', () => {
  const readerOf = (each: SlimOptions): Reader<Record<string, unknown>> =>
    new Reader(Buffer.from(slim(SAMPLE, each)))

  it('is in the metadata', () => {
    const { metadata } = new Database(slim(SAMPLE, { fields: ['country'], locales: ['pt', 'de'] }))
    expect(metadata).toMatchObject({
      databaseType: 'Sample-City',
      buildDate: new Date('2026-02-03T04:05:06Z'),
      ipVersion: 6,
      languages: ['de', 'en', 'pt-BR'],
      description: {
        en: 'A sample (changed with Geofix: only country; names in pt, de)',
        de: 'Eine Probe',
      },
    })
  })

  it('is every alias, for readers that do not decode addresses', () => {
    const reader = readerOf({ fields: ['country'], locales: ['en'] })
    const expected = { country: { iso_code: 'GB', names: { en: 'United Kingdom' } } }
    expect(reader.get('::ffff:81.2.69.142')).toEqual(expected)
    expect(reader.getWithPrefixLength('81.2.69.142')).toEqual([expected, 24])
  })

  it('is the name that lookups use instead, if a place has none in the languages', () => {
    expect(readerOf({ fields: ['region'], locales: ['de'] }).get('81.2.69.142')).toEqual({
      subdivisions: [{ iso_code: 'GB-ENG', names: { en: 'England' } }],
    })
  })

  it('has doubles where a 32-bit float would be another number', () => {
    const location = { latitude: float(51.5), longitude: 0.1234567890123 }
    const geo = Resolver.openSync(slim(databaseOf({ '1.0.0.0/8': { location } })))
    expect(geo.lookup('1.1.1.1').coordinates).toEqual({ latitude: 51.5, longitude: 0.1234567890123 })
  })

  it('keeps the code of a region whose country has none', () => {
    const record = { country: { names: { en: 'Somewhere' } }, subdivisions: [{ iso_code: 'AU-NSW' }] }
    const original = databaseOf({ '1.0.0.0/8': record, '2.0.0.0/8': { country: { iso_code: 'AU' } } })
    const [before, after] = [original, slim(original)].map((each) =>
      Resolver.openSync(each).lookup('1.1.1.1'),
    )
    expect(after).toEqual(before)
    expect(before?.region.code).toBe('AU-NSW')
  })

  it('is an IPv4 tree with ipv4Only', () => {
    const reader = readerOf({ ipv4Only: true, countries: ['gb'] })
    expect(reader.metadata.ipVersion).toBe(4)
    expect(reader.get('81.2.69.1')).toMatchObject({ city: { names: { en: 'London' } } })
    const geo = Resolver.openSync(slim(SAMPLE, { ipv4Only: true }))
    expect(() => geo.lookup('2001:4860::1')).toThrow('no database for IPv6 is open')
  })

  it('can be nothing', () => {
    const geo = Resolver.openSync(slim(SAMPLE, { countries: ['FR'] }))
    expect(() => geo.lookup('81.2.69.142')).toThrow('the database has none for it')
    expect(countNetworks(new Database(slim(databaseOf({}))))).toBe(0)
  })

  it('is nothing for IPv4 if the original has none', () => {
    const bytes = slim(databaseOf({ '2a00::/16': LONDON }, { aliases: false }), { ipv4Only: true })
    expect(countNetworks(new Database(bytes))).toBe(0)
  })
})

describe('slim refuses', () => {
  it.each<[object, string]>([
    [{ fields: [] }, 'fields must be an array with at least one text'],
    [{ fields: ['country', 'zip'] }, '"zip" is not a field: write one of country, region, city, postal_code'],
    [{ fields: ['timezone'] }, 'fields must have one of country, region, city, coordinates'],
    [{ locales: [] }, 'locales must be an array'],
    [{ locales: ['e n'] }, 'is not a BCP 47 language tag'],
    [{ countries: ['Germany'] }, '"Germany" is not an ISO 3166-1 alpha-2 code: write one such as DE'],
    [{ ipv4Only: 1 }, 'ipv4Only must be true or false'],
  ])('the options %j', (each, message) => {
    expect(() => slim(SAMPLE, each)).toThrow(message)
  })

  it.each([null, 7, 'country'])('%j as options', (options) => {
    expect(() => Reflect.apply(slim, null, [SAMPLE, options])).toThrow('options of slim must be an object')
  })

  it('a database without locations', () => {
    expect(() => slim(databaseWith({ autonomous_system_number: 1 }))).toThrow('it has no locations')
  })

  it('a search tree with a loop', () => {
    const looped = Uint8Array.from(SAMPLE)
    // The left record of the root leads back to the root.
    looped.fill(0, 0, 3)
    expect(() => slim(looped)).toThrow('paths of more than 128 bits')
  })

  it('names that cannot be written', () => {
    const key = '__pr0to__'
    const hostile = new MmdbWriter({ databaseType: 'Hostile' }).insert('1.0.0.0/8', {
      country: { iso_code: 'DE', names: { [key]: 'Germany' } },
    })
    const text = Buffer.from(hostile.toBytes()).toString('latin1').replace(key, '__proto__')
    expect(() => slim(Buffer.from(text, 'latin1'))).toThrow(
      /^The database: it cannot be written in another form: .*__proto__/,
    )
  })
})
