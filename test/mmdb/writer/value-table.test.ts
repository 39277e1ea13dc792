import { describe, expect, it } from 'vitest'
import { ValueTable } from '../../../src/mmdb/writer/value-table.ts'

describe('a table of values', () => {
  it('has equal values once', () => {
    const table = new ValueTable()
    const first = table.add({ a: [1, 'x'] })
    const { size } = table
    expect(table.add({ a: [1, 'x'] })).toBe(first)
    expect(table.size).toBe(size)
    expect(table.add({ a: [1, 'y'] })).not.toBe(first)
  })

  it('tells values of different types apart', () => {
    const table = new ValueTable()
    const numbers = ['1', 1, 1n, true, Uint8Array.of(1), [1], { 1: 1 }].map((value) => table.add(value))
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  it('knows only the numbers that it gave', () => {
    const table = new ValueTable()
    expect(() => table.entry(0)).toThrow('there is no value 0 in a table of 0')
    expect(() => table.addMap([['a', 7]])).toThrow('there is no value 7 in the table')
    expect(() => table.addMap([['__proto__', table.add(1)]])).toThrow(
      'record.__proto__: the key __proto__ is not',
    )
  })
})
