import { describe, expect, it } from 'vitest'
import { planTable } from '../../../../src/enrich/formats/delimited/delimited.ts'
import { looksLikeCsv, looksLikeTsv } from '../../../../src/enrich/formats/delimited/table.ts'
import type { EnrichOptions } from '../../../../src/enrich/formats/formats.ts'
import { bytesOf, enrichBytes, enrichText, utf8 } from '../../world.ts'

const plan = (text: string, options: EnrichOptions = {}, format: 'csv' | 'tsv' = 'csv', isWhole = true) =>
  planTable({ bytes: utf8(text), isWhole }, options, format, null)

describe('looksLikeCsv and looksLikeTsv', () => {
  it.each([
    ['ip,a\n1.2.3.4,5\n', true, false],
    ['ip;a\n1.2.3.4;5\n', true, false],
    ['\ufeff"ip","a"\r\n"1.2.3.4","x\r\ny"\r\n', true, false],
    ['ip,a\n', true, false],
    ['ip,a', true, false],
    ['ip\n1.2.3.4\n', true, false],
    ['client_ip\n', true, false],
    ['ip\nnonsense\n', false, false],
    ['name\nvalue\n', false, false],
    ['ip\ta\n1.2.3.4\t5\n', false, true],
    ['ip\ta,b\n1.2.3.4\t"5\n9.9.9.9\t"\n', false, true],
    ['A text, with commas.\nAnd lines.\nOf any, kind, whatever.\n', false, false],
    ['', false, false],
    ['"a\n', false, false],
  ])('%j: %s, %s', (text, isCsv, isTsv) => {
    expect([looksLikeCsv(utf8(text)), looksLikeTsv(utf8(text))]).toEqual([isCsv, isTsv])
  })
})

describe('the delimiter', () => {
  it.each([
    ['a,ip\n1,1.2.3.4\n', ',', 'a comma'],
    ['a;ip\n1;1.2.3.4\n', ';', 'semicolons'],
    ['"a,b";ip\n1;1.2.3.4\n', ';', 'a comma in quotes'],
    ['a;ip\n"1,5";1.2.3.4\n', ';', 'commas in values'],
    ['a;ip;c,d\n1;1.2.3.4;"2,5"\n', ';', 'both in the header: semicolons fit'],
    ['ip,b;c\n1.2.3.4,"x"\n', ',', 'both in the header: commas fit'],
    ['ip,b;c\n1.2.3.4,"x;y"\n', ',', 'as many: commas'],
    ['ip\n1.2.3.4\n', ',', 'none'],
  ])('of %j is %s: %s', (text, delimiter) => {
    expect(plan(text, { field: '1' }).plan.delimiter).toBe(delimiter.charCodeAt(0))
  })

  it('of TSV is a tab', () => {
    expect(plan('a,b\tip\n,\t1.2.3.4\n', {}, 'tsv').plan).toMatchObject({
      delimiter: 9,
      address: 1,
      names: ['a,b', 'ip'],
    })
  })

  it('is in the notes if it is guessed', () => {
    expect(plan('a;ip\n1;1.2.3.4\n').notes).toEqual([
      'fields are separated by semicolons',
      'the address is in column 2, ip',
    ])
  })
})

describe('the quotes of TSV', () => {
  it.each([
    ['ip\tq\n1.2.3.4\t"a\tb"\n', true, 'delimiters in quotes'],
    ['ip\tq\n1.2.3.4\t"a\nb"\n', true, 'line ends in quotes'],
    ['ip\tq\n1.2.3.4\ta "b"\n', true, 'none that opens a field'],
    ['ip\tq\n1.2.3.4\t"a" b\n', true, 'text after them'],
    ['ip\tq\n1.2.3.4\t"a\n9.9.9.9\tb\n1.1.1.1\t5" disk\n', false, 'left open'],
    ['ip\tq\n1.2.3.4\t"\n9.9.9.9\t"\n', false, 'a column of quotes'],
  ])('%j mean something: %s, %s', (text, quotes) => {
    const { plan: made, notes } = plan(text, {}, 'tsv')
    expect(made.quotes).toBe(quotes)
    expect(notes.includes('quotes are text')).toBe(!quotes)
  })
})

describe('the column of the address', () => {
  it.each<[string, EnrichOptions, number, string]>([
    ['a,ip\n1,1.2.3.4\n', {}, 1, 'by its name'],
    ['a,Client-IP\n1,1.2.3.4\n', {}, 1, 'by its name, spelt otherwise'],
    ['"a","remote_addr"\n1,1.2.3.4\n', {}, 1, 'by its name, in quotes'],
    ['a, ip\n1, 1.2.3.4\n', {}, 1, 'by its name, with blanks'],
    ['host,ip\n1.1.1.1,1.2.3.4\n', {}, 1, 'by the better name'],
    ['ip,client_ip\nx,1.2.3.4\ny,9.9.9.9\n', {}, 1, 'not by a name whose values are none'],
    ['ip,x\n-,1\n1.2.3.4,1\nn/a,2\n', {}, 0, 'with as many addresses as other values'],
    ['a,peer\n1,1.2.3.4\n', {}, 1, 'as the only one with addresses'],
    ['a,ip\n', {}, 1, 'by its name alone, without rows'],
    ['a,b\n1,1.2.3.4\n', { field: '2' }, 1, 'by its number'],
    ['a,b,1\n1,1.2.3.4,9.9.9.9\n', { field: '1' }, 2, 'by a name that is a number'],
    ['a,b\n1,x\n', { field: 'b' }, 1, 'as it was told, whatever it holds'],
    ['1,1.2.3.4\n2,9.9.9.9\n', { header: false }, 1, 'without a header'],
    ['1.2.3.4,9.9.9.9\n', { header: false, field: '2' }, 1, 'the same, by its number'],
    ['ip,xff\n1.2.3.4,"9.9.9.9, 10.0.0.1"\n', { trustedProxies: ['10.0.0.1'] }, 1, 'a list, trusted'],
    ['ip,xff\n1.2.3.4,"9.9.9.9, 10.0.0.1"\n', {}, 0, 'no list without them'],
  ])('of %j with %j is %i: %s', (text, options, column) => {
    expect(plan(text, options).plan.address).toBe(column)
  })

  it.each([
    ['a,ip\n1,1.2.3.4\n', 'the address is in column 2, ip'],
    ['ip,x\n1.2.3.4,9.9.9.9\n', 'the address is in column 1, ip (addresses are also in column 2, x)'],
  ])('of %j is in the notes', (text, note) => {
    expect(plan(text).notes).toEqual([note])
  })

  it.each<[string, EnrichOptions, string, string, string]>([
    ['a,b\n1,2\n', {}, 'ENRICH_FIELD_UNKNOWN', 'the columns are 1 (a); 2 (b)', 'no addresses'],
    [
      `${Array.from('abcdefghijklm').join(',')}\n${Array.from('nopqrstuvwxyz').join(',')}\n`,
      {},
      'ENRICH_FIELD_UNKNOWN',
      '12 (l); …',
      'more columns than are named',
    ],
    [
      'src,dst\n1.2.3.4,9.9.9.9\n',
      {},
      'ENRICH_FIELD_UNKNOWN',
      'addresses are in column 1, src (for example 1.2.3.4), column 2, dst (for example 9.9.9.9)',
      'two',
    ],
    ['ip,b\nx,y\n', {}, 'ENRICH_FIELD_UNKNOWN', 'the columns are', 'a name only'],
    [
      'ip,b\n1.2.3.4,y\n',
      { field: 'IP' },
      'ENRICH_FIELD_UNKNOWN',
      'the columns with addresses are 1 (ip)',
      'another case',
    ],
    ['ip,b\n1.2.3.4,y\n', { field: '3' }, 'ENRICH_FIELD_UNKNOWN', 'no column "3"', 'a number too large'],
    [
      'x,1.2.3.4\n',
      { field: 'x', header: false },
      'ENRICH_FIELD_UNKNOWN',
      'the columns with addresses are column 2',
      'a name where columns have none',
    ],
    ['ip,b\n1.2.3.4,y\n', { field: '0' }, 'ENRICH_FIELD_UNKNOWN', '"0"', 'no number'],
    ['ip,ip\n1.2.3.4,y\n', { field: 'ip' }, 'ENRICH_FIELD_UNKNOWN', 'several', 'a name that is there twice'],
    ['ip,ip\n1.2.3.4,9.9.9.9\n', {}, 'ENRICH_FIELD_UNKNOWN', '--field 1 or --field 2', 'two of one name'],
    [
      '1.2.3.4,y\n',
      { field: 'ip', header: false },
      'ENRICH_FIELD_UNKNOWN',
      '"ip"',
      'a name without a header',
    ],
    ['1,1.2.3.4\n2,9.9.9.9\n', {}, 'ENRICH_HEADER_MISSING', '"1.2.3.4"', 'data where the header should be'],
    [
      'ip,t\n1.2.3.4,5\n',
      { timeField: 'x' },
      'ENRICH_FIELD_UNKNOWN',
      '"x"; the columns are 1 (ip); 2 (t)',
      'no such time',
    ],
    ['a,xff\n1,"1.2.3.4, 9.9.9.9"\n', { field: 'xff' }, 'ENRICH_FIELD_IS_LIST', 'trusted', 'a list'],
    ['ip,city\n1.2.3.4,y\n', {}, 'ENRICH_FIELD_EXISTS', 'city', 'a column that is there'],
    ['"ip\n', {}, 'ENRICH_FORMAT_UNKNOWN', 'quote', 'a header that cannot be read'],
    ['ip,abc\n', { maxLineBytes: 5 }, 'ENRICH_FORMAT_UNKNOWN', 'longer than 5', 'a header over the bound'],
  ])('of %j with %j is none: %s', (text, options, code, message) => {
    expect(() => plan(text, options)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
  })

  it('may be the last of very many', () => {
    const most = 2 ** 18
    const columns = (count: number) => `${'c,'.repeat(count - 1)}ip\n`
    const { names, address } = plan(columns(most)).plan
    expect([names.length, address]).toEqual([most, most - 1])
    expect(() => plan(columns(most + 1))).toThrow(/has 262145 columns: 262144 are the most/)
  })

  it('is not looked for in an input without a record', () => {
    expect(plan('').plan).toMatchObject({ names: [], address: 0 })
  })

  it('is looked for in whole records only', () => {
    // The last record is cut off in the middle of an address that would be none.
    expect(plan('a,peer\n1,1.2.3.4\n2,9.9.9', {}, 'csv', false).plan.address).toBe(1)
  })
})

describe('the plan', () => {
  it('is plain data', () => {
    const { plan: made } = plan('city,ip,time\nx,1.2.3.4,5\n', { overwrite: true, timeField: 'time' })
    expect(made).toMatchObject({
      names: ['city', 'ip', 'time'],
      address: 1,
      time: [2],
      replaced: [4, -1, -1],
      headerLine: 1,
    })
  })

  it('adds columns that are not there beside others that are', () => {
    expect(plan('ip,city\n1.2.3.4,y\n', { fields: ['country_code'] }).plan.replaced).toEqual([])
  })
})

const AT = Date.UTC(2026, 6, 1)
const csv = (text: string, options: EnrichOptions = {}): string =>
  enrichText(text, { format: 'csv', fields: ['country_code', 'city'], at: AT, ...options })

describe('columns', () => {
  it('have names that begin with the one that is given', () => {
    expect(csv('ip,city\n81.2.69.142,a\n', { into: 'src' })).toBe(
      'ip,city,src_country_code,src_city\n81.2.69.142,a,GB,London\n',
    )
    expect(csv('ip,src_city\n81.2.69.142,a\n', { into: 'src', overwrite: true })).toBe(
      'ip,src_city,src_country_code\n81.2.69.142,London,GB\n',
    )
    expect(() => csv('ip,src_city\n81.2.69.142,a\n', { into: 'src' })).toThrow(
      'the table has a column "src_city" already',
    )
    for (const into of ['a,b', 'a b', '"', 'a\n']) {
      expect(() => csv('ip\n81.2.69.142\n', { into })).toThrow(TypeError)
    }
  })

  it('leave bytes that are not UTF-8 as they are', () => {
    const { output } = enrichBytes(bytesOf('ip,\xff\n81.2.69.142,\xe9\xfe\n'), { fields: ['country_code'] })
    expect(output).toEqual(bytesOf('ip,\xff,country_code\n81.2.69.142,\xe9\xfe,GB\n'))
  })
})

describe('overwrite', () => {
  const given =
    'city,ip,"country_code",x\r\nold,81.2.69.142,"o,ld",1\r\n"o""ld",9.9.9.9,,2\r\n,89.160.20.112,,3'

  it('replaces old values by new ones, and appends the others', () => {
    expect(csv(given, { overwrite: true, fields: ['country_code', 'postal_code', 'city'] })).toBe(
      'city,ip,"country_code",x,postal_code\r\nLondon,81.2.69.142,GB,1,EC1A\r\n,9.9.9.9,,2,\r\n' +
        '"Linköping, ""Östra""\tStaden",89.160.20.112,SE,3,',
    )
  })

  it('adds nothing if all columns exist, and gives the same output for its own output', () => {
    const once = csv(given, { overwrite: true })
    expect(once.split('\r\n')[0]).toBe('city,ip,"country_code",x')
    expect(csv(once, { overwrite: true })).toBe(once)
  })

  it('fills all columns of a name', () => {
    expect(csv('city,ip,city\na,81.2.69.142,b\n', { overwrite: true, fields: ['city'] })).toBe(
      'city,ip,city\nLondon,81.2.69.142,London\n',
    )
  })
})

describe('TSV', () => {
  const tsv = (text: string): string => csv(text, { format: 'tsv' })

  it('has quotes around what has tabs, and commas as they are', () => {
    expect(tsv('ip\ta\n89.160.20.112\t"1\t2"\n')).toBe(
      'ip\ta\tcountry_code\tcity\n89.160.20.112\t"1\t2"\tSE\t"Linköping, ""Östra""\tStaden"\n',
    )
  })
})

describe('bad records', () => {
  const given = 'ip,a\n81.2.69.142\n81.2.69.142,1,2\n9.9.9.9,"x\ny"\n\n81.2.69.142,1\n81.2.69.142,"'

  it('stay as they are and are counted by physical lines', () => {
    const { output, counts } = enrichBytes(utf8(given), { format: 'csv', fields: ['country_code'] })
    expect(new TextDecoder().decode(output)).toBe(
      'ip,a,country_code\n81.2.69.142\n81.2.69.142,1,2\n9.9.9.9,"x\ny",\n\n81.2.69.142,1,GB\n81.2.69.142,"',
    )
    expect(counts).toMatchObject({ lines: 6, resolved: 1, bad: 3, blank: 1, failed: { 'not-found': 1 } })
    expect(counts.badLines).toEqual([
      { line: 2, message: 'it has 1 column, not 2' },
      { line: 3, message: 'it has 3 columns, not 2' },
      { line: 8, message: 'the quote that opens its field 2 is not closed' },
    ])
  })
})
