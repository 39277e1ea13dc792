import fc from 'fast-check'
import { snappyUncompress } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { SnappyCompressor } from '../../../../src/cli/enrich/parquet/compression.ts'

const compressor = new SnappyCompressor()

function expectRestored(input: Uint8Array): void {
  const output = new Uint8Array(input.length)
  const compressed = compressor.compress(input)
  expect(compressed.length).toBeLessThanOrEqual(32 + input.length + input.length / 6)
  if (input.length > 0) snappyUncompress(compressed, output)
  expect(Buffer.compare(output, input)).toBe(0)
}

const noise = (size: number, seed = 1): Uint8Array => {
  let state = seed
  return Uint8Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 24
  })
}

describe('compress', () => {
  it('restores any pieces that repeat, and uses its memory again', () => {
    const piece = fc.tuple(fc.uint8Array({ maxLength: 100 }), fc.integer({ min: 1, max: 40 }))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        expectRestored(Buffer.concat(pieces.flatMap(([bytes, times]) => Array(times).fill(bytes))))
      }),
    )
  })

  it.each([0, 1, 3, 4, 5, 60, 61, 256, 257, 65_536, 65_537, 70_000])(
    'restores a literal of %i bytes',
    (size) => {
      expectRestored(noise(size))
    },
  )

  // A copy has 4 to 11 bytes, up to 64, or parts, of which none may be too short.
  it.each([4, 11, 12, 64, 65, 67, 68, 69, 128, 131, 132, 100_000])('makes copies of %i bytes', (size) => {
    const input = Buffer.concat([noise(size), noise(size), noise(5, 2)])
    expectRestored(input)
    if (size >= 64 && size < 60_000)
      expect(compressor.compress(input).length).toBeLessThan(input.length * 0.75)
  })

  // The distance of a copy has 11 or 16 bits.
  it.each([2047, 2048, 65_535, 70_000])('copies from %i bytes before', (distance) => {
    const input = Buffer.concat([noise(2000), noise(distance - 2000, 3), noise(2000)])
    expectRestored(input)
    expect(compressor.compress(input).length < input.length).toBe(distance <= 65_535)
  })
})
