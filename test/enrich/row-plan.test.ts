import { describe, expect, it } from 'vitest'
import { EnrichError } from '../../src/enrich/errors.ts'
import { makeRowPlan, missingRowOptions, type RowOptions } from '../../src/enrich/row-writer.ts'

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
    [
      'two members of one name',
      { format: 'ndjson', field: 'ip', at: 0, into: 'raw' },
      /"into" must not be raw/,
    ],
    ['appended JSON', { ...TABLE, append: true }, /"append" is for access-log, .*list, text, not for tsv/],
    [
      'a member of a table',
      { ...TABLE, into: 'place' },
      /"into" is for ndjson: the columns of rows have no names/,
    ],
    ['objects of a table', { ...TABLE, to: 'ndjson' }, /"to" is not for rows of tsv/],
    ['a name for what is appended', { format: 'list', at: 0, append: true, into: 'x' }, /"into" is not for/],
    ['a wrong column', { ...TABLE, fields: [] }, /"fields" must be some of/],
    ['a wrong limit', { ...TABLE, maxLineBytes: 0 }, /"maxLineBytes"/],
    ['a wrong path', { format: 'ndjson', field: '', at: 0 }, /"field" must be a path/],
    [
      'a time field of a log',
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
