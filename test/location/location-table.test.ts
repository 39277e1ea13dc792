import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Resolver } from '../../src/index.ts'
import { localeOf } from '../../src/location/locale.ts'
import { LocationTable, NO_LOCATION } from '../../src/location/location-table.ts'
import { SampledFields } from '../../src/location/record-table.ts'
import { coordinatesOf, type OptionalValue } from '../../src/location/schema.ts'
import { recognised } from '../../src/location/vendors.ts'
import { Database } from '../../src/mmdb/database.ts'
import { double, MmdbWriter, type WritableValue } from '../../src/writer.ts'
import { addressOf } from '../address/address-of.ts'
import { itInLongRun } from '../effort.ts'
import { heldMemory } from '../heap.ts'
import { mappedRecord, type SourceRecord, SUMMER } from './mapped-record.ts'

type Source = { [key: string]: WritableValue }

/** A record with a country, a city and coordinates; each further record differs in what `changes` says. */
const source = (changes: Source = {}): Source => ({
  country: { iso_code: 'FR', names: { en: 'France' } },
  subdivisions: [{ iso_code: 'BRE', names: { en: 'Brittany' } }],
  city: { names: { en: 'Rennes' } },
  location: { latitude: 48.1, longitude: -1.7, time_zone: 'Europe/Paris' },
  postal: { code: '35000' },
  ...changes,
})

const locationsOf = (database: Database): LocationTable =>
  new LocationTable(database, recognised(new SampledFields(database))?.schema ?? {}, ['registration'])

/** A table of records at 20.0.0.0/16, 20.1.0.0/16, and so on, and the number of the location of each. */
function tableOf(records: readonly Source[]): { table: LocationTable; numbers: number[] } {
  const writer = new MmdbWriter({ databaseType: 'Test', aliases: false })
  for (const [index, record] of records.entries()) writer.insert(`20.${index}.0.0/16`, record)
  const database = new Database(writer.toBytes())
  const table = locationsOf(database)
  const numbers = records.map((_, index) => table.find(addressOf(`20.${index}.0.1`)))
  return { table, numbers }
}

describe('LocationTable', () => {
  it('leaves values out, and has the same locations', () => {
    const parts = source()
    const subsets = fc.subarray(Object.keys(parts))
    const omitted = fc.subarray<OptionalValue>(['region', 'timezone', 'city', 'postalCode', 'coordinates'])
    let unknown = 0
    fc.assert(
      fc.property(fc.array(subsets, { minLength: 1, maxLength: 20 }), omitted, (all, left) => {
        const records = all.map((names) => Object.fromEntries(names.map((name) => [name, parts[name] ?? ''])))
        const { table, numbers } = tableOf([source(), ...records])
        const narrow = new LocationTable(table.database, table.schema, left, table)
        for (const [index, number] of numbers.entries()) {
          const found = narrow.find(addressOf(`20.${index}.0.1`))
          if (number === NO_LOCATION) {
            expect(found).toBe(NO_LOCATION)
            unknown++
            continue
          }
          const whole = table.record(number, '', localeOf('en'), SUMMER)
          const { coordinates, timezone } = whole
          expect(narrow.record(found, '', localeOf('en'), SUMMER)).toEqual({
            ...whole,
            region: left.includes('region') ? { code: null, name: null } : whole.region,
            city: left.includes('city') ? null : whole.city,
            postal_code: left.includes('postalCode') ? null : whole.postal_code,
            coordinates: left.includes('coordinates') ? { latitude: null, longitude: null } : coordinates,
            timezone: left.includes('timezone') ? { id: null, offset: null } : timezone,
          })
        }
      }),
      { numRuns: 200 },
    )
    expect(unknown).toBeGreaterThan(10)
  })

  it('stores equal locations once, whatever else their records have', () => {
    const others = ['a', 'b', 'c', 'd'].map((type) => source({ traits: { type } }))
    const { table, numbers } = tableOf([source(), ...others])
    // The values themselves are in the first record; the others have pointers to them.
    expect(new Set(numbers.slice(1)).size).toBe(1)
    expect(table.location(numbers[1] ?? 0)).toEqual(table.location(numbers[2] ?? 0))
    expect(table.location(numbers[0] ?? 0)).toMatchObject({ city: 'Rennes', postalCode: '35000' })
  })

  it.each<[string, Source]>([
    ['city', { city: { names: { en: 'Brest' } } }],
    ['city, which is missing', { city: {} }],
    ['postal code', { postal: { code: '35001' } }],
    ['latitude', { location: { latitude: 48.2, longitude: -1.7, time_zone: 'Europe/Paris' } }],
    ['longitude by less than is visible', { location: { latitude: 48.1, longitude: -1.7000000000000002 } }],
    ['time zone', { location: { latitude: 48.1, longitude: -1.7, time_zone: 'Asia/Tokyo' } }],
    ['region', { subdivisions: [{ iso_code: 'IDF', names: { en: 'Brittany' } }] }],
  ])('stores locations that differ in the %s separately', (_, changes) => {
    const records = [source({ traits: { type: 'x' } }), source(changes), source()]
    const { table, numbers } = tableOf(records)
    expect(new Set(numbers).size).toBe(3)
    for (const [index, number] of numbers.entries()) {
      const expected = mappedRecord('ip', records[index] as SourceRecord, 'en')
      expect(table.record(number, 'ip', localeOf('en'), SUMMER)).toEqual(expected)
    }
  })

  it('keeps every double of coordinates, with any number of decimals', () => {
    const degrees = fc.double({ min: -90, max: 90, noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(degrees, degrees), { minLength: 1, maxLength: 50 }),
        fc.nat(9),
        (all, digits) => {
          const pairs = all.map((pair) => pair.map((value) => Number(value.toFixed(digits))))
          const records = pairs.map(([latitude = 0, longitude = 0]) =>
            source({ location: { latitude: double(latitude), longitude: double(longitude) } }),
          )
          const { table, numbers } = tableOf(records)
          for (const [index, [latitude = 0, longitude = 0]] of pairs.entries()) {
            const { coordinates } = table.location(numbers[index] ?? 0)
            const [north, east] = coordinatesOf(latitude, longitude)
            expect(JSON.stringify(coordinates)).toBe(JSON.stringify({ latitude: north, longitude: east }))
            expect(Object.isFrozen(coordinates)).toBe(true)
          }
        },
      ),
      { numRuns: 20 },
    )
  })

  it('has no location with another number', () => {
    const { table } = tableOf([source()])
    expect(() => table.location(2000)).toThrow(RangeError)
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

itInLongRun(
  'a LocationTable of a hostile database stays within its memory limit and returns correct locations',
  () => {
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
  },
)
