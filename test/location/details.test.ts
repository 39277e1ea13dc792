import { describe, expect, it } from 'vitest'
import { Resolver as CoreResolver } from '../../src/core.ts'
import { details } from '../../src/details.ts'
import { embedded, type LocationDetails, Resolver } from '../../src/index.ts'
import { countryCodesOf } from '../../src/location/country-codes.ts'
import { pack, uint16, uint32, type WritableValue } from '../../src/writer.ts'
import { databaseOf, databaseWith } from '../own-databases.ts'

const IP = '81.2.69.142'
const detailsOf = (record: WritableValue, locale = 'en'): LocationDetails =>
  Resolver.openSync(databaseWith(record)).details(IP, { locale })

const NO_COUNTRY = { code: null, name: null }
const NOTHING: LocationDetails = {
  ip: IP,
  network: '81.2.69.0/24',
  database: 0,
  continent: { code: null, name: null },
  isInEuropeanUnion: false,
  subdivisions: [],
  geonameId: null,
  accuracyRadiusKm: null,
  metroCode: null,
  registeredCountry: NO_COUNTRY,
  representedCountry: NO_COUNTRY,
}

/** A record with all that MaxMind documents. */
const GEOIP2 = {
  city: { geoname_id: uint32(2643743), names: { en: 'London' } },
  continent: { code: 'EU', geoname_id: uint32(6255148), names: { en: 'Europe', de: 'Europa' } },
  country: { geoname_id: uint32(2635167), iso_code: 'GB', names: { en: 'United Kingdom' } },
  location: { accuracy_radius: uint16(10), latitude: 51.5, longitude: -0.1, metro_code: uint16(807) },
  registered_country: { iso_code: 'DE', is_in_european_union: true, names: { en: 'Germany' } },
  represented_country: { iso_code: 'US', type: 'military', names: { en: 'United States' } },
  subdivisions: [
    { geoname_id: uint32(6269131), iso_code: 'ENG', names: { en: 'England', fr: 'Angleterre' } },
    { geoname_id: uint32(2643741), iso_code: 'LND', names: { en: 'City of London' } },
  ],
}

const IPINFO = {
  country: 'United States',
  country_code: 'US',
  continent: 'North America',
  continent_code: 'NA',
}

describe('details', () => {
  it.each<[string, WritableValue, Partial<LocationDetails>]>([
    [
      'GeoIP2',
      GEOIP2,
      {
        continent: { code: 'EU', name: 'Europe' },
        subdivisions: [
          { code: 'GB-ENG', name: 'England', geonameId: 6269131 },
          { code: 'GB-LND', name: 'City of London', geonameId: 2643741 },
        ],
        geonameId: 2643743,
        accuracyRadiusKm: 10,
        metroCode: 807,
        registeredCountry: { code: 'DE', name: 'Germany' },
        representedCountry: { code: 'US', name: 'United States' },
      },
    ],
    [
      'IPinfo',
      {
        ...IPINFO,
        region: 'California',
        region_code: 'CA',
        geoname_id: '5375480',
        radius: '5',
        dma_code: '807',
      },
      {
        continent: { code: 'NA', name: 'North America' },
        subdivisions: [{ code: 'US-CA', name: 'California', geonameId: null }],
        geonameId: 5375480,
        accuracyRadiusKm: 5,
        metroCode: 807,
      },
    ],
    [
      'ip-location-db',
      { country_code: 'GB', state1: 'England', state2: 'Kent', city: 'Dover' },
      {
        subdivisions: [
          { code: null, name: 'England', geonameId: null },
          { code: null, name: 'Kent', geonameId: null },
        ],
      },
    ],
    [
      'a record with little',
      { country_code: 'GB', state1: 'England', state2: '' },
      { subdivisions: [{ code: null, name: 'England', geonameId: null }] },
    ],
    [
      'values of other types',
      {
        country: { iso_code: 'GB' },
        continent: 'EU',
        location: { accuracy_radius: 'far' },
        subdivisions: 'ENG',
      },
      {},
    ],
    [
      'a country of registration that is none',
      { country: { iso_code: 'GB' }, registered_country: { iso_code: 'EU', names: { en: 'Europe' } } },
      {},
    ],
  ])('has one shape: %s', (_, record, expected) => {
    expect(detailsOf(record)).toEqual({ ...NOTHING, ...expected })
  })

  it('has names in the locale, from the platform too', () => {
    expect(detailsOf(GEOIP2, 'de')).toMatchObject({
      continent: { name: 'Europa' },
      registeredCountry: { name: 'Deutschland' },
      subdivisions: [{ name: 'England' }, { name: 'City of London' }],
    })
  })

  it.each<[string, object, number]>([
    ['the city', {}, 2643743],
    ['the smallest subdivision', { city: { names: { en: 'London' } } }, 2643741],
    ['the country', { city: {}, subdivisions: [{ iso_code: 'ENG' }] }, 2635167],
  ])('has the GeoName ID of the smallest place that has one: %s', (_, change, id) => {
    expect(detailsOf({ ...GEOIP2, ...change }).geonameId).toBe(id)
  })

  it('knows the European Union without the database, which has the last word', () => {
    const isIn = (country: object) =>
      detailsOf({ country: { names: { en: 'X' }, ...country } }).isInEuropeanUnion
    for (const code of [...countryCodesOf(['EU']), 'RE', 'AX']) expect(isIn({ iso_code: code })).toBe(true)
    for (const code of ['GB', 'CH', 'NO', 'GL', 'NC', 'XK']) expect(isIn({ iso_code: code })).toBe(false)
    expect(isIn({ iso_code: 'CH', is_in_european_union: true })).toBe(true)
    expect(isIn({ iso_code: 'FR', is_in_european_union: false })).toBe(false)
    expect(isIn({})).toBeNull()
  })

  it('does not take subdivisions and membership for those of the country of registration', () => {
    const bytes = databaseWith({
      country: { iso_code: 'EU', names: { en: 'Europe' }, is_in_european_union: true },
      subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }],
      registered_country: { iso_code: 'AU' },
    })
    const geo = Resolver.openSync(bytes, { registeredCountry: true })
    expect(geo.lookup(IP)).toMatchObject({ country: { code: 'AU' }, region: { code: null, name: 'England' } })
    expect(geo.details(IP)).toMatchObject({
      isInEuropeanUnion: false,
      subdivisions: [{ code: null, name: 'England' }],
    })
  })

  it('says which database and network answered; an overlay is none of them', () => {
    const overlays = [{ network: '10.0.0.0/8', record: { country: { code: 'DE' } } }]
    const isp = databaseOf({ '81.2.0.0/16': { isp: 'Andrews & Arnold' } })
    const geo = Resolver.openSync([isp, databaseWith({ country: { iso_code: 'GB' } })], { overlays })
    expect(geo.details(IP)).toEqual({ ...NOTHING, database: 1 })
    const packed = pack(databaseWith({ country: { iso_code: 'GB' } }))
    const twice = Resolver.openSync([packed, packed], { schema: [{ city: 'town' }, null] })
    expect(twice.details(IP)).toEqual({ ...NOTHING, database: 1 })
    const ofOverlay = {
      ...NOTHING,
      ip: '10.1.1.1',
      network: '10.0.0.0/8',
      database: null,
      isInEuropeanUnion: true,
    }
    expect(geo.details('10.1.1.1')).toEqual(ofOverlay)
  })

  it('reads nothing by the schema of a vendor from a database with a schema of the program', () => {
    const schema = { country: { code: 'land' } }
    const geo = Resolver.openSync(databaseWith({ land: 'GB', continent: 'x', radius: '5' }), { schema })
    expect(geo.details(IP)).toEqual(NOTHING)
  })

  it('throws as lookup does', () => {
    const geo = Resolver.openSync(databaseWith(GEOIP2))
    for (const ip of ['x', '10.0.0.1', '8.8.8.8'])
      expect(() => geo.details(ip)).toThrow(expect.objectContaining(Object(geo.find(ip)).error))
    expect(() => geo.details(IP, { locale: 'e n' })).toThrow('is not a BCP 47 language tag')
  })

  it('is a function for the core', () => {
    expect(details(CoreResolver.openSync(databaseWith(GEOIP2)), IP)).toEqual(detailsOf(GEOIP2))
  })
})

describe('raw of several databases', () => {
  const isp = databaseWith({ isp: 'Andrews & Arnold' })
  const v4 = databaseOf({ '81.2.69.0/24': { autonomous_system_number: 1 } }, { ipVersion: 4 })
  const geo = Resolver.openSync([databaseWith(GEOIP2), isp], { asn: v4 })

  it('asks the one with a number', () => {
    interface Isp {
      readonly isp: string
    }
    const record: Isp | null = geo.raw<Isp>(IP, { database: 1 })
    expect(record?.isp).toBe('Andrews & Arnold')
    expect(geo.raw(IP, { database: 0 })).toEqual(geo.raw(IP))
    expect(geo.raw(IP, { database: 2 })).toEqual({ autonomous_system_number: 1 })
    expect(geo.raw('8.8.8.8', { database: 1 })).toBeNull()
    expect(geo.raw('2001:4860::1', { database: 2 })).toBeNull()
  })

  it.each<unknown>([3, -1, 0.5, Number.NaN, '0', 'length'])('refuses the number %s', (database) => {
    // JavaScript can call it so.
    expect(() => geo.raw(IP, { database: database as number })).toThrow('no database has the number')
  })
})

describe('a resolver', () => {
  it('is closed by Symbol.dispose, with its watcher', () => {
    const geo = Resolver.openSync(embedded.country, { watch: true })
    geo[Symbol.dispose]()
    expect(() => geo.lookup(IP)).toThrow('the resolver is closed')
    expect(geo.status.watching).toBe(false)
  })
})
