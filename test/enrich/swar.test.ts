import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteFinder } from '../../src/enrich/swar.ts'

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
