import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthWithin } from '../../src/address/position.ts'

const END = 2n ** 128n
const value = fc.bigInt({ min: 0n, max: END - 1n })
const wordsOf = (number: bigint): Uint32Array =>
  Uint32Array.from([96n, 64n, 32n, 0n], (shift) => Number((number >> shift) & 0xffff_ffffn))
const sizeOf = (prefixLength: number): bigint => 2n ** BigInt(128 - prefixLength)

describe('the network', () => {
  it('of an address within limits is the first that fits', () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 128 }), value, value, (address, bits, before, after) => {
        // Limits that are close to the address.
        const first = address - (before % (sizeOf(bits) < address + 1n ? sizeOf(bits) : address + 1n))
        const last = address + (after % (sizeOf(bits) < END - address ? sizeOf(bits) : END - address))
        const fits = (prefixLength: number): boolean => {
          const start = (address / sizeOf(prefixLength)) * sizeOf(prefixLength)
          return start >= first && start + sizeOf(prefixLength) - 1n <= last
        }
        const found = lengthWithin(wordsOf(address), wordsOf(first), wordsOf((last + 1n) % END))
        expect(fits(found)).toBe(true)
        expect(found > 0 && fits(found - 1)).toBe(false)
      }),
    )
  })
})
