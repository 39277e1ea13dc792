import { crc32 as zlibCrc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32 } from '../../src/bytes/crc32.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('crc32', () => {
  it.each([
    ['', 0],
    ['a', 0xe8b7be43],
    ['123456789', 0xcbf43926], // the check value of the CRC catalogue
    ['The quick brown fox jumps over the lazy dog', 0x414fa339],
  ])('of %j', (text, expected) => {
    expect(crc32(ascii(text))).toBe(expected)
  })

  it('of zeros and ones of every length near a multiple of four', () => {
    expect(crc32(new Uint8Array(32))).toBe(0x190a55ad)
    expect(crc32(new Uint8Array(32).fill(255))).toBe(0xff6cab0b)
  })

  // node:zlib has it from Node 20.15 on.
  it.skipIf(typeof zlibCrc32 !== 'function')('is that of zlib, for views of any place and length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(9), (bytes, skipped) => {
        const view = bytes.subarray(Math.min(skipped, bytes.length))
        expect(crc32(view)).toBe(zlibCrc32(view))
      }),
    )
  })

  it('reads shared memory', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(9))
    bytes.set(ascii('123456789'))
    expect(crc32(bytes)).toBe(0xcbf43926)
  })
})
