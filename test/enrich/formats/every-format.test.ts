import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FORMAT_DEFINITIONS } from '../../../src/enrich/formats/all-formats.ts'
import { definitionOf, FORMATS, layoutOf, makePlan } from '../../../src/enrich/formats/formats.ts'
import { LOCATION_FIELDS } from '../../../src/enrich/options.ts'
import { TARGETS } from '../../fuzz/targets.ts'
import { CASES, golden, ROWS } from '../golden/cases.ts'
import { AT, enrichBytes, enrichText, utf8, wholeSample } from '../world.ts'

const folder = join(import.meta.dirname, '..', '..', '..')

/** The golden inputs of each format, with the options of their case. */
const goldenInputs = CASES.map(([input, options]) => {
  const bytes = golden(input)
  const { plan } = makePlan(wholeSample(bytes), options)
  return { format: plan.format, plan, bytes, options: { at: AT, ...options } }
})

const guide = readFileSync(join(folder, 'src/enrich/README.md'), 'utf8')
const inGuide = guide
  .split('\n')
  .flatMap((line) => /^\| .* \| ((?:`[\w-]+`(?:, )?)+) \| /.exec(line)?.[1]?.split(', ') ?? [])

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
  const { example, title } = definitionOf(format)
  const given = format === 'custom-log' ? { logFormat: '$remote_addr [$time_local] $status' } : {}
  it('has a golden file: a case in test/enrich/golden/cases.ts', () => {
    expect(goldenInputs.map((each) => each.format)).toContain(format)
  })

  it('has a golden file with a directive after a record, if it has directives', () => {
    const inputs = goldenInputs.filter((each) => each.format === format)
    const withDirectives = inputs.filter(({ plan }) => layoutOf(plan).directives !== null)
    const changing = withDirectives.filter(({ plan, bytes }) => {
      const { firstByte = -1 } = layoutOf(plan).directives ?? {}
      const first = String.fromCharCode(firstByte)
      const lines = new TextDecoder().decode(bytes).trimEnd().split('\n')
      const record = lines.findIndex((line) => line.trim() !== '' && !line.startsWith(first))
      return lines.slice(record).some((line) => line.startsWith(first))
    })
    expect(changing.length > 0).toBe(withDirectives.length > 0)
  })

  it('has an example, which is recognised, and whose address is located', () => {
    const { counts, plan } = enrichBytes(utf8(`${example}\n`), { ...given, at: AT })
    expect(plan).toMatchObject({ format })
    expect(counts).toMatchObject({ resolved: 1, bad: 0, failed: {} })
    expect(title).not.toBe('')
  })

  it('has golden rows, unless it refuses rows', () => {
    const isRefused = FORMAT_DEFINITIONS.find(({ name }) => name === format)?.planRows === null
    expect(ROWS.some(([, options]) => options.format === format)).toBe(!isRefused)
  })

  it('has a row in the first table of src/enrich/README.md', () => {
    expect(inGuide.filter((name) => name === `\`${format}\``)).toHaveLength(1)
  })

  it('has a fuzz target: one of test/fuzz/targets names it in its formats', () => {
    expect(TARGETS.flatMap(({ formats }) => formats ?? [])).toContain(format)
  })

  const toObjects = { at: Date.UTC(2026, 6, 1), to: 'ndjson', ...given } as const
  it('refuses the name of lines that cannot be read for the location', () => {
    const options = { ...toObjects, format, into: 'raw' }
    expect(() => makePlan(wholeSample(`${example}\n`), options)).toThrow(/"into" must not be raw: /)
  })

  const text = `${example}\n`

  it('has an object a line, with the whole record of the location', () => {
    const lines = enrichText(text, toObjects).trimEnd().split('\n')
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
      const { location } = JSON.parse(enrichText(text, { ...toObjects, fields }))
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
})
