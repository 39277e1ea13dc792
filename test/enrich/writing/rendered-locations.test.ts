import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteSink } from '../../../src/bytes/byte-sink.ts'
import type { LocationField } from '../../../src/enrich/options.ts'
import {
  columnsTemplate,
  escapedColumnsTemplate,
  jsonTemplate,
  valuesTemplate,
  wordsTemplate,
} from '../../../src/enrich/writing/column-templates.ts'
import { JSON_TEMPLATE } from '../../../src/enrich/writing/location-template.ts'
import { RenderedLocations } from '../../../src/enrich/writing/rendered-locations.ts'
import { DatabaseSet } from '../../../src/location/database-set.ts'
import { localeOf } from '../../../src/location/locale.ts'
import { Location } from '../../../src/location/location-table.ts'
import { LocalizedCountry, SharedParts, Translations } from '../../../src/location/shared-parts.ts'
import { Timezone } from '../../../src/location/timezone.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { double, MmdbWriter } from '../../../src/writer.ts'
import { addressOf } from '../../address/address-of.ts'
import { worldSet, written } from '../world.ts'

const english = localeOf('en')
const set = worldSet()

const placeOf = (ip: string): Location => set.location(set.find(addressOf(ip)))

// London, Linköping, somewhere in the Philippines (no zone), Delhi (no daylight saving time), Chicago's zone.
const places = ['81.2.69.142', '89.160.20.112', '202.196.224.1', '1.128.0.1', '2001:4860::1'].map(placeOf)

const HOUR = 3_600_000
const WINTER = Date.UTC(2026, 0, 15)
const SUMMER = Date.UTC(2026, 6, 15)
/** London's clocks go forward on this day at 01:00 UTC. */
const CHANGE = Date.UTC(2026, 2, 29)

let added = 0

/** Adds a location that its set has not numbered before. */
const add = (table: RenderedLocations, place: Location): number =>
  table.numberOf(++added, { location: () => place, stored: () => null })

function jsonFrom({ shared, city, postalCode, coordinates }: Location, at: number): string {
  const [country, region] = [shared.countryIn(english), shared.regionIn(english)]
  const timezone = { id: shared.timezone.id, offset: shared.timezone.spanAt(at).offset.text }
  return `",${JSON.stringify({ country, region, city, postal_code: postalCode, coordinates, timezone }).slice(1)}`
}

describe('rendered locations', () => {
  it('copies values from files as it writes those of objects', () => {
    const value = fc.oneof(
      fc.constantFrom(
        'London',
        'a,b',
        '"',
        "O'Fallon",
        '\\',
        'Zürich',
        '-',
        '--',
        'x\ty',
        'a\r\nb',
        '',
        '\u2028',
      ),
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({ minLength: 60, maxLength: 500 }),
    )
    const degrees = (most: number) =>
      fc.oneof(
        fc.integer({ min: -most * 1e7, max: most * 1e7 }).map((units) => units / 1e7),
        fc.integer({ min: -most * 10, max: most * 10 }).map((units) => units / 10),
        fc.integer({ min: -20, max: 20 }).map((units) => units / 1e7),
        fc.double({ min: -most, max: most, noNaN: true }),
      )
    const record = fc.record({ city: value, code: value, latitude: degrees(90), longitude: degrees(180) })
    const all: readonly LocationField[] = ['city', 'postal_code', 'latitude', 'longitude', 'timezone_offset']
    const templates = [
      JSON_TEMPLATE,
      jsonTemplate({ jsonFields: all }),
      valuesTemplate(all),
      ...[',', '\t', '-', '4', '.', 'é'].flatMap((delimiter) => [
        columnsTemplate(all, delimiter, true),
        columnsTemplate(all, delimiter, false),
        escapedColumnsTemplate(all, delimiter),
        wordsTemplate(all, delimiter, '-', '_'),
      ]),
    ]
    fc.assert(
      fc.property(
        fc.array(record, { minLength: 1, maxLength: 20 }),
        fc.constantFrom(...templates),
        (records, template) => {
          const writer = new MmdbWriter({ databaseType: 'Test', aliases: false })
          for (const [index, { city, code, latitude, longitude }] of records.entries()) {
            writer.insert(`20.${index}.0.0/16`, {
              country: { iso_code: 'GB' },
              city: { names: { en: city } },
              postal: { code },
              location: { latitude: double(latitude), longitude: double(longitude) },
            })
          }
          const source = new DatabaseSet([new Database(writer.toBytes())])
          const copied = new RenderedLocations(english, template, 'countries')
          const made = new RenderedLocations(english, template, 'countries')
          const objects = { location: (number: number) => source.location(number), stored: () => null }
          for (const index of records.keys()) {
            const found = source.find(addressOf(`20.${index}.0.1`))
            const expected = written((out) => made.write(made.numberOf(found, objects), WINTER, out))
            expect(written((out) => copied.write(copied.numberOf(found, source), WINTER, out))).toBe(expected)
          }
        },
      ),
    )
  })

  it('writes what JSON.stringify would, at instants in any order', () => {
    const instants = fc.oneof(
      fc.constantFrom(
        WINTER,
        SUMMER,
        SUMMER + HOUR,
        CHANGE,
        CHANGE + HOUR - 1,
        CHANGE + HOUR,
        CHANGE + 23 * HOUR,
      ),
      fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2030, 0, 1) }),
    )
    const questions = fc.array(fc.tuple(fc.nat(places.length - 1), instants), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(questions, (asked) => {
        const table = new RenderedLocations(english, JSON_TEMPLATE, 'countries')
        for (const [index, at] of asked) {
          const place = places[index]
          if (place === undefined) continue
          const number = add(table, place)
          expect(written((out) => table.write(number, at, out))).toBe(jsonFrom(place, at))
        }
      }),
    )
  })

  it('writes columns with the offset of each instant', () => {
    const fields: LocationField[] = ['country_code', 'timezone_offset', 'city']
    const table = new RenderedLocations(english, columnsTemplate(fields, ',', true), 'countries')
    const columns = (index: number, at: number): string => {
      const place = places[index]
      if (place === undefined) throw new Error('there is no such place')
      return written((out) => table.write(add(table, place), at, out))
    }
    expect([WINTER, SUMMER, WINTER].map((at) => columns(0, at))).toEqual([
      'GB,+00:00,London',
      'GB,+01:00,London',
      'GB,+00:00,London',
    ])
    expect(columns(1, SUMMER)).toBe('SE,+02:00,"Linköping, ""Östra""\tStaden"')
    expect(columns(2, SUMMER)).toBe('PH,,')
  })

  it('refuses numbers that it did not return', () => {
    const table = new RenderedLocations(english, JSON_TEMPLATE, 'countries')
    const out = new ByteSink()
    expect(() => table.offsetOf(7, WINTER)).toThrow('no location has the number 7')
    expect(() => table.write(7, WINTER, out)).toThrow(RangeError)
  })

  it('makes room for texts of any length', () => {
    const table = new RenderedLocations(english, JSON_TEMPLATE, 'countries')
    const [london] = places
    if (london === undefined) throw new Error('there are no places')
    for (let index = 0; index < 200; index++) {
      const place = new Location(london.shared, `${index}${'é'.repeat(5000)}`, null, london.coordinates)
      const number = add(table, place)
      expect(written((out) => table.write(number, WINTER, out))).toBe(jsonFrom(place, WINTER))
    }
  })

  describe('is full', () => {
    const london = placeOf('81.2.69.142')
    const { region, timezone } = london.shared
    const inCountry = (names: Translations): Location =>
      new Location(
        new SharedParts(new LocalizedCountry(null, names), region, timezone),
        null,
        null,
        london.coordinates,
      )
    const fill = (placesMade: number, make: (index: number) => Location): RenderedLocations => {
      const table = new RenderedLocations(english, JSON_TEMPLATE, 'countries')
      for (let index = 0; index < placesMade && !table.isFull; index++) add(table, make(index))
      return table
    }

    it('by texts that were written', () => {
      const table = new RenderedLocations(english, JSON_TEMPLATE, 'countries')
      const out = new ByteSink()
      const city = 'x'.repeat(2 ** 20)
      let count = 0
      for (; count < 100 && !table.isFull; count++) {
        table.write(add(table, new Location(london.shared, city, null, london.coordinates)), WINTER, out)
        out.length = 0
      }
      expect(count).toBeGreaterThan(20)
      expect(count).toBeLessThanOrEqual(64)
      expect(table.isFull).toBe(true)
      table.clear()
      expect(table.isFull).toBe(false)
    })

    it('by locations and time zones', () => {
      const place = (zone: Timezone): Location =>
        new Location(new SharedParts(london.shared.country, region, zone), null, null, london.coordinates)
      expect(fill(2000, () => place(new Timezone('Europe/London'))).isFull).toBe(true)
      expect(fill(60_000, () => place(timezone)).isFull).toBe(false)
      expect(fill(131_072, () => inCountry(Translations.NONE)).isFull).toBe(true)
    })
  })

  it('numbers locations from 0 again after it was cleared', () => {
    const table = new RenderedLocations(english, JSON_TEMPLATE, 'countries')
    const before = places.map((place) => add(table, place))
    expect(before).toEqual([0, 1, 2, 3, 4])
    for (const number of before) written((out) => table.write(number, SUMMER, out))
    table.clear()
    for (const place of [...places].reverse()) {
      const number = add(table, place)
      expect(written((out) => table.write(number, WINTER, out))).toBe(jsonFrom(place, WINTER))
    }
  })
})
