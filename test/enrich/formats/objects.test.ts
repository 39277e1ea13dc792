// Lines of every format as objects, and locations with some members: the options `to` and `fields`.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definitionOf, FORMATS } from '../../../src/enrich/formats/formats.ts'
import { LOCATION_FIELDS } from '../../../src/enrich/options.ts'
import { AT, enrichBytes, enrichText, utf8 } from '../world.ts'

const WHOLE = {
  country_code: 'GB',
  country_name: 'United Kingdom',
  region_code: 'GB-ENG',
  region_name: 'England',
  city: 'London',
  postal_code: 'EC1A',
  latitude: 51.5142,
  longitude: -0.0931,
  timezone_id: 'Europe/London',
  timezone_offset: '+01:00',
}

describe.each(FORMATS)('the format %s', (format) => {
  const given = format === 'custom-log' ? { logFormat: '$remote_addr [$time_local] $status' } : {}
  const options = { at: Date.UTC(2026, 6, 1), to: 'ndjson', ...given } as const
  const text = `${definitionOf(format).example}\n`

  it('has an object a line, with the whole record of the location', () => {
    const lines = enrichText(text, options).trimEnd().split('\n')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      location: { ip: '81.2.69.142', city: 'London', timezone: { offset: '+01:00' } },
    })
  })

  it('has the members of the location that are asked for, in their order', () => {
    for (const fields of [
      ['country_code', 'city'],
      ['timezone_offset'],
      ['longitude', 'timezone_offset', 'latitude'],
      ['city', 'timezone_offset'],
      LOCATION_FIELDS,
    ] as const) {
      const { location } = JSON.parse(enrichText(text, { ...options, fields }))
      expect(location).toEqual(Object.fromEntries(fields.map((field) => [field, WHOLE[field]])))
      expect(Object.keys(location)).toEqual(fields)
    }
  })
})

describe('a location with some members', () => {
  it('is null without a location, and has null for what is unknown', () => {
    const text = '{"ip":"10.0.0.1"}\n{"ip":"2001:4860::1"}\n'
    expect(enrichText(text, { fields: ['city', 'timezone_offset'], at: AT })).toBe(
      '{"ip":"10.0.0.1","location":null}\n{"ip":"2001:4860::1","location":{"city":null,"timezone_offset":null}}\n',
    )
  })
})

describe('a table as objects', () => {
  it('keeps names and values, and gives columns without a name of their own one', () => {
    const text = '\ufeffid,id,,"a ""b""",ip\r\n1,,x,"two\nlines, ""q""",81.2.69.142\r\nbad\r\n'
    expect(enrichText(text, { to: 'ndjson', fields: ['city'], field: 'ip', into: 'place' })).toBe(
      '{"id":"1","id_2":null,"column_3":"x","a \\"b\\"":"two\\nlines, \\"q\\"","ip":"81.2.69.142","place":{"city":"London"}}\n' +
        '{"raw":"bad","place":null}\n',
    )
    expect(
      enrichText('81.2.69.142\tx\n9.9.9.9\ty\n', { to: 'ndjson', header: false, fields: ['city'] }),
    ).toBe(
      '{"1":"81.2.69.142","2":"x","location":{"city":"London"}}\n{"1":"9.9.9.9","2":"y","location":null}\n',
    )
    expect(() => enrichText('ip,location\n81.2.69.142,x\n', { to: 'ndjson', overwrite: true })).toThrow(
      /has a column "location" already/,
    )
  })

  it('has the values of any table', () => {
    const value = fc.string({ unit: fc.constantFrom(...'ab ,;"\t\n\ré1') }).map((text) => text.trim())
    const table = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(table, fc.integer({ min: 30, max: 200 }), (rows, blockBytes) => {
        const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
        const lines = rows.map(([a, b]) => `81.2.69.142,${quoted(a)},${quoted(b)}\n`)
        const input = utf8(`ip,a,b\n${lines.join('')}`)
        const { output } = enrichBytes(input, { format: 'csv', to: 'ndjson', at: AT }, blockBytes)
        const objects = new TextDecoder()
          .decode(output)
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
        const orNull = (text: string): string | null => (text === '' ? null : text)
        expect(objects.map(({ a, b }) => [a, b])).toEqual(rows.map(([a, b]) => [orNull(a), orNull(b)]))
      }),
    )
  })
})
