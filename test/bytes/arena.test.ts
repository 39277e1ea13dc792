import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Arena } from '../../src/bytes/arena.ts'

describe('an arena', () => {
  it('keeps its fixed regions and its texts, however much it grows', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { maxLength: 40 }), (texts) => {
        const arena = new Arena()
        arena.fix(100)
        arena.bytes.fill(7, 0, 100)
        const places = texts.map((text) => {
          const start = arena.end
          arena.addText(text)
          arena.reserve(30_000 * texts.length)
          const copied = arena.end
          arena.addCopy(start, copied)
          return [start, copied, arena.end] as const
        })
        expect(arena.bytes.subarray(0, 100)).toEqual(new Uint8Array(100).fill(7))
        for (const [index, text] of texts.entries()) {
          const [start = 0, copied = 0, end = 0] = places[index] ?? []
          const bytes = new TextEncoder().encode(text)
          expect(arena.bytes.slice(start, copied)).toEqual(bytes)
          expect(arena.bytes.slice(copied, end)).toEqual(bytes)
        }
        expect(arena.view.buffer).toBe(arena.bytes.buffer)
        expect(arena.textBytes).toBe(arena.end - 100)
        arena.clear()
        expect(arena.end).toBe(100)
      }),
      { numRuns: 30 },
    )
  })

  it('adds decimal numbers as String writes them', () => {
    const units = fc.oneof(
      fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
      fc.integer({ min: -1800, max: 1800 }).map((value) => value * 1_000_000),
      fc.integer({ min: -200, max: 200 }).map((value) => value * 10),
    )
    fc.assert(
      fc.property(units, fc.nat(7), (value, decimals) => {
        // Smaller numbers have an exponent.
        fc.pre(value === 0 || Math.abs(value) >= 10 ** (decimals - 6))
        const arena = new Arena()
        arena.addText('=')
        arena.addDecimal(value, decimals)
        arena.addBytes(new TextEncoder().encode(';'))
        expect(new TextDecoder().decode(arena.bytes.subarray(0, arena.end))).toBe(
          `=${String(value / 10 ** decimals)};`,
        )
      }),
    )
  })
})
