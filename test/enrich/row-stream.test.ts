import { describe, expect, it, vi } from 'vitest'
import { RowStream } from '../../src/enrich/row-stream.ts'
import { makeRowPlan, type RowOptions, RowWriter } from '../../src/enrich/row-writer.ts'
import { utf8, worldSet } from './world.ts'

const decoder = new TextDecoder('latin1')
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
const set = worldSet()
const LIST: RowOptions = { format: 'list', append: true, at: 0 }
const CITY: RowOptions = { format: 'tsv', quoting: 'none', field: '1', fields: ['city'], at: 0 }

function streamOf(options: RowOptions, read = false, write = false): RowStream {
  return new RowStream(new RowWriter(makeRowPlan(options), set), { read, write })
}

/** What a stream gives for a chunk. */
const given = (outputs: Iterable<Uint8Array>): string => Array.from(outputs, textOf).join('')

describe('RowStream', () => {
  it('gives the output of each row as soon as its line feed is there', () => {
    const stream = streamOf(CITY)
    expect(given(stream.push(utf8('81.2.69.1')))).toBe('')
    expect(given(stream.push(utf8('42\n10.0.0.1\n81')))).toBe('81.2.69.142\tLondon\n10.0.0.1\t\\N\n')
    expect(given(stream.push(utf8('.2.69.142')))).toBe('')
    expect(given(stream.end())).toBe('81.2.69.142\tLondon')
    expect(given(streamOf(CITY).end())).toBe('')
  })

  it('holds no more of a row than maxLineBytes, whose output comes in parts', () => {
    const stream = streamOf({ ...CITY, maxLineBytes: 10 })
    expect(given(stream.push(utf8('12345678901')))).toBe('12345678901')
    expect(given(stream.push(utf8('23\r4')))).toBe('23\\r4')
    expect(given(stream.push(utf8('5\n81.2.69.1\n')))).toBe('5\t\\N\n81.2.69.1\tLondon\n')
    expect(given(stream.push(utf8('more than that')))).toBe('more than that')
    expect(given(stream.end())).toBe('\t\\N')
  })

  it('searches the bytes of a long row only twice', () => {
    const stream = streamOf(CITY)
    let searched = 0
    const { indexOf } = Uint8Array.prototype
    vi.spyOn(Uint8Array.prototype, 'indexOf').mockImplementation(function (this: Uint8Array, byte, from = 0) {
      searched += this.length - from
      return indexOf.call(this, byte, from)
    })
    for (let chunk = 0; chunk < 100; chunk++) given(stream.push(utf8('x'.repeat(1000))))
    given(stream.push(utf8('\n')))
    expect(searched).toBeLessThan(2.1 * 100_000)
  })

  it('appends nothing to such a row while its quote is open', () => {
    const rows: [row: string, end: string][] = [
      ['1,"aaaa', '\n'],
      ['1,"aaaa"', ',\n'],
      ['1,"aa""aa', '\n'],
      ['"aa","aa"""', ',\n'],
      ['1,a"aaaa', ',\n'],
      ['1,"aa" "a', ',\n'],
      ['1,aaaaaa,"', '\n'],
    ]
    const input = utf8(rows.map(([row]) => `${row.replace(' ', '\r')}\n`).join(''))
    const expected = rows.map(([row, end]) => row + end).join('')
    for (const maxLineBytes of [1, 3, 5, 100]) {
      const options: RowOptions = { ...CITY, format: 'csv', quoting: 'double', maxLineBytes }
      expect(given(streamOf(options).push(input))).toBe(expected)
      const stream = streamOf(options)
      expect(Array.from(input, (byte) => given(stream.push(Uint8Array.of(byte)))).join('')).toBe(expected)
    }
  })

  it('keeps the carriage return at the end of such a row, and makes spaces of those before', () => {
    const input = utf8('1\r\r2\r\r\n\r\r\r\nx\r\n')
    const expected = '1  2 \tnull\r\n  \tnull\r\nx\tnull\r\n'
    for (const maxLineBytes of [1, 2, 5, 100]) {
      const options = { ...LIST, maxLineBytes }
      expect(given(streamOf(options).push(input))).toBe(expected)
      const stream = streamOf(options)
      expect(Array.from(input, (byte) => given(stream.push(Uint8Array.of(byte)))).join('')).toBe(expected)
    }
  })

  it('hands over much output in parts', () => {
    const rows = utf8('81.2.69.142\n'.repeat(70_000))
    const outputs = [...streamOf({ format: 'list', at: 0 }).push(rows)]
    expect(outputs.length).toBeGreaterThan(1)
    expect(Math.max(...outputs.map(({ length }) => length))).toBeLessThan(2 ** 25)
    expect(given(outputs).split('\n')).toHaveLength(70_001)
  })

  it('reads the number of rows before each block, and writes it if asked to', () => {
    const input = utf8('2\n81.2.69.142\n3\n0\n1\n1.1.1.1\n')
    const rows = '81.2.69.142\tLondon\n3\t\\N\n'
    expect(given(streamOf(CITY, true).push(input))).toBe(`${rows}1.1.1.1\t\\N\n`)
    const writing = streamOf(CITY, true, true)
    const outputs = Array.from(input, (byte) => given(writing.push(Uint8Array.of(byte)))).join('')
    expect(outputs + given(writing.end())).toBe(`2\n${rows}0\n1\n1.1.1.1\t\\N\n`)
  })

  it.each([
    ['text', '81.2.69.142\n', 'line 1 does not count the rows of a block'],
    ['nothing', '1\nx\n\n', 'line 3 does not count'],
    ['a sign', '-1\n', 'line 1 does not count'],
    ['a number that is not exact', '99999999999999999\n', 'line 1 does not count'],
    ['a long line without an end', '1'.repeat(100), 'line 1 does not count'],
    ['a long line', `1\nx\n${'1'.repeat(100)}\n`, 'line 3 does not count'],
  ])('refuses %s in place of a number of rows', (_, input, message) => {
    const stream = streamOf(LIST, true)
    expect(() => given(stream.push(utf8(input)))).toThrow(message)
  })

  it.each(['2\nx\n', '2\nx', '2'])('refuses an input that ends within a block: %j', (input) => {
    const stream = streamOf(LIST, true)
    given(stream.push(utf8(input)))
    expect(() => given(stream.end())).toThrow('the input ends before its last block does: rows missing: ')
  })
})
