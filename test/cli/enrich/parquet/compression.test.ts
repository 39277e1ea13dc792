import fc from 'fast-check'
import { snappyUncompress } from 'hyparquet'
import { describe, expect, it } from 'vitest'
import { COMPRESSORS, SnappyCompressor } from '../../../../src/cli/enrich/parquet/compression.ts'

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

/** Bytes of a length that does not fit into the four bits of a token. */
const more = (size: number): number[] =>
  size < 15 ? [] : [...Array(Math.floor((size - 15) / 255)).fill(255), (size - 15) % 255]

/** Makes a block of literals, each followed by a copy of bytes that were before; and what it stands for. */
function blockOf(pieces: readonly (readonly [Uint8Array, number, number])[], last: Uint8Array) {
  const block: number[] = []
  const output: number[] = []
  for (const [literal, back, size] of pieces) {
    const distance = 1 + (back % (output.length + literal.length))
    block.push((Math.min(literal.length, 15) << 4) | Math.min(size, 15), ...more(literal.length), ...literal)
    block.push(distance & 255, distance >> 8, ...more(size))
    output.push(...literal)
    for (let left = size + 4; left > 0; left--) output.push(output.at(-distance) ?? 0)
  }
  block.push(Math.min(last.length, 15) << 4, ...more(last.length), ...last)
  return { block, output: [...output, ...last] }
}

const bigEndian = (number: number): number[] => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255)
const expand = (codec: 'LZ4' | 'LZ4_RAW' | 'SNAPPY', bytes: readonly number[], length: number) =>
  COMPRESSORS[codec]?.(Uint8Array.from(bytes), length)

describe('decompress', () => {
  const literal = fc.uint8Array({ minLength: 1, maxLength: 300 })
  const pieces = fc.array(fc.tuple(literal, fc.nat(1000), fc.nat(600)), { maxLength: 5 })

  it('reads blocks of LZ4, alone and as Hadoop writes them, and refuses all that are shorter or longer', () => {
    fc.assert(
      fc.property(pieces, literal, pieces, literal, (first, end, second, last) => {
        const [one, two] = [blockOf(first, end), blockOf(second, last)]
        const output = Uint8Array.from(one.output)
        expect(expand('LZ4_RAW', one.block, output.length)).toEqual(output)
        expect(expand('LZ4', one.block, output.length)).toEqual(output)
        const framed = [one, two].flatMap(({ block, output: { length } }) => [
          ...bigEndian(length),
          ...bigEndian(block.length),
          ...block,
        ])
        const both = Uint8Array.from([...one.output, ...two.output])
        expect(expand('LZ4', framed, both.length)).toEqual(both)
        for (const length of [output.length - 1, output.length + 1])
          expect(() => expand('LZ4_RAW', one.block, length)).toThrow('damaged')
        expect(() => expand('LZ4_RAW', one.block.slice(0, -1), output.length)).toThrow('damaged')
      }),
    )
  })

  // Each was read for ever: after it, the reader was where it had been before.
  it.each([
    ['SNAPPY', [100, 0x08, 97, 98, 99, 0xfc, 0xf6, 0xff, 0xff, 0xff, 0, 0], 'cut off'],
    ['LZ4', [...bigEndian(0), ...bigEndian(-8), 0, 0, 0, 0, 0, 0, 0, 0], 'damaged'],
  ] as const)('refuses a negative length in %s', (codec, bytes, message) => {
    expect(() => expand(codec, bytes, 100)).toThrow(message)
  })
})
