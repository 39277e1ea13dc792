import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  advance,
  compare,
  distance,
  largestWithin,
  leastPrefixLength,
  sharedBits,
} from '../../src/address/position.ts'

const wordsOf = (value: bigint): Uint32Array =>
  Uint32Array.from([96n, 64n, 32n, 0n], (shift) => Number((value >> shift) & 0xffff_ffffn))
const numberOf = (words: Uint32Array): bigint =>
  words.reduce((value, word) => (value << 32n) | BigInt(word), 0n)

const END = 2n ** 128n
const value = fc.bigInt({ min: 0n, max: END - 1n })
const length = fc.integer({ min: 0, max: 128 })
const sizeOf = (prefixLength: number): bigint => 2n ** BigInt(128 - prefixLength)

describe('a position', () => {
  it('advances as a number of 128 bits does', () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 128 }), (start, prefixLength) => {
        const words = wordsOf(start)
        advance(words, prefixLength)
        expect(numberOf(words)).toBe((start + sizeOf(prefixLength)) % END)
      }),
    )
    const words = wordsOf(0n)
    advance(words, 0)
    expect(numberOf(words)).toBe(0n)
  })

  it('has the least prefix length whose network starts there', () => {
    fc.assert(
      fc.property(value, length, (bits, zeros) => {
        const start = ((bits >> BigInt(zeros)) << BigInt(zeros)) % END
        let least = 128
        while (least > 0 && start % sizeOf(least - 1) === 0n) least--
        expect(leastPrefixLength(wordsOf(start))).toBe(least)
      }),
    )
  })

  it('compares, and has distances, as a number does', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(Math.sign(compare(wordsOf(a), wordsOf(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
        expect(compare(wordsOf(a), wordsOf(a))).toBe(0)
        const words = new Uint32Array(4)
        distance(wordsOf(a), wordsOf(b), words)
        expect(numberOf(words)).toBe((b - a + END) % END)
      }),
    )
  })

  it('shares bits with the networks that it is in', () => {
    fc.assert(
      fc.property(value, value, length, length, (address, other, equal, prefixLength) => {
        // An address with some equal bits at its start.
        const start =
          equal === 0 ? other : (address / sizeOf(equal)) * sizeOf(equal) + (other % sizeOf(equal))
        const size = sizeOf(prefixLength)
        expect(sharedBits(wordsOf(address), wordsOf(start)) >= prefixLength).toBe(
          address / size === start / size,
        )
      }),
    )
  })
})

describe('the largest network', () => {
  it('of a number of addresses has no more', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: END - 1n }), (count) => {
        const prefixLength = largestWithin(wordsOf(count))
        expect(sizeOf(prefixLength) <= count && count < 2n * sizeOf(prefixLength)).toBe(true)
      }),
    )
    expect(largestWithin(wordsOf(0n))).toBe(0)
  })
})
