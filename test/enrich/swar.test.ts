import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteFinder, equalBytes, escapesIn, firstOf, lineStops, textEnds } from '../../src/enrich/swar.ts'

describe('a finder of a byte', () => {
  const BYTE = fc.constantFrom(0x0a, 0x22, 0x8a)
  const text = fc.array(fc.constantFrom(0x0a, 0x0a, 0x0b, 0x09, 0x8a, 0x22, 0x23, 0x21, 0xa2, 0x41, 0x00), {
    maxLength: 40,
  })

  it.each([true, false])('finds the first one of a range; with Buffer: %s', (native) => {
    fc.assert(
      fc.property(text, fc.nat(8), fc.nat(45), fc.nat(45), BYTE, (values, offset, a, b, byte) => {
        // The array can be a part of larger memory, with such bytes around it.
        const memory = new Uint8Array(values.length + offset + 8).fill(byte)
        memory.set(values, offset)
        const bytes = memory.subarray(offset, offset + values.length)
        const [start = 0, end = 0] = [a, b].map((at) => Math.min(at, values.length)).sort((x, y) => x - y)
        const found = values.findIndex((value, at) => value === byte && at >= start && at < end)
        expect(new ByteFinder(byte, bytes, native).next(start, end)).toBe(found)
      }),
    )
  })
})

describe('words of four bytes', () => {
  const BYTE = fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc),
  )
  const FOUR = fc.tuple(BYTE, BYTE, BYTE, BYTE)
  const wordOf = (bytes: readonly number[]): number =>
    new DataView(Uint8Array.from(bytes).buffer).getInt32(0, true)
  const endsText = (byte: number): boolean => byte < 0x20 || byte === 0x22 || byte === 0x5c

  it('finds the first quote, backslash or control character', () => {
    fc.assert(
      fc.property(FOUR, (bytes) => {
        const ends = textEnds(wordOf(bytes))
        expect(ends === 0 ? -1 : firstOf(ends)).toBe(bytes.findIndex(endsText))
      }),
    )
  })

  it('finds that JSON need not escape a word, or that it is not ASCII', () => {
    fc.assert(
      fc.property(FOUR, (bytes) => {
        const escapes = escapesIn(wordOf(bytes))
        const first = bytes.findIndex((byte) => byte >= 0x80 || endsText(byte))
        expect(escapes === 0 ? -1 : firstOf(escapes)).toBe(first)
      }),
    )
  })

  it('finds the first quote or control character, and all equal bytes', () => {
    fc.assert(
      fc.property(FOUR, FOUR, (bytes, others) => {
        const stops = lineStops(wordOf(bytes))
        const first = bytes.findIndex((byte) => byte < 0x20 || byte === 0x22)
        expect(stops === 0 ? -1 : firstOf(stops)).toBe(first)
        const equal = bytes.map((byte, index) => Number(byte === others[index]))
        expect(equalBytes(wordOf(bytes), wordOf(others))).toBe(wordOf(equal))
      }),
    )
  })
})
