import { describe, expect, it } from 'vitest'
import { EnrichError } from '../../src/enrich/errors.ts'
import { makeRowPlan, missingRowOptions, type RowOptions } from '../../src/enrich/row-writer.ts'
import { createRowEnricher, type RowEnricherOptions } from '../../src/enrich.ts'
import { Resolver } from '../../src/index.ts'
import { BORROW, REPLACE } from '../../src/location/database-set.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { bytesOf, openWorld, utf8 } from './world.ts'

const resolver = await openWorld()
const CITY = { resolver, format: 'tsv', quoting: 'none', field: '1', fields: ['city'], at: 0 } as const
const LIST = { resolver, format: 'list', append: true, at: 0 } as const

const textsOf = (rows: readonly Uint8Array[]): string[] =>
  rows.map((row) => new TextDecoder('latin1').decode(row))

describe('createRowEnricher', () => {
  it('gives a row for each row of an array', () => {
    const rows = ['81.2.69.142', '', '10.0.0.1\n', '\n', 'x\ty', '81.2.69.142'].map(utf8)
    expect(textsOf(createRowEnricher(CITY)(rows))).toEqual([
      '81.2.69.142\tLondon',
      '\t\\N',
      '10.0.0.1\t\\N',
      '\t\\N',
      'x\ty\t\\N',
      '81.2.69.142\tLondon',
    ])
    expect(createRowEnricher(CITY)([])).toEqual([])
    expect(createRowEnricher(CITY)(new Uint8Array(0))).toEqual([])
  })

  it('follows the databases of the resolver', async () => {
    const following = await openWorld()
    const enrich = createRowEnricher({ ...CITY, resolver: following })
    expect(textsOf(enrich(utf8('81.2.69.142')))).toEqual(['81.2.69.142\tLondon'])
    const other = new MmdbWriter({ databaseType: 'Other' }).insert('81.2.69.0/24', {
      city: { names: { en: 'Leeds' } },
    })
    following[REPLACE]((await Resolver.open(other.toBytes()))[BORROW]())
    expect(textsOf(enrich(utf8('81.2.69.142')))).toEqual(['81.2.69.142\tLeeds'])
    following.close()
    expect(() => enrich(utf8('81.2.69.142'))).toThrow('the resolver is closed')
  })

  it.each<[string, RowEnricherOptions, string, string]>([
    ['escapes line ends where quotes are text', CITY, 'x\ta\nb\rc', 'x\ta\\nb\\rc\t\\N'],
    ['before line ends', CITY, 'x\\\ny\\\\\r', 'x\\\\\\ny\\\\\\r\t\\N'],
    ['makes spaces of them elsewhere', LIST, 'a\nb\rc', 'a b c\tnull'],
    ['keeps a return at the end', LIST, 'a\r\n', 'a\tnull\r'],
    ['of a row that is too long too', { ...LIST, maxLineBytes: 3 }, 'a\nb\rc', 'a b c\tnull'],
    ['with a return at its end', { ...LIST, maxLineBytes: 3 }, 'a\rbc\r\n', 'a bc\tnull\r'],
    [
      'in quoted tables',
      { ...CITY, format: 'csv', quoting: 'double', maxLineBytes: 3 },
      'a\rbc\r\n',
      'a bc,\r',
    ],
  ])('%s', (_, options, row, expected) => {
    expect(textsOf(createRowEnricher(options)([bytesOf(row)]))).toEqual([expected])
  })

  it('does not change the rows', () => {
    const row = utf8('a\nb')
    createRowEnricher(LIST)([row])
    expect(row).toEqual(utf8('a\nb'))
  })

  it('takes rows of another realm', () => {
    const [row] = createRowEnricher(CITY)([Buffer.from('81.2.69.142')])
    expect(textsOf(row === undefined ? [] : [row])).toEqual(['81.2.69.142\tLondon'])
  })

  it('reads the times of the time field', () => {
    const enrich = createRowEnricher({ ...CITY, timeField: '2', fields: ['timezone_offset'] })
    const rows = ['2026-01-01T00:00:00Z', '2026-07-01T00:00:00Z', 'x', '9'.repeat(9000)].map(
      (time) => `81.2.69.142\t${time}`,
    )
    expect(textsOf(enrich(rows.map(utf8))).map((row) => row.slice(-6))).toEqual([
      '+00:00',
      '+01:00',
      '+01:00',
      '+01:00',
    ])
  })

  it('refuses what is not rows, a missing option, and a closed resolver', async () => {
    const enrich = createRowEnricher(CITY)
    for (const rows of ['81.2.69.142', null, ['81.2.69.142'], [null]]) {
      expect(() => Reflect.apply(enrich, undefined, [rows])).toThrow(TypeError)
    }
    expect(() => createRowEnricher({ resolver, format: 'ndjson' })).toThrow('"field" must be given')
    expect(() => Reflect.apply(createRowEnricher, undefined, [{ format: 'list', at: 0 }])).toThrow(
      '"resolver"',
    )
    expect(() => Reflect.apply(createRowEnricher, undefined, [])).toThrow('"resolver"')
    const closing = await openWorld()
    const closed = createRowEnricher({ ...CITY, resolver: closing })
    closing.close()
    expect(() => closed([utf8('x')])).toThrow(/closed/)
  })
})

/** The options of a table that lacks nothing. */
const TABLE = { format: 'tsv', field: '1', quoting: 'none', at: 0 } as const

describe('missingRowOptions', () => {
  it.each<[Partial<RowOptions>, readonly string[]]>([
    [{}, ['format']],
    [{ format: 'ndjson' }, ['field', 'at']],
    [{ format: 'csv' }, ['field', 'quoting', 'at']],
    [{ format: 'tsv', field: '1', timeField: '2' }, ['quoting']],
    [{ format: 'list' }, ['at']],
    // Its address and its time are at fixed places.
    [{ format: 'access-log' }, []],
    [TABLE, []],
  ])('of %j are %j', (options, missing) => {
    expect(missingRowOptions(options)).toEqual(missing)
  })
})

describe('makeRowPlan', () => {
  it.each<[string, RowOptions, RegExp]>([
    ['a missing field', { format: 'ndjson', at: 0 }, /"field" must be given for rows: nothing is guessed/],
    ['a missing time', { format: 'list' }, /"at" must be given/],
    ['a missing time of a table', { ...TABLE, at: undefined }, /"at" or "timeField" must be given/],
    ['missing quoting', { ...TABLE, quoting: undefined }, /"quoting" must be given/],
    ['quoting without columns', { format: 'list', at: 0, quoting: 'none' }, /"quoting" is for csv and tsv/],
    ['a column by its name', { ...TABLE, field: 'ip' }, /"field" must be the number of a column, from 1/],
    ['column 0', { ...TABLE, field: '0' }, /"field" must be the number/],
    ['a column too far', { ...TABLE, field: '262145' }, /"field" must be the number .* to 262144/],
    ['a time by its name', { ...TABLE, timeField: 'time' }, /"timeField" must be the number/],
    ['replaced columns', { ...TABLE, overwrite: true }, /"overwrite" is for ndjson/],
    ['a name twice', { format: 'ndjson', field: 'ip', at: 0, into: 'raw' }, /"into" must not be raw/],
    ['appended JSON', { ...TABLE, append: true }, /"append" is for .*list, text, not for tsv/],
    ['a member', { ...TABLE, into: 'place' }, /"into" is for ndjson: the columns of rows have no names/],
    ['objects of a table', { ...TABLE, to: 'ndjson' }, /"to" is not for rows of tsv/],
    ['a name for what is appended', { format: 'list', at: 0, append: true, into: 'x' }, /"into" is not for/],
    ['a wrong column', { ...TABLE, fields: [] }, /"fields" must be some of/],
    ['a wrong limit', { ...TABLE, maxLineBytes: 0 }, /"maxLineBytes"/],
    ['a wrong path', { format: 'ndjson', field: '', at: 0 }, /"field" must be a path/],
    [
      'a time of a log',
      { format: 'access-log', timeField: 'time' },
      /"timeField" is for json, .*csv, not for access-log/,
    ],
    ['an invalid instant', { ...TABLE, at: Number.NaN }, /instant|date/i],
  ])('refuses %s', (_, options, message) => {
    expect(() => makeRowPlan(options)).toThrow(TypeError)
    expect(() => makeRowPlan(options)).toThrow(message)
  })

  it.each<[string, object, RegExp]>([
    ['format', { ...TABLE, format: 'xml' }, /"format" must be one of/],
    ['rows', { ...TABLE, onlyFailed: true }, /"onlyFailed" is not for rows/],
    ['quoting', { ...TABLE, quoting: 'single' }, /"quoting" must be one of double, none/],
    ['onBadLine', { ...TABLE, onBadLine: 'drop' }, /"onBadLine" must be raw or keep/],
  ])('refuses a value that %s does not have', (_, options, message) => {
    expect(() => Reflect.apply(makeRowPlan, undefined, [options])).toThrow(message)
  })

  it('refuses a field that the format cannot have', () => {
    expect(() => makeRowPlan({ format: 'list', field: 'ip', at: 0 })).toThrow('"field" is for json, ')
    expect(() => makeRowPlan({ format: 'access-log', field: 'x_forwarded_for' })).toThrow(EnrichError)
    expect(() => makeRowPlan({ format: 'list', into: 'ip', at: 0 })).toThrow(EnrichError)
  })

  it('makes plain data, as plans are', () => {
    for (const options of [TABLE, { ...TABLE, format: 'csv', quoting: 'double', timeField: '7' } as const]) {
      const plan = makeRowPlan(options)
      expect(structuredClone(plan)).toEqual(plan)
    }
  })
})
