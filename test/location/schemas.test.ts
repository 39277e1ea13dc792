import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../src/core.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import type { LocationRecord } from '../../src/location/location-record.ts'
import { VENDORS } from '../../src/location/vendors.ts'
import { float, MmdbWriter, type WritableValue } from '../../src/writer.ts'
import { bytesOf, encode, type HandMade, handMade } from '../mmdb/hand-made.ts'
import { manyRecords } from '../mmdb/hostile/bombs.ts'
import { array, map, pointer, unsigned } from '../mmdb/hostile/encoding.ts'

const IP = '81.2.69.142'

/** A database of one network with one record. */
function databaseOf(record: WritableValue): Uint8Array {
  return new MmdbWriter({ databaseType: 'Any-Name' }).insert('81.2.69.0/24', record).toBytes()
}

async function lookup(record: WritableValue, locale = 'en'): Promise<LocationRecord> {
  const resolver = await Resolver.open(databaseOf(record))
  return resolver.lookup(IP, { locale, at: Date.UTC(2026, 6, 1) })
}

const NOTHING = {
  ip: IP,
  country: { code: null, name: null },
  region: { name: null, code: null },
  city: null,
  postal_code: null,
  coordinates: { latitude: null, longitude: null },
  timezone: { id: null, offset: null },
}

const LONDON = {
  ip: IP,
  country: { code: 'GB', name: 'United Kingdom' },
  region: { name: 'England', code: null },
  city: 'London',
  postal_code: 'EC1A',
  coordinates: { latitude: 51.5142, longitude: -0.0931 },
  timezone: { id: 'Europe/London', offset: '+01:00' },
}

describe.each(VENDORS.map(({ name }) => name))('the vendor %s', (vendor) => {
  const text = (path: string): string => readFileSync(path, 'utf8')

  it('has tests with records of the vendor, in a suite with its name', () => {
    expect(text(join(import.meta.dirname, 'schemas.test.ts'))).toContain(`\ndescribe('${vendor}`)
  })

  it.each(['README.md', 'src/node/README.md'])('is named in %s', (guide) => {
    expect(text(guide)).toContain(vendor)
  })
})

describe('GeoIP2 and GeoLite2', () => {
  it('reads all fields, of the first subdivision', async () => {
    const record = {
      city: { names: { de: 'Londres', en: 'London' } },
      country: { iso_code: 'GB', names: { en: 'United Kingdom', fr: 'Royaume-Uni' } },
      location: { latitude: 51.5142, longitude: -0.0931, time_zone: 'Europe/London', accuracy_radius: 10 },
      postal: { code: 'EC1A' },
      registered_country: { iso_code: 'US', names: { en: 'United States' } },
      subdivisions: [
        { iso_code: 'ENG', names: { en: 'England', fr: 'Angleterre' } },
        { iso_code: 'LND', names: { en: 'City of London' } },
      ],
    }
    expect(await lookup(record)).toEqual({ ...LONDON, region: { name: 'England', code: 'GB-ENG' } })
    const french = await lookup(record, 'fr')
    expect(french.country.name).toBe('Royaume-Uni')
    expect(french.region.name).toBe('Angleterre')
    expect(french.city).toBe('London')
  })

  it('never uses the registered country as the country', async () => {
    const resolver = await Resolver.open(
      databaseOf({ registered_country: { iso_code: 'US', names: { en: 'United States' } } }),
    )
    expect(() => resolver.lookup(IP)).toThrow(expect.objectContaining({ reason: 'not-found' }))
  })

  it('has a region without a code if the subdivision only has a name, as in the files of DB-IP', async () => {
    const record = { country: { iso_code: 'DE' }, subdivisions: [{ names: { en: 'Hesse' } }] }
    expect((await lookup(record)).region).toEqual({ name: 'Hesse', code: null })
  })

  it('has a region code from country and suffix if the subdivision has no name', async () => {
    const record = { country: { iso_code: 'DE' }, subdivisions: [{ iso_code: 'HE' }] }
    expect((await lookup(record)).region).toEqual({ name: null, code: 'DE-HE' })
  })
})

describe('ip-location-db', () => {
  const record = {
    city: 'London',
    country_code: 'GB',
    latitude: float(51.5142),
    longitude: float(-0.0931),
    postcode: 'EC1A',
    state1: 'England',
    state2: '',
    timezone: 'Europe/London',
  }

  it('reads flat records, with country names from the platform', async () => {
    expect(await lookup(record)).toEqual(LONDON)
    expect((await lookup(record, 'de')).country.name).toBe('Vereinigtes Königreich')
  })

  it('reads "" as unknown', async () => {
    const empty = { ...record, city: '', state1: '', postcode: '', timezone: '' }
    expect(await lookup(empty)).toEqual({
      ...NOTHING,
      country: LONDON.country,
      coordinates: LONDON.coordinates,
    })
  })

  it('reads country databases', async () => {
    expect(await lookup({ country_code: 'GB' })).toEqual({ ...NOTHING, country: LONDON.country })
  })
})

describe('IPinfo', () => {
  const common = { city: 'London', region: 'England', timezone: 'Europe/London' }
  it.each([
    [
      'lat and lng as text, postal_code',
      { ...common, country: 'GB', lat: '51.5142', lng: '-0.0931', postal_code: 'EC1A' },
      LONDON,
    ],
    [
      'latitude and longitude as numbers, postal',
      { ...common, country: 'GB', latitude: 51.5142, longitude: -0.0931, postal: 'EC1A' },
      LONDON,
    ],
    [
      'loc, and a region code',
      { ...common, country: 'GB', loc: '51.5142,-0.0931', postal: 'EC1A', region_code: 'ENG' },
      { ...LONDON, region: { name: 'England', code: 'GB-ENG' } },
    ],
    [
      'a region code that includes the country',
      { ...common, country: 'GB', loc: '51.5142,-0.0931', postal: 'EC1A', region_code: 'GB-ENG' },
      { ...LONDON, region: { name: 'England', code: 'GB-ENG' } },
    ],
    [
      'Lite: country is a name, country_code the code',
      { country: 'United Kingdom', country_code: 'GB', continent: 'Europe', asn: 'AS1' },
      { ...NOTHING, country: LONDON.country },
    ],
    [
      'country and country_name',
      { country: 'GB', country_name: 'Great Britain', continent: 'EU' },
      { ...NOTHING, country: { code: 'GB', name: 'Great Britain' } },
    ],
    [
      'coordinates that are not numbers',
      { country: 'GB', lat: 'north', lng: '' },
      { ...NOTHING, country: LONDON.country },
    ],
    ['loc that is not a pair', { country: 'GB', loc: '51.5' }, { ...NOTHING, country: LONDON.country }],
  ])('%s', async (_, record, expected) => {
    expect(await lookup(record)).toEqual(expected)
  })

  it('takes country names in other languages from the platform', async () => {
    expect((await lookup({ country: 'United Kingdom', country_code: 'GB' }, 'de')).country.name).toBe(
      'Vereinigtes Königreich',
    )
  })
})

describe('numbers that are written as text', () => {
  it.each<[vendor: string, record: WritableValue]>([
    ['GeoIP2', { country: { iso_code: 'GB' }, location: { latitude: '51.5142', longitude: '-.0931' } }],
    ['ip-location-db', { country_code: 'GB', latitude: '51.5142', longitude: '-0.0931' }],
    ['IPinfo', { country: 'GB', lat: '51.5142', lng: '-0.0931' }],
  ])('are read: %s', async (_, record) => {
    expect((await lookup(record)).coordinates).toEqual({ latitude: 51.5142, longitude: -0.0931 })
  })
})

describe('fields of the wrong type or content are unknown', () => {
  it.each([
    [
      'a country code of three letters',
      { country: { iso_code: 'GBR', names: { en: 'X' } } },
      { country: { code: null, name: 'X' } },
    ],
    [
      'a country code in lower case',
      { country: { iso_code: 'gb' } },
      { country: { code: 'GB', name: 'United Kingdom' } },
    ],
    [
      'a number as a code',
      { country: { iso_code: 7, names: { en: 'X' } } },
      { country: { code: null, name: 'X' } },
    ],
    [
      'a name that is a map',
      { country: { iso_code: 'GB', names: { en: { a: 'b' } } } },
      { country: { code: 'GB', name: 'United Kingdom' } },
    ],
    [
      'empty names',
      { country: { iso_code: 'GB', names: { en: '' } }, city: { names: { en: '' } }, postal: { code: '' } },
      { country: { code: 'GB', name: 'United Kingdom' }, city: null, postal_code: null },
    ],
    [
      'text that is not a number as coordinates',
      { country: { iso_code: 'GB' }, location: { latitude: 'one', longitude: '2' } },
      { coordinates: NOTHING.coordinates },
    ],
    [
      'a decimal comma',
      { country_code: 'GB', latitude: '51,5142', longitude: '-0,0931' },
      { coordinates: NOTHING.coordinates },
    ],
    [
      'coordinates out of range',
      { country: { iso_code: 'GB' }, location: { latitude: 91, longitude: 2 } },
      { coordinates: NOTHING.coordinates },
    ],
    [
      '0, 0',
      { country: { iso_code: 'GB' }, location: { latitude: 0, longitude: 0 } },
      { coordinates: NOTHING.coordinates },
    ],
    ['a city that is text', { country: { iso_code: 'GB' }, city: 'London' }, { city: null }],
    [
      'subdivisions that are a map',
      { country: { iso_code: 'GB' }, subdivisions: { iso_code: 'ENG' } },
      { region: NOTHING.region },
    ],
    [
      'a region suffix that ISO 3166-2 cannot have',
      { country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'ENGLAND' }] },
      { region: NOTHING.region },
    ],
    [
      'UK for GB',
      { country: { iso_code: 'UK' }, subdivisions: [{ iso_code: 'UK-ENG' }] },
      { country: { code: 'GB', name: 'United Kingdom' }, region: { code: 'GB-ENG', name: null } },
    ],
    [
      'a code of an area, whose name is not a country either',
      { country: { iso_code: 'EU', names: { en: 'Europe' } }, city: { names: { en: 'London' } } },
      { country: NOTHING.country, city: 'London' },
    ],
    [
      'a code that ISO 3166-1 has withdrawn, with a region of it',
      { country_code: 'AN', state1: 'Curaçao', city: 'Willemstad' },
      { country: NOTHING.country, region: { code: null, name: 'Curaçao' }, city: 'Willemstad' },
    ],
    [
      'a code of three letters, with a name',
      { country: { iso_code: 'GBR', names: { en: 'United Kingdom' } } },
      { country: { code: null, name: 'United Kingdom' } },
    ],
    [
      'a zone that the platform does not know',
      { country: { iso_code: 'GB' }, location: { time_zone: 'Moon/Base' } },
      { timezone: { id: 'Moon/Base', offset: null } },
    ],
  ])('%s', async (_, record, expected) => {
    expect(await lookup(record)).toMatchObject(expected)
  })
})

describe('records that are not locations', () => {
  it.each([
    ['only a continent', { continent: { code: 'EU' } }],
    ['only a time zone', { location: { time_zone: 'Europe/London' } }],
    ['only a postal code', { postal: { code: '12345' } }],
    ['coordinates of 0, 0 only', { location: { latitude: 0, longitude: 0 } }],
    ['only an area', { country: { iso_code: 'EU', names: { en: 'Europe' } } }],
    ['only a kind of network', { country: { iso_code: 'A1', names: { en: 'Anonymous Proxy' } } }],
    ['only an unknown country, in flat fields', { country: 'ZZ' }],
    ['only empty texts', { country_code: '', state1: '', city: '' }],
  ])('%s: not found', async (_, record) => {
    const resolver = await Resolver.open(databaseOf(record))
    expect(() => resolver.lookup(IP)).toThrow(expect.objectContaining({ reason: 'not-found' }))
  })
})

describe('the country that a network is registered in', () => {
  const registered_country = { iso_code: 'AU', names: { en: 'Australia', de: 'Australien' } }
  const open = (record: WritableValue) => Resolver.open(databaseOf(record), { registeredCountry: true })

  it('is not used without the option, and the message names the option', async () => {
    const resolver = await Resolver.open(databaseOf({ registered_country }))
    const message = `${IP} has no location: the database only has the country that its network is registered in. To use that, open it with registeredCountry: true`
    expect(() => resolver.lookup(IP)).toThrow(expect.objectContaining({ reason: 'not-found', message }))
    expect(resolver.find(IP)).toMatchObject({ error: { reason: 'not-found', status: 422, message } })
    expect(() => resolver.lookup('8.8.8.8')).toThrow('8.8.8.8 has no location: the database has none for it')
    const city = await Resolver.open(databaseOf({ city: { geoname_id: 1 } }))
    expect(() => city.lookup(IP)).toThrow('the database has none for it')
  })

  it.each<[string, { readonly [name: string]: WritableValue }, object]>([
    ['alone', {}, { country: { code: 'AU', name: 'Australien' } }],
    ['beside the country', { country: { iso_code: 'GB' } }, { country: { code: 'GB' } }],
    ['beside an area', { country: { iso_code: 'EU', names: { en: 'Europe' } } }, { country: { code: 'AU' } }],
    [
      'beside a region, whose code is not one of that country',
      { subdivisions: [{ iso_code: 'ENG', names: { en: 'England' } }], city: { names: { en: 'London' } } },
      { country: { code: 'AU' }, region: { code: null, name: 'England' }, city: 'London' },
    ],
  ])('is used with the option: %s', async (_, record, expected) => {
    const resolver = await open({ ...record, registered_country })
    expect(resolver.lookup(IP, { locale: 'de' })).toMatchObject(expected)
    expect(resolver.lookupMany([IP], { locale: 'de' })).toMatchObject([expected])
    const attached = Resolver.attach(structuredClone(resolver.share()))
    expect(attached.lookup(IP, { locale: 'de' })).toMatchObject(expected)
  })

  it('needs true or false', async () => {
    const options = { registeredCountry: 'yes' }
    const opening = Reflect.apply(Resolver.open, Resolver, [databaseOf({ registered_country }), options])
    await expect(opening).rejects.toThrow(new TypeError('registeredCountry must be true or false'))
  })
})

describe('the name of a city', () => {
  const names = { fr: 'Munich', en: 'Munich (en)', de: 'München', 'pt-BR': 'Munique', 'zh-CN': '慕尼黑' }

  it.each([
    [undefined, 'Munich (en)'],
    ['de-AT', 'München'],
    ['pt', 'Munique'],
    ['ja', 'Munich (en)'],
    ['fr', 'Munich'],
    ['zh-TW', '慕尼黑'],
  ])('with the locale %s is %s, and in English by default', async (locale, expected) => {
    const bytes = databaseOf({ city: { names }, town: names, plain: 'Munich' })
    const resolver = await Resolver.open(bytes)
    const local = { locale, cityNames: 'locale' } as const
    // Twice, since names are cached.
    for (const _ of [1, 2]) {
      expect(resolver.lookup(IP, { locale }).city).toBe('Munich (en)')
      expect(resolver.lookup(IP, local).city).toBe(expected)
      expect(resolver.lookupMany([IP], local)).toMatchObject([{ city: expected }])
      expect(resolver.lookup(IP, { locale: 'de', cityNames: 'locale' }).city).toBe('München')
    }
    const request = { headers: {}, remoteAddress: IP }
    expect(resolver.detect(request, local).city).toBe(expected)
    const own = await Resolver.open(bytes, { schema: { city: { path: 'town', type: 'names' } } })
    expect(own.lookup(IP, local).city).toBe(expected)
    const text = await Resolver.open(bytes, { schema: { city: 'plain' } })
    expect(text.lookup(IP, local).city).toBe('Munich')
  })

  it('needs en or locale', async () => {
    const resolver = await Resolver.open(databaseOf({ city: { names } }))
    for (const cityNames of ['de', true, null]) {
      const find = () => Reflect.apply(resolver.lookup, resolver, [IP, { cityNames }])
      expect(find).toThrow(new TypeError("cityNames must be 'en' or 'locale'"))
    }
  })
})

describe('databases without locations', () => {
  it('can be opened and have raw records, and lookups say what they contain', async () => {
    const record = { autonomous_system_number: 64496, autonomous_system_organization: 'Example' }
    const resolver = await Resolver.open(databaseOf(record))
    expect(resolver.raw(IP)).toEqual(record)
    expect(() => resolver.lookup(IP)).toThrow(InvalidDatabaseError)
    expect(() => resolver.lookup(IP)).toThrow(/Any-Name.*autonomous_system_number/)
    expect(resolver.lookupMany([IP])).toEqual([
      {
        ip: IP,
        error: { code: 'INVALID_DATABASE', status: null, message: expect.stringMatching(/City or Country/) },
      },
    ])
  })

  it('find nothing if they are empty', async () => {
    const empty = new MmdbWriter({ databaseType: 'Empty' }).toBytes()
    const resolver = await Resolver.open(empty)
    expect(() => resolver.lookup(IP)).toThrow(expect.objectContaining({ reason: 'not-found' }))
    expect(resolver.raw(IP)).toBeNull()
  })

  it('are recognised by a sample of records, even if the first ones are sparse', async () => {
    const writer = new MmdbWriter({ databaseType: 'Sparse' })
    for (let i = 1; i < 100; i++) writer.insert(`1.0.${i}.0/24`, { note: `number ${i}`, country_code: 'GB' })
    writer.insert('81.2.69.0/24', { country: 'GB', country_code: 'GB', loc: '51.5,-0.1' })
    const resolver = await Resolver.open(writer.toBytes())
    expect(resolver.lookup(IP).coordinates).toEqual({ latitude: 51.5, longitude: -0.1 })
  })

  it('are ignored beside a database with locations, in either order', async () => {
    const asn = databaseOf({ autonomous_system_number: 64496 })
    const city = databaseOf({ country: { iso_code: 'GB' } })
    const none = databaseOf({ registered_country: { iso_code: 'DE' } })
    for (const order of [
      [asn, city],
      [city, asn],
      [none, city],
    ]) {
      const resolver = await Resolver.open(order)
      expect(resolver.lookup(IP).country.code).toBe('GB')
      // raw() uses the same database as lookup().
      expect(resolver.raw(IP)).toEqual({ country: { iso_code: 'GB' } })
      expect(() => resolver.lookup('8.8.8.8')).toThrow(expect.objectContaining({ reason: 'not-found' }))
    }
  })
})

describe('damaged records', () => {
  const good = new Map<string, HandMade>([['country', new Map([['iso_code', 'GB']])]])

  it('are skipped while recognising the schema, and lookups of them throw', async () => {
    const sound = encode(good)
    // The upper half points to a map whose key is truncated by the end of the section.
    const bytes = Buffer.concat([sound, bytesOf('e1 4561')])
    const upper = (2 + 15 + sound.length).toString(16).padStart(6, '0')
    const half = handMade(bytes, {}, bytesOf(`000011 ${upper}`))
    const other = handMade(encode(new Map([['country', new Map([['iso_code', 'FR']])]])))
    for (const source of [half, [half, other]]) {
      const resolver = await Resolver.open(source)
      expect(resolver.lookup('8.8.8.8').country.code).toBe('GB')
      // A damaged record of the first database is an error: the second database is not used instead.
      expect(() => resolver.lookup('200.0.0.1')).toThrow(InvalidDatabaseError)
      expect(() => resolver.raw('200.0.0.1')).toThrow(InvalidDatabaseError)
      expect(resolver.network('200.0.0.1')).toBe('128.0.0.0/1')
    }
  })
})

describe('databaseInfo', () => {
  it('takes the attribution of the embedded databases from their metadata', async () => {
    const own = (description: Record<string, string>) =>
      new MmdbWriter({ databaseType: 'Geofix-City', description })
        .insert('8.0.0.0/8', { country: { iso_code: 'US' } })
        .toBytes()
    const resolver = await Resolver.open([own({ en: 'By somebody' }), own({})])
    expect(resolver.databases).toMatchObject([
      { licence: 'CC BY 4.0', attribution: 'By somebody' },
      { licence: 'CC BY 4.0', attribution: null },
    ])
  })
})

describe('several databases without a location for an address', () => {
  const of = (network: string, record: WritableValue): Uint8Array =>
    new MmdbWriter({ databaseType: 'Any-Name' })
      .insert('9.0.0.0/8', { country: { iso_code: 'US' } })
      .insert(network, record)
      .toBytes()

  it('use the first one with a record for raw() and network(), or else the first', async () => {
    const registered = (code: string) => ({ registered_country: { iso_code: code } })
    const resolver = await Resolver.open([
      of('7.0.0.0/8', registered('FR')),
      of('8.8.0.0/16', registered('DE')),
      of('8.8.8.0/24', registered('IT')),
    ])
    expect(resolver.raw('8.8.8.8')).toEqual(registered('DE'))
    expect(resolver.network('8.8.8.8')).toBe('8.8.0.0/16')
    expect(resolver.raw('8.9.0.1')).toBeNull()
    expect(resolver.network('8.9.0.1')).toBe('8.0.0.0/8')
  })
})

describe('hostile databases', () => {
  /** Records that all point to one large value, which the file stores once. */
  function bomb(count: number, large: WritableValue): Uint8Array {
    const writer = new MmdbWriter({ databaseType: 'Bomb' })
    for (let i = 0; i < count; i++) writer.insert(`20.0.${i}.0/24`, { n: i, city: { names: { en: large } } })
    return writer.toBytes()
  }

  it('are opened in bounded time, since recognising the schema decodes nothing', async () => {
    const ones = (inner: Buffer): Buffer => array(...Array.from({ length: 200 }, () => inner))
    const large = ones(ones(unsigned(6, 1n)))
    // By hand: the writer would encode the array again for each record.
    const records = Array.from({ length: 256 }, (_, i) =>
      map(['n', unsigned(5, BigInt(1000 + i))], ['city', map(['names', map(['en', pointer(0)])])]),
    )
    const size = records[0]?.length ?? 0
    const decoded = manyRecords(Buffer.concat([large, ...records]), 8, (i) => large.length + size * i)
    const started = process.cpuUsage()
    await Resolver.open(decoded)
    // Decoding everything would mean ten million values.
    expect(process.cpuUsage(started).user).toBeLessThan(1_500_000)
  })

  it('cannot fill caches with long texts', async () => {
    const resolver = await Resolver.open(bomb(3, 'é'.repeat(100_000)))
    expect(() => resolver.lookup('20.0.1.1')).toThrow(/longer than 512 bytes/)
    expect(resolver.lookupMany(['20.0.1.1'])).toEqual([
      { ip: '20.0.1.1', error: expect.objectContaining({ code: 'INVALID_DATABASE' }) },
    ])
  })

  it('cannot fill caches with many names', async () => {
    const names = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-${i}`, 'n'.repeat(400)]))
    const resolver = await Resolver.open(databaseOf({ country: { iso_code: 'GB', names } }))
    expect(() => resolver.lookup(IP)).toThrow(/more than 8192 bytes of names/)
  })
})
