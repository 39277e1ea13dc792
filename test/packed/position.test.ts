import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { advance, compare, leastPrefixLength, moved } from '../../src/packed/position.ts'

const wordsOf = (value: bigint): Uint32Array =>
  Uint32Array.from([96n, 64n, 32n, 0n], (shift) => Number((value >> shift) & 0xffff_ffffn))
const numberOf = (words: Uint32Array): bigint =>
  words.reduce((value, word) => (value << 32n) | BigInt(word), 0n)

const END = 2n ** 128n
const value = fc.bigInt({ min: 0n, max: END - 1n })
const length = fc.integer({ min: 0, max: 128 })

describe('a position', () => {
  it('advances as a number of 128 bits does', () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 128 }), (start, prefixLength) => {
        const words = wordsOf(start)
        advance(words, prefixLength)
        expect(numberOf(words)).toBe((start + 2n ** BigInt(128 - prefixLength)) % END)
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
        while (least > 0 && start % 2n ** BigInt(128 - least + 1) === 0n) least--
        expect(leastPrefixLength(wordsOf(start))).toBe(least)
      }),
    )
  })

  it('compares as a number does', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(Math.sign(compare(wordsOf(a), wordsOf(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
        expect(compare(wordsOf(a), wordsOf(a))).toBe(0)
      }),
    )
  })

  it('moves from one network into another', () => {
    fc.assert(
      fc.property(value, length, value, length, (address, from, target, to) => {
        const head = (target >> BigInt(128 - to)) << BigInt(128 - to)
        const tail = (address << BigInt(from)) % END
        const expected = head | (tail >> BigInt(to))
        expect(numberOf(moved(wordsOf(address), from, wordsOf(target), to))).toBe(expected)
      }),
    )
  })
})
