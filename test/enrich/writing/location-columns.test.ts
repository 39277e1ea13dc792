import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LocationField } from '../../../src/enrich/options.ts'
import { VALUE_SEPARATOR } from '../../../src/enrich/writing/column-templates.ts'
import { LocationColumns } from '../../../src/enrich/writing/location-columns.ts'
import { columnsOf } from './columns-of.ts'

const FIELDS: LocationField[] = ['country_code', 'latitude', 'city', 'asn_number']
type Row = readonly [string | null, number | null, string | null, number | null]

/** A location as `valuesTemplate` writes it. */
function textOf(row: Row): string {
  return row.map((value) => String(value ?? '')).join(VALUE_SEPARATOR)
}

function columnsOfRows(columns: LocationColumns, rows: readonly Row[]): (string | number | null)[][] {
  const encoder = new TextEncoder()
  for (const row of rows) {
    if (row.every((value) => value === null)) columns.addUnknown()
    else {
      const bytes = encoder.encode(`before\t${textOf(row)}\x7fafter`)
      columns.add(bytes, 7, bytes.length - 6)
    }
  }
  expect(columns.count).toBe(rows.length)
  const memory = new Uint8Array(columns.size + 3)
  columns.takeInto(memory, 3)
  expect(columns.count).toBe(0)
  return columnsOf(memory.subarray(3), rows.length, FIELDS)
}

describe('LocationColumns', () => {
  it('writes values as they are, again and again', () => {
    const text = fc.option(
      fc.string({ unit: 'grapheme', minLength: 1 }).map((value) => value.replaceAll(VALUE_SEPARATOR, ' ')),
    )
    const degrees = fc.integer({ min: -180_000_000, max: 180_000_000 }).map((units) => units / 1e6)
    const number = fc.option(fc.oneof(degrees, fc.double({ noNaN: true }), fc.nat(2 ** 32 - 1)))
    const row = fc.tuple(text, number, text, number)
    const columns = new LocationColumns(FIELDS)
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
        // JSON and Geofix write -0 as 0.
        const plain = rows.map((each) => each.map((value) => (Object.is(value, -0) ? 0 : value)))
        expect(columnsOfRows(columns, rows)).toEqual(
          FIELDS.map((_, field) => plain.map((each) => each[field])),
        )
      }),
    )
  })

  it('grows', () => {
    const rows = Array.from({ length: 5000 }, (_, index): Row => {
      const isKnown = index % 3 > 0
      return [isKnown ? 'GB' : null, index / 4, 'x'.repeat(1 + (index % 50)), null]
    })
    const found = columnsOfRows(new LocationColumns(FIELDS), rows)
    expect(found).toEqual(FIELDS.map((_, field) => rows.map((each) => each[field])))
  })
})
