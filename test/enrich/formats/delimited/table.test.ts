import { describe, expect, it } from 'vitest'
import { separatorLine } from '../../../../src/enrich/formats/delimited/table.ts'
import { enrichBytes, enrichText, utf8 } from '../../in-memory-run.ts'
import { run, text } from '../../world.ts'

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

  it.each<[string, string, string]>([
    ['Excel', 'sep=;\r\nip;a\r\n81.2.69.142;1\r\n', 'sep=;\r\nip;a;country_code\r\n81.2.69.142;1;GB\r\n'],
    ['a mark', '\ufeffsep=;\nip;a\n81.2.69.142;1\n', '\ufeffsep=;\nip;a;country_code\n81.2.69.142;1;GB\n'],
    ['bars', 'sep=|\nip|a,b;c\n81.2.69.142|1\n', 'sep=|\nip|a,b;c|country_code\n81.2.69.142|1|GB\n'],
    ['tabs', 'sep=\t\nip\ta\n81.2.69.142\t1\n', 'sep=\t\nip\ta\tcountry_code\n81.2.69.142\t1\tGB\n'],
    ['an empty line', 'sep=;\n\nip;a\n81.2.69.142;1\n', 'sep=;\n\nip;a;country_code\n81.2.69.142;1;GB\n'],
    ['one column', 'sep=;\nip\n81.2.69.142\n', 'sep=;\nip;country_code\n81.2.69.142;GB\n'],
  ])('keeps the line, and its header is that which follows: %s', (_, table, expected) => {
    for (const blockBytes of [1, 7, 4096]) {
      const { output, counts } = enrichBytes(utf8(table), options, blockBytes)
      expect(text(output)).toBe(expected)
      expect(counts).toMatchObject({ resolved: 1, bad: 0 })
    }
  })

  it('is read as the separator line says, whatever the header looks like', () => {
    const { plan, notes } = enrichBytes(utf8('sep=;\nip;a,b,c\n81.2.69.142;1\n'), options)
    expect(plan).toMatchObject({ format: 'csv', delimiter: 0x3b, width: 2 })
    expect(notes).toContain('fields are separated by ";"')
  })

  it('is not TSV if the separator line says otherwise', () => {
    expect(enrichBytes(utf8('sep=;\nip;a\tb\n81.2.69.142;1\t2\n'), options).plan).toMatchObject({
      format: 'csv',
      width: 2,
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
