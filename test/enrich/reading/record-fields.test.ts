import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RecordFields } from '../../../src/enrich/reading/record-fields.ts'
import { viewOf } from '../../../src/enrich/swar.ts'
import { utf8 } from '../world.ts'

const COMMA = 0x2c

/** The fields of a record with their quotes, and their values; or why it cannot be read. */
function read(text: string, quotes = true): { raw: string[]; values: string[] } | string {
  const bytes = utf8(`x${text}\n`)
  const fields = new RecordFields(COMMA, quotes, 200)
  if (!fields.read(bytes, 1, bytes.length - 1)) return fields.fault
  const numbers = [...Array(fields.count).keys()]
  const decode = (start: number, end: number): string => new TextDecoder().decode(bytes.subarray(start, end))
  return {
    raw: numbers.map((field) => decode(fields.starts[field] ?? 0, fields.ends[field] ?? 0)),
    values: numbers.map((field) => {
      fields.findValue(bytes, field)
      return decode(fields.valueStart, fields.valueEnd)
    }),
  }
}

describe('fields', () => {
  it.each<[string, string[], string[], string]>([
    ['a,b', ['a', 'b'], ['a', 'b'], 'plain'],
    ['', [''], [''], 'one, empty'],
    [',', ['', ''], ['', ''], 'two, empty'],
    ['a,b,', ['a', 'b', ''], ['a', 'b', ''], 'the last is empty'],
    ['"a","b"', ['"a"', '"b"'], ['a', 'b'], 'in quotes'],
    ['"a,b",c', ['"a,b"', 'c'], ['a,b', 'c'], 'a delimiter in quotes'],
    ['"a\r\nb",c', ['"a\r\nb"', 'c'], ['a\r\nb', 'c'], 'a line end in quotes'],
    ['"a""b",""', ['"a""b"', '""'], ['a""b', ''], 'doubled quotes, and nothing in quotes'],
    ['""""', ['""""'], ['""'], 'only a doubled quote'],
    ['"""a""",b', ['"""a"""', 'b'], ['""a""', 'b'], 'quotes in quotes'],
    ['a"b,c"', ['a"b', 'c"'], ['a"b', 'c"'], 'quotes in the middle are text'],
    [' "a,b"', [' "a', 'b"'], ['"a', 'b"'], 'and after a blank'],
    ['"a" b,c', ['"a" b', 'c'], ['"a" b', 'c'], 'text after quotes'],
    ['"a"b"c,d', ['"a"b"c', 'd'], ['"a"b"c', 'd'], 'more quotes there'],
    [' a\t,  ,b ', [' a\t', '  ', 'b '], ['a', '', 'b'], 'blanks around a value'],
    ['" a "', ['" a "'], ['a'], 'the same in quotes'],
    ['é,€', ['é', '€'], ['é', '€'], 'characters of several bytes'],
  ])('of %j', (text, raw, values) => {
    expect(read(text)).toEqual({ raw, values })
  })

  it.each([
    ['"a', 1],
    ['"', 1],
    ['a,"b,c', 2],
    ['a,b,"c""', 3],
    ['"""', 1],
  ])('of %j are not there: a quote is open', (text, field) => {
    expect(read(text)).toBe(`the quote that opens its field ${field} is not closed`)
  })

  it('end at the quote that is not doubled, wherever it is', () => {
    for (let size = 0; size <= 9; size++) {
      for (let at = 0; at <= size; at++) {
        const [before, after] = ['a'.repeat(at), '#'.repeat(size - at)]
        for (const inner of ['', '""', '""""', ',é']) {
          const value = `${before}${inner}${after}`
          expect(read(`"${value}",b`)).toEqual({ raw: [`"${value}"`, 'b'], values: [value, 'b'] })
          expect(read(`"${value}"`)).toEqual({ raw: [`"${value}"`], values: [value] })
        }
        expect(read(`"${before}","${after}"`)).toEqual({
          raw: [`"${before}"`, `"${after}"`],
          values: [before, after],
        })
        expect(read(`"${before}""${after}`)).toBe('the quote that opens its field 1 is not closed')
      }
    }
  })

  it('keep quotes that are text', () => {
    expect(read('"a,b",c"', false)).toEqual({ raw: ['"a', 'b"', 'c"'], values: ['"a', 'b"', 'c"'] })
    expect(read('"a"', false)).toEqual({ raw: ['"a"'], values: ['"a"'] })
  })

  it('can be many', () => {
    const names = Array.from({ length: 150 }, (_, index) => `column ${index}`)
    expect(read(names.join(','))).toEqual({ raw: names, values: names })
  })

  it('are counted if their offsets are not kept', () => {
    const fields = new RecordFields(COMMA, true, 2)
    expect(fields.read(utf8('a,b,c,d\n'), 0, 7)).toBe(true)
    expect([fields.count, fields.starts[1] ?? 0, fields.ends[1] ?? 0]).toEqual([4, 2, 3])
  })
})

describe('a record that is one line', () => {
  const text = fc
    .array(
      fc.constantFrom('a', 'bc', 'def', ',', ',', ',', '"', '"', '",', ',"', '""', ' ', 'é', '\t', '\r'),
      {
        maxLength: 30,
      },
    )
    .map((parts) => parts.join(''))

  it('has the same fields, or is left to the other way', () => {
    fc.assert(
      fc.property(text, fc.nat(2), fc.boolean(), (record, last, quotes) => {
        // Words are read beyond the line feed.
        const bytes = utf8(`x${record}\n,",",",",`)
        const end = utf8(record).length + 1
        const fields = new RecordFields(COMMA, quotes, 200)
        const other = new RecordFields(COMMA, quotes, 200)
        const lineFeed = fields.readLine(bytes, viewOf(bytes), 1, last)
        if (lineFeed === -1) return
        expect(other.read(bytes, 1, end)).toBe(true)
        expect([lineFeed, fields.count]).toEqual([end, other.count])
        expect([fields.textAfterQuote, other.textAfterQuote]).toEqual([0, 0])
        for (let field = 0; field <= last; field++)
          expect([fields.starts[field], fields.ends[field]]).toEqual([other.starts[field], other.ends[field]])
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['a,b,c,d', 0, true, 4],
    ['a,b', 0, true, 2],
    ['a,,,"b,""c",,d"e,"f"', 1, true, 7],
    ['a,"b,c', 0, false, 3],
    ['é,ü,"ö,\u{1f600}"', 0, true, 3],
  ])('of %j has %j', (record, last, quotes, count) => {
    const fields = new RecordFields(COMMA, quotes, 200)
    const bytes = utf8(`${record}\n.......`)
    expect([fields.readLine(bytes, viewOf(bytes), 0, last), fields.count]).toEqual([bytes.length - 8, count])
  })

  it.each([
    ['"a",b', 0, 'quotes where offsets are kept'],
    ['a,b', 1, 'too few fields'],
    ['a,"b"c,d', 0, 'text after a quote'],
    ['a,"b', 0, 'an open quote'],
    ['a,b\r', 0, 'a carriage return'],
    ['a,"b\tc"', 0, 'a control character in quotes'],
  ])('of %j is left to the other way', (record, last) => {
    const bytes = utf8(`${record}\n.......`)
    expect(new RecordFields(COMMA, true, 200).readLine(bytes, viewOf(bytes), 0, last)).toBe(-1)
  })
})
