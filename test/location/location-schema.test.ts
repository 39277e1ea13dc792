import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Resolver as CoreResolver } from '../../src/core.ts'
import { isGeofixError } from '../../src/errors.ts'
import { type LocationSchema, Resolver } from '../../src/index.ts'
import { readSchemas } from '../../src/location/location-schema.ts'
import { RELOAD } from '../../src/node/node-resolver.ts'
import { pack, type WritableValue } from '../../src/writer.ts'
import { databaseOf, databaseWith } from '../own-databases.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()
const IP = '81.2.69.142'
const AT = Date.UTC(2026, 6, 1)

/** A record that no known schema reads, with the usual faults of a program's own files. */
const RECORD = {
  land: 'gb',
  state: { codes: ['ENG', 'LND'], titles: { en: 'England', de: 'England (de)' } },
  place: { town: { fr: 'Londres', en: 'London' }, zip: '01067', where: { lat: '51.5142', lng: -0.0931 } },
  clock: 'Europe/London',
}

const SCHEMA: LocationSchema = {
  country: { code: 'land' },
  region: { code: ['state', 'codes', 0], name: { path: ['state', 'titles'], type: 'names' } },
  city: { path: ['place', 'town'], type: 'names' },
  postal_code: ['place', 'zip'],
  coordinates: { latitude: ['place', 'where', 'lat'], longitude: { path: ['place', 'where', 'lng'] } },
  timezone: { id: 'clock' },
}

const EXPECTED = {
  ip: IP,
  country: { code: 'GB', name: 'Vereinigtes Königreich' },
  region: { code: 'GB-ENG', name: 'England (de)' },
  city: 'London',
  postal_code: '01067',
  coordinates: { latitude: 51.5142, longitude: -0.0931 },
  timezone: { id: 'Europe/London', offset: '+01:00' },
}

const OWN = databaseWith(RECORD)
const OPTIONS = { locale: 'de', at: AT }

describe.each([
  ['Node', Resolver],
  ['the core', CoreResolver],
])('a schema of the program, in %s', (_, Entry) => {
  it('says where each field is', async () => {
    expect((await Entry.open(OWN, { schema: SCHEMA })).lookup(IP, OPTIONS)).toEqual(EXPECTED)
    const geo = Entry.openSync(OWN, { schema: SCHEMA })
    expect(geo.lookupMany([IP], OPTIONS)).toEqual([EXPECTED])
    expect(geo.raw(IP)).toEqual(RECORD)
    expect(geo.network(IP)).toBe('81.2.69.0/24')
  })

  it('is shared with other threads', async () => {
    for (const bytes of [OWN, pack(OWN)]) {
      const geo = await Entry.open(bytes, { schema: SCHEMA })
      const shared = structuredClone(geo.share())
      expect(Entry.attach(shared).lookup(IP, OPTIONS)).toEqual(EXPECTED)
      expect(geo.lookup(IP, OPTIONS)).toEqual(EXPECTED)
      const other = Entry.attach(shared, { schema: { country: { code: 'land' } } })
      expect(other.lookup(IP)).toMatchObject({ country: { code: 'GB' }, city: null })
    }
  })

  it('is used beside overlays', async () => {
    const overlays = [{ network: '81.2.69.142', record: { city: 'Here' } }]
    const geo = await Entry.open(OWN, { schema: SCHEMA, overlays })
    expect(geo.lookup(IP).city).toBe('Here')
    expect(geo.lookup('81.2.69.143').city).toBe('London')
  })

  it('is one for all databases, or one for each', async () => {
    const other = databaseOf({ '8.8.8.0/24': { land: 'US' } })
    const vendor = databaseOf({ '8.8.8.0/24': { country: { iso_code: 'US' }, land: 'XX' } })
    for (const [databases, schema] of [
      [[OWN, other], SCHEMA],
      [
        [OWN, vendor],
        [SCHEMA, null],
      ],
      [
        [vendor, OWN],
        [null, SCHEMA],
      ],
    ] as const) {
      const geo = await Entry.open(databases, { schema })
      expect(geo.lookupMany([IP, '8.8.8.8'])).toMatchObject([
        { country: { code: 'GB' } },
        { country: { code: 'US' } },
      ])
    }
    await expect(Entry.open([OWN, other], { schema: [SCHEMA] })).rejects.toThrow(
      'schema: it has 1 schemas, and there are 2 databases',
    )
  })

  it('that finds no location says which fields the records have', async () => {
    const geo = await Entry.open(OWN, { schema: { city: ['place', 'city'] } })
    expect(() => geo.lookup(IP)).toThrow(
      'by the option schema, its only record has no location (its records only have "clock", "land", "place", "state")',
    )
    expect(() => geo.lookup(IP)).toThrow(expect.objectContaining({ code: 'INVALID_DATABASE' }))
    // The same database is open, and read in another way.
    expect((await Entry.open(OWN, { schema: SCHEMA })).lookup(IP).city).toBe('London')
    expect(() => Entry.openSync(databaseOf({}), { schema: SCHEMA }).lookup(IP)).toThrow('has no location')
  })
})

it('is used by a resolver that watches', async () => {
  const path = makeFile(join(folder, 'watched.mmdb'), OWN)
  using geo = await Resolver.open(path, { schema: SCHEMA, watch: true, canaries: [IP] })
  expect(geo.lookup(IP, OPTIONS)).toEqual(EXPECTED)
  const replaceWith = async (record: WritableValue) => {
    writeFileSync(`${path}.new`, databaseWith(record))
    renameSync(`${path}.new`, path)
    return geo[RELOAD]()
  }
  expect(await replaceWith({ ...RECORD, land: 'IE' })).toBe('replaced')
  expect(geo.lookup(IP, OPTIONS).country.code).toBe('IE')
  // A file that a vendor's schema could read, and the program's cannot.
  expect(await replaceWith({ country: { iso_code: 'FR' } })).toBe('refused')
  expect(geo.lookup(IP, OPTIONS).country.code).toBe('IE')
})

it('leaves values of another type than the schema says unknown', async () => {
  const record = {
    land: 'DE',
    town: { en: 'Berlin' },
    zip: 10115,
    state: 'Berlin',
    lat: '52.52',
    lng: { a: 1 },
  }
  const schema: LocationSchema = {
    country: { code: 'land' },
    region: { name: { path: 'state', type: 'names' } },
    city: 'town',
    postal_code: 'zip',
    coordinates: { latitude: 'lat', longitude: 'lng' },
  }
  const unknown = { region: { name: null }, city: null, postal_code: null, coordinates: { latitude: null } }
  const geo = await Resolver.open(databaseWith(record), { schema })
  expect(geo.lookup(IP)).toMatchObject({ country: { code: 'DE', name: 'Germany' }, ...unknown })
})

describe('a schema that is wrong', () => {
  const deep = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  it.each<[why: string, schema: unknown, message: string]>([
    ['not an object', 'city', 'schema: write an object with country, region, city, postal_code'],
    ['null', null, 'schema: write an object'],
    ['without fields', {}, 'schema: it has no location: give the path of a country, region, city'],
    ['with a postal code only', { postal_code: 'zip' }, 'schema: it has no location'],
    ['with an unknown field', { citty: 'town' }, 'schema: it has no field "citty": did you mean "city"?'],
    ['with an unknown part', { country: { iso: 'cc' } }, 'schema.country: it has no field "iso"'],
    ['with a part that is a path', { country: 'cc' }, 'schema.country: write an object with code, name'],
    ['with an empty path', { city: [] }, 'schema.city: the path is empty'],
    ['with an empty text', { city: '' }, 'schema.city: the path is empty'],
    ['with an empty key', { city: ['a', ''] }, 'schema.city: write keys as text that is not empty'],
    ['with a path that is too long', { city: deep }, 'schema.city: the path has more than 7 keys'],
    ['with a key that is too long', { city: 'x'.repeat(2000) }, 'schema.city: a key has more than'],
    [
      'with a second element',
      { city: ['a', 1] },
      'schema.city: write keys as text; of an array only the first',
    ],
    ['that begins with an element', { city: [0, 'a'] }, 'schema.city: a record is not an array'],
    ['with a key of another type', { city: ['a', {}] }, 'schema.city: write keys as text'],
    ['with a path of another type', { city: 5 }, 'schema.city: write keys as text'],
    ['without a path', { city: { type: 'text' } }, 'schema.city.path: write keys as text'],
    ['with an unknown type', { city: { path: 'a', type: 'word' } }, 'schema.city.type: write "text" or'],
    ['with a type for other fields', { country: { code: { path: 'a', type: 'number' } } }, 'write "text"'],
    [
      'without a longitude',
      { coordinates: { latitude: 'a' } },
      'schema.coordinates.longitude: it is missing',
    ],
    [
      'with a path twice',
      { city: 'a', country: { name: 'a' } },
      'schema.city: it has the path of country.name',
    ],
    ['with a path through a value', { city: 'a', postal_code: ['a', 'b'] }, 'through the value of city'],
    ['of which one in an array is', [{ city: '' }], 'schema[0].city: the path is empty'],
  ])('%s', async (_, schema, message) => {
    const refusal = expect.objectContaining({
      code: 'INVALID_SCHEMA',
      message: expect.stringContaining(message),
    })
    expect(() => readSchemas(schema, 1)).toThrow(refusal)
    // A program without types.
    await expect(Resolver.open(OWN, { schema: schema as LocationSchema })).rejects.toEqual(refusal)
    expect(() => CoreResolver.openSync(OWN, { schema: schema as LocationSchema })).toThrow(refusal)
  })
})

describe('a hostile schema', () => {
  it('is read once, copied and not changed', () => {
    let reads = 0
    const given = {
      get city() {
        reads++
        return reads === 1 ? path : []
      },
    }
    const path = ['town']
    const geo = Resolver.openSync(databaseWith({ town: 'Berlin' }), { schema: given })
    path[0] = 'other'
    expect([geo.lookup(IP).city, reads]).toEqual(['Berlin', 1])
    const frozen = Object.freeze({ city: Object.freeze(['town']) })
    const other = Resolver.openSync(databaseWith({ town: 'Berlin' }), { schema: frozen })
    expect(other.lookup(IP).city).toBe('Berlin')
  })

  it('with members of its prototype only is empty, and names of prototypes are keys', () => {
    expect(() => readSchemas(Object.create({ city: 'town' }), 1)).toThrow('it has no location')
    const schema = JSON.parse('{"city":"__proto__","__proto__":null}') as object
    expect(() => readSchemas(schema, 1)).toThrow('it has no field "__proto__"')
    const record = new Map<string, WritableValue>([['constructor', 'Berlin']])
    const geo = Resolver.openSync(databaseWith(record), { schema: { city: 'constructor' } })
    expect(geo.lookup(IP).city).toBe('Berlin')
    expect(Object.prototype).not.toHaveProperty('city')
  })

  it('that throws is refused, with the cause', () => {
    const cause = new Error('hostile')
    const schema = Object.defineProperty({}, 'city', {
      enumerable: true,
      get: () => {
        throw cause
      },
    })
    const refusal = expect.objectContaining({ code: 'INVALID_SCHEMA', cause })
    expect(() => readSchemas(schema, 1)).toThrow(refusal)
    const proxy = new Proxy(['x'], { get: () => Number.MAX_SAFE_INTEGER })
    expect(() => readSchemas({ city: proxy }, 1)).toThrow(expect.objectContaining({ code: 'INVALID_SCHEMA' }))
  })

  it('of any form is read or refused with an error of this package', () => {
    const field = fc.oneof(
      fc.anything(),
      fc.string(),
      fc.array(fc.oneof(fc.string(), fc.nat(2)), { maxLength: 9 }),
    )
    const part = fc.record(
      { code: field, name: field, id: field, path: field, type: field },
      { requiredKeys: [] },
    )
    const member = fc.oneof(field, part)
    const schemas = fc.record(
      { country: member, region: member, city: member, coordinates: member, timezone: member },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(fc.anything(), schemas), (schema) => {
        try {
          const read = readSchemas(schema, 1)
          // It is sent to other threads.
          expect(structuredClone(read)).toEqual(read)
        } catch (error) {
          if (!isGeofixError(error)) throw error
          expect(error.code).toBe('INVALID_SCHEMA')
        }
      }),
    )
  })
})
