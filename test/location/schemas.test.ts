import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../src/core.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import type { LocationRecord } from '../../src/location/location-record.ts'
import { coordinatesOf, type Source } from '../../src/location/schema.ts'
import { OVERLAYS, SYSTEMS, VENDORS } from '../../src/location/vendors.ts'
import { MAX_PATH_LENGTH } from '../../src/mmdb/field-reader.ts'
import { float, MmdbWriter, type WritableValue } from '../../src/writer.ts'
import { bytesOf, encode, type HandMade, handMade, handMadeTree } from '../mmdb/hand-made.ts'
import { manyRecords } from '../mmdb/hostile/bombs.ts'
import { array, map, pointer, unsigned } from '../mmdb/hostile/encoding.ts'
import { databaseOf, databaseWith } from '../own-databases.ts'

const IP = '81.2.69.142'

async function lookup(record: WritableValue, locale = 'en'): Promise<LocationRecord> {
  const resolver = await Resolver.open(databaseWith(record))
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

const ENGLAND = { name: 'England', code: 'GB-ENG' }

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
  const hasText = (path: string, part: string): boolean => readFileSync(path, 'utf8').includes(part)

  it('has tests with records of the vendor, in a suite with its name', () => {
    expect(hasText(join(import.meta.dirname, 'schemas.test.ts'), `\ndescribe('${vendor}`)).toBe(true)
  })

  it.each(['README.md', 'src/node/README.md'])('is named in %s', (guide) => {
    expect(hasText(guide, vendor)).toBe(true)
  })
})

describe.each([
  ...VENDORS.map(({ name, schema }) => [name, schema] as const),
  ['overlays', OVERLAYS] as const,
  ['autonomous systems', SYSTEMS] as const,
])('the schema of %s', (_, schema) => {
  const paths = new Map(
    Object.values<readonly Source[]>(schema).flatMap((sources) =>
      sources.map(({ key, path }) => [key, path]),
    ),
  )

  it('has no path that leads through the value of another, or is longer than a reader of fields takes', () => {
    for (const [key, path] of paths) {
      expect(path.length, key).toBeLessThanOrEqual(MAX_PATH_LENGTH)
      const around = [...paths.values()].filter((other) => other.every((each, index) => each === path[index]))
      expect(around, key).toEqual([path])
    }
  })
})

/** A record with a country, and what else it has. */
const gb = (more: object = {}): WritableValue => ({ country: { iso_code: 'GB' }, ...Object(more) })
const GB = { code: 'GB', name: 'United Kingdom' }
const NAMED_LONDON = { names: { en: 'London' } }

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
    const french = { country: { name: 'Royaume-Uni' }, region: { name: 'Angleterre' }, city: 'London' }
    expect(await lookup(record, 'fr')).toMatchObject(french)
  })

  // The files of DB-IP have names of regions without codes.
  it.each([
    [{ names: { en: 'England' } }, { name: 'England', code: null }],
    [{ iso_code: 'ENG' }, { name: null, code: 'GB-ENG' }],
  ])('reads the subdivision %j', async (subdivision, region) => {
    expect((await lookup(gb({ subdivisions: [subdivision] }))).region).toEqual(region)
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

  it('reads "" as unknown, and country databases', async () => {
    const empty = { ...record, city: '', state1: '', postcode: '', timezone: '' }
    expect(await lookup(empty)).toEqual({ ...NOTHING, country: GB, coordinates: LONDON.coordinates })
    expect(await lookup({ country_code: 'GB' })).toEqual({ ...NOTHING, country: GB })
  })
})

describe('IPinfo', () => {
  const common = { country: 'GB', city: 'London', region: 'England', timezone: 'Europe/London' }
  const loc = { ...common, loc: '51.5142,-0.0931', postal: 'EC1A' }
  const country = { ...NOTHING, country: GB }
  it.each<[string, WritableValue, object]>([
    ['lat and lng as text', { ...common, lat: '51.5142', lng: '-0.0931', postal_code: 'EC1A' }, LONDON],
    ['numbers, postal', { ...common, latitude: 51.5142, longitude: -0.0931, postal: 'EC1A' }, LONDON],
    ['a region code', { ...loc, region_code: 'ENG' }, { ...LONDON, region: ENGLAND }],
    ['a region code with its country', { ...loc, region_code: 'GB-ENG' }, { ...LONDON, region: ENGLAND }],
    ['Lite, with country_code', { country: 'United Kingdom', country_code: 'GB', asn: 'AS1' }, country],
    [
      'country_name',
      { country: 'GB', country_name: 'Britain' },
      { ...NOTHING, country: { ...GB, name: 'Britain' } },
    ],
    ['coordinates that are not numbers', { country: 'GB', lat: 'north', lng: '' }, country],
    ['loc that is not a pair', { country: 'GB', loc: '51.5' }, country],
    ['loc of which one is not a number', { country: 'GB', loc: '51.5,x' }, country],
  ])('%s', async (_, record, expected) => {
    expect(await lookup(record)).toEqual(expected)
  })
})

describe('coordinates', () => {
  const place = (latitude: WritableValue, longitude: WritableValue) =>
    gb({ location: { latitude, longitude } })
  it.each<[string, WritableValue]>([
    ['GeoIP2', place('51.5142', '-.0931')],
    ['ip-location-db', { country_code: 'GB', latitude: '+51.5142', longitude: ' -0.0931 ' }],
  ])('are read from text and numbers: %s', async (_, record) => {
    expect((await lookup(record)).coordinates).toEqual(LONDON.coordinates)
  })

  it.each([
    ...[place('one', '2'), place('51,5142', '-0,0931'), place('', ''), place('0x10', '1e1'), place(91, 2)],
    ...[place('91', '2'), place(0, 0), place(`1${'0'.repeat(600)}`, '1'), place(0, -180.1), place({}, 1)],
    place(1, {}),
  ])('that are not decimal, out of range or 0, 0 are unknown: row %#', async (record) => {
    expect((await lookup(record)).coordinates).toEqual(NOTHING.coordinates)
  })
})

describe('fields of the wrong type or content are unknown', () => {
  const country = (iso_code: WritableValue, name = 'X') => ({ country: { iso_code, names: { en: name } } })
  const X = { country: { code: null, name: 'X' } }
  const empty = {
    country: { iso_code: 'GB', names: { en: '' } },
    city: { names: { en: '' } },
    postal: { code: '' },
  }
  const uk = { country: { iso_code: 'UK' }, subdivisions: [{ iso_code: 'UK-ENG' }] }
  it.each<[string, WritableValue, object]>([
    ['a country code of three letters', country('GBR'), X],
    ['a number as a code', country(7), X],
    ['a country code in lower case', { country: { iso_code: 'gb' } }, { country: GB }],
    ['a name that is a map', { country: { iso_code: 'GB', names: { en: { a: 'b' } } } }, { country: GB }],
    ['empty names', empty, { country: GB, city: null, postal_code: null }],
    ['a city that is text', gb({ city: 'London' }), { city: null }],
    ['subdivisions that are a map', gb({ subdivisions: { iso_code: 'ENG' } }), { region: NOTHING.region }],
    [
      'a suffix that is too long',
      gb({ subdivisions: [{ iso_code: 'ENGLAND' }] }),
      { region: NOTHING.region },
    ],
    ['UK for GB', uk, { country: GB, region: { code: 'GB-ENG', name: null } }],
    // The name beside such a code is not one of a country either.
    [
      'an area',
      { ...country('EU', 'Europe'), city: NAMED_LONDON },
      { country: NOTHING.country, city: 'London' },
    ],
    [
      'a code that ISO 3166-1 has withdrawn, with a region of it',
      { country_code: 'AN', state1: 'Curaçao' },
      { country: NOTHING.country, region: { code: null, name: 'Curaçao' } },
    ],
    [
      'an unknown zone',
      gb({ location: { time_zone: 'Moon/Base' } }),
      { timezone: { id: 'Moon/Base', offset: null } },
    ],
  ])('%s', async (_, record, expected) => {
    expect(await lookup(record)).toMatchObject(expected)
  })
})

describe('records that are not locations', () => {
  it.each([
    ['a continent', { continent: { code: 'EU' } }],
    ['a time zone', { location: { time_zone: 'Europe/London' } }],
    ['a postal code', { postal: { code: '12345' } }],
    ['coordinates of 0, 0', { location: { latitude: 0, longitude: 0 } }],
    ['an area', { country: { iso_code: 'EU', names: { en: 'Europe' } } }],
    ['a kind of network', { country: { iso_code: 'A1', names: { en: 'Anonymous Proxy' } } }],
    ['an unknown country, in flat fields', { country: 'ZZ' }],
    ['empty texts', { country_code: '', state1: '', city: '' }],
    ['a country of registration', { registered_country: { iso_code: 'US', names: { en: 'United States' } } }],
  ])('have only %s', async (_, record) => {
    const resolver = await Resolver.open(databaseWith(record))
    expect(() => resolver.lookup(IP)).toThrow(expect.objectContaining({ reason: 'not-found' }))
  })
})

describe('the country that a network is registered in', () => {
  const registered_country = { iso_code: 'AU', names: { en: 'Australia', de: 'Australien' } }
  const region = { iso_code: 'ENG', names: { en: 'England' } }

  it('is not used without the option, and the message names the option', async () => {
    const resolver = await Resolver.open(databaseWith({ registered_country }))
    const message = `${IP} has no location: the database only has the country that its network is registered in. Open another one after it that has the location (geofix: a second --db), or use that country with registeredCountry: true in a program`
    expect(() => resolver.lookup(IP)).toThrow(expect.objectContaining({ reason: 'not-found', message }))
    expect(resolver.find(IP)).toMatchObject({ error: { reason: 'not-found', status: 422, message } })
    expect(() => resolver.lookup('8.8.8.8')).toThrow('8.8.8.8 has no location: the database has none for it')
    const second = [databaseWith({ registered_country }), databaseWith({ city: NAMED_LONDON })]
    expect((await Resolver.open(second)).lookup(IP).city).toBe('London')
    const city = await Resolver.open(databaseWith({ city: { geoname_id: 1 } }))
    expect(() => city.lookup(IP)).toThrow('the database has none for it')
  })

  it.each<[string, { readonly [name: string]: WritableValue }, object]>([
    ['alone', {}, { country: { code: 'AU', name: 'Australien' } }],
    ['beside the country', { country: { iso_code: 'GB' } }, { country: { code: 'GB' } }],
    ['beside an area', { country: { iso_code: 'EU', names: { en: 'Europe' } } }, { country: { code: 'AU' } }],
    // The code of the region is not one of that country.
    [
      'beside a region',
      { subdivisions: [region], city: NAMED_LONDON },
      { country: { code: 'AU' }, region: { code: null, name: 'England' }, city: 'London' },
    ],
  ])('is used with the option: %s', async (_, record, expected) => {
    const resolver = await Resolver.open(databaseWith({ ...record, registered_country }), {
      registeredCountry: true,
    })
    expect(resolver.lookup(IP, { locale: 'de' })).toMatchObject(expected)
    expect(resolver.lookupMany([IP], { locale: 'de' })).toMatchObject([expected])
    const attached = Resolver.attach(structuredClone(resolver.share()))
    expect(attached.lookup(IP, { locale: 'de' })).toMatchObject(expected)
  })

  it('needs true or false', async () => {
    const options = { registeredCountry: 'yes' }
    const opening = Reflect.apply(Resolver.open, Resolver, [databaseWith({ registered_country }), options])
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
    const bytes = databaseWith({ city: { names }, town: names, plain: 'Munich' })
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
    const resolver = await Resolver.open(databaseWith({ city: { names } }))
    for (const cityNames of ['de', true, null]) {
      const find = () => Reflect.apply(resolver.lookup, resolver, [IP, { cityNames }])
      expect(find).toThrow(new TypeError("cityNames must be 'en' or 'locale'"))
    }
  })
})

describe('databases without locations', () => {
  it('can be opened and have raw records, and lookups say what they contain', async () => {
    const record = { autonomous_system_number: 64496, autonomous_system_organization: 'Example' }
    const resolver = await Resolver.open(databaseWith(record))
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
    const resolver = await Resolver.open(databaseOf({}))
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
    const asn = databaseWith({ autonomous_system_number: 64496 })
    const city = databaseWith({ country: { iso_code: 'GB' } })
    const none = databaseWith({ registered_country: { iso_code: 'DE' } })
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
    const half = handMadeTree([[{ data: 0 }, { data: sound.length }]], bytes)
    const other = handMade(encode(new Map([['country', new Map([['iso_code', 'FR']])]])))
    for (const source of [half, [half, other]]) {
      const resolver = await Resolver.open(source)
      expect(resolver.lookup('8.8.8.8').country.code).toBe('GB')
      // A damaged record of the first database is an error: the second database is not used instead.
      expect(() => resolver.lookup('200.0.0.1')).toThrow(InvalidDatabaseError)
      expect(() => resolver.raw('200.0.0.1')).toThrow(InvalidDatabaseError)
      expect(resolver.network('200.0.0.1')).toBe('200.0.0.0/7')
    }
  })
})

describe('several databases without a location for an address', () => {
  const of = (network: string, record: WritableValue): Uint8Array =>
    databaseOf({ '9.0.0.0/8': { country: { iso_code: 'US' } }, [network]: record })

  it('use the first one with a record for raw(), and all for network()', async () => {
    const registered = (code: string) => ({ registered_country: { iso_code: code } })
    const resolver = await Resolver.open([
      of('7.0.0.0/8', registered('FR')),
      of('8.8.0.0/16', registered('DE')),
      of('8.8.8.0/24', registered('IT')),
    ])
    expect(resolver.raw('8.8.8.8')).toEqual(registered('DE'))
    expect(resolver.network('8.8.8.8')).toBe('8.8.8.0/24')
    expect(resolver.raw('8.9.0.1')).toBeNull()
    expect(resolver.network('8.9.0.1')).toBe('8.9.0.0/16')
  })
})

describe('hostile databases', () => {
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
})

describe('coordinatesOf', () => {
  it('has none for numbers of a file that are not finite', () => {
    expect(coordinatesOf(Number.NaN, 0)).toEqual([Number.NaN, Number.NaN])
    expect(coordinatesOf(0, Number.POSITIVE_INFINITY)).toEqual([Number.NaN, Number.NaN])
  })

  it('writes the shortest decimal with the same 32-bit float', () => {
    fc.assert(
      fc.property(fc.float({ min: -90, max: 90, noNaN: true }), (float) => {
        fc.pre(float !== 0)
        const [latitude] = coordinatesOf(float, 1)
        expect(latitude).not.toBeNaN()
        const decimal = Number(latitude)
        expect(Math.fround(decimal)).toBe(float)
        const digits = decimal.toExponential().replace(/e.*|[-.]/g, '').length
        if (digits > 1) expect(Math.fround(Number(float.toPrecision(digits - 1)))).not.toBe(float)
      }),
    )
  })
})
