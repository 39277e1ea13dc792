import { describe, expect, it } from 'vitest'
import { MAX_DEPTH } from '../../../src/mmdb/format.ts'
import type { WritableValue } from '../../../src/mmdb/writer/value.ts'
import { ValueTable } from '../../../src/mmdb/writer/value-table.ts'

describe('ValueTable', () => {
  it('stores equal values once, and others apart', () => {
    const table = new ValueTable()
    const different: WritableValue[] = [
      ...['1', 1, 1n, true, Uint8Array.of(1), [1], { 1: 1 }],
      ...[
        [1, 2],
        [12],
        ['1,2'],
        ['1', '2'],
        { a: 1, b: 2 },
        { b: 2, a: 1 },
        { a: [1, 'x'] },
        { a: [1, 'y'] },
      ],
    ]
    const ids = different.map((value) => table.add(value))
    expect(new Set(ids).size).toBe(different.length)
    const { size } = table
    expect(structuredClone(different).map((value) => table.add(value))).toEqual(ids)
    expect(table.add(new Map(Object.entries({ a: 1, b: 2 })))).toBe(table.add({ a: 1, b: 2 }))
    expect(table.size).toBe(size)
  })

  it('nests maps and arrays as deeply as the reader allows', () => {
    const nested = (levels: number): WritableValue => (levels === 0 ? 'x' : [nested(levels - 1)])
    expect(new ValueTable().add(nested(MAX_DEPTH))).toBe(MAX_DEPTH)
    expect(() => new ValueTable().add(nested(MAX_DEPTH + 1))).toThrow('nested deeper than 128 levels')
    expect(() => new ValueTable().add({ a: nested(MAX_DEPTH) })).toThrow(/^record\.a(\[0\]){127}: /)
  })

  it('has no longer keys than the reader allows', () => {
    const add = (key: string): number => new ValueTable().add({ place: { [key]: 1 } })
    expect(add('k'.repeat(1024))).toBeGreaterThan(0)
    expect(add('é'.repeat(512))).toBeGreaterThan(0)
    for (const key of ['k'.repeat(1025), 'é'.repeat(513)]) {
      expect(() => add(key)).toThrow(RangeError)
      expect(() => add(key)).toThrow(`record.place.${key}: the key is longer than 1024 bytes`)
      const table = new ValueTable()
      expect(() => table.addMap([[key, table.add(1)]])).toThrow('the key is longer than 1024 bytes')
    }
  })

  it('refuses unknown ids', () => {
    const table = new ValueTable()
    expect(() => table.entry(0)).toThrow('there is no value with id 0 in a table of 0')
    expect(() => table.addMap([['a', 7]])).toThrow('there is no value with id 7 in the table')
    expect(() => table.addMap([['__proto__', table.add(1)]])).toThrow(
      'record.__proto__: the key __proto__ is not',
    )
  })
})
