import { describe, expect, it } from 'vitest'
import { separatorLine } from '../../../../src/enrich/formats/delimited/table.ts'
import type { EnrichOptions } from '../../../../src/enrich/formats/formats.ts'
import { tableOf } from '../../../table-of.ts'
import { enrichBytes, enrichText, run, text, utf8 } from '../../world.ts'

describe('separatorLine', () => {
  it.each<[string, string, number]>([
    ['sep=;\nip;a\n', ';', 6],
    ['sep=;\r\nip;a\r\n', ';', 7],
    ['SEP=,\nip,a\n', ',', 6],
    ['sep=\t\nip\ta\n', '\t', 6],
    ['"sep=|"\nip|a\n', '|', 8],
    ['\ufeffsep=;\nip;a\n', ';', 9],
    ['sep=;', ';', 5],
  ])('is found in %j', (table, delimiter, length) => {
    expect(separatorLine(utf8(table))).toEqual({ delimiter: delimiter.charCodeAt(0), length })
  })

  it.each([
    '',
    'sep',
    'sep=',
    'sep=\nip\n',
    'sep=;;\n',
    'sep=1\n',
    'sep=.\n',
    'sep="\n',
    'sep=;,ip\n',
    '\nsep=;\n',
    'ip;a\nsep=;\n',
  ])('is not in %j', (table) => expect(separatorLine(utf8(table))).toBeNull())
})

describe('a table with a separator line', () => {
  const options = { fields: ['country_code'] as const }

  it('is read as the separator line says, whatever the header looks like', () => {
    const { plan, notes } = enrichBytes(utf8('sep=;\nip;a,b,c\n81.2.69.142;1\n'), options)
    expect(plan).toMatchObject({ format: 'csv', delimiter: 0x3b, names: ['ip', 'a,b,c'] })
    expect(notes).toContain('fields are separated by ";"')
  })

  it('is not TSV if the separator line says otherwise', () => {
    expect(enrichBytes(utf8('sep=;\nip;a\tb\n81.2.69.142;1\t2\n'), options).plan).toMatchObject({
      format: 'csv',
      names: ['ip', 'a\tb'],
    })
  })

  it('may have no header', () => {
    expect(enrichText('sep=;\n81.2.69.142;1\n', { ...options, header: false })).toBe(
      'sep=;\n81.2.69.142;1;GB\n',
    )
  })

  it('fits the bound of a line, or is an error', () => {
    expect(() =>
      enrichText('sep=;\n::;1\n', { ...options, header: false, format: 'csv', maxLineBytes: 4 }),
    ).toThrow(/the header is longer than 4 bytes/)
  })

  it('keeps the separator line if records are left out, and does not count it', () => {
    const table = 'sep=;\nip;a\n81.2.69.142;1\nx;1;2\n'
    const { output, counts } = run(table, { ...options, onlyFailed: true })
    expect(text(output)).toBe('sep=;\nip;a;country_code\nx;1;2\n')
    expect(counts).toMatchObject({ lines: 2, blank: 0, bad: 1, badLines: [{ line: 4 }] })
  })
})

const outcome = (input: string, options: EnrichOptions = {}): string => {
  try {
    return text(run(input, { format: 'csv', fields: ['country_code'], ...options }).output)
  } catch (error) {
    return error instanceof Error ? `${Reflect.get(error, 'code')}: ${error.message}` : ''
  }
}

const ROWS = '2,81.2.69.142,x\n3,9.9.9.9,y\n4,89.160.20.112,z\n'

describe('the first row of a table', () => {
  it.each(tableOf(import.meta.dirname, 'first-rows-of-data.tsv'))(
    'is not lost as the header if it is data: %s',
    (first, found) => {
      const refused = outcome(`${first}\n${ROWS}`)
      expect(refused).toContain(
        'ENRICH_HEADER_MISSING: its first line, where a header has names, looks like data: ',
      )
      expect(refused).toContain(found)
      expect(refused).toContain('add --no-header --field 2 (')
      // What the message says works.
      const lines = outcome(`${first}\n${ROWS}`, {
        header: false,
        field: '2',
        trustedProxies: ['10.0.0.0/8'],
      }).split('\n')
      expect(lines[1]).toBe('2,81.2.69.142,x,GB')
    },
  )

  it('is not lost if the addresses have nothing over them', () => {
    expect(outcome(`a,,b\n${ROWS}`, { header: false, field: '2' })).toMatch(/^a,,b,\n2,81.2.69.142,x,GB/)
    const many = Array.from({ length: 20 }, (_, i) => `${i},${20 + i}.9.${90 + i}.7,q\n`).join('')
    expect(outcome(`a,,b\n${many}`)).toMatch(
      /ENRICH_HEADER_MISSING: .*nothing over the addresses of column 2/,
    )
  })

  it.each<[string, EnrichOptions, string]>([
    ['n,ip,x', {}, 'usual names'],
    [',ip,x', {}, 'an index without a name'],
    ['2026,ip,-', {}, 'a usual name beside what could be data'],
    ['n,visitor,1', { field: 'visitor' }, 'the name of the field'],
    ['0,1,2', { field: '2' }, 'the name of a column that is numbered'],
  ])('is the header if it has %3$s: %s', (first, options, _) => {
    expect(outcome(`${first}\n${ROWS}`, options).split('\n')[0]).toBe(`${first},country_code`)
  })

  it('can come again where two tables were joined', () => {
    expect(outcome(`n,ip,x\n${ROWS}n,ip,x\n${ROWS}`)).toMatch(/^n,ip,x,country_code\n/)
    expect(outcome(`n,visitor,name\n${ROWS}n,visitor,name\n${ROWS}`)).toMatch(
      /ENRICH_FIELD_UNKNOWN.*--field visitor$/,
    )
  })
})
