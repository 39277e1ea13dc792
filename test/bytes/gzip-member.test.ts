import { deflateRawSync, crc32 as zlibCrc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32, isGzip, readGzipMember } from '../../src/bytes/gzip-member.ts'
import { CONTENT, gzipOf, optionalHeaders } from './gzip-samples.ts'

describe('isGzip', () => {
  it.each([
    [[0x1f, 0x8b, 8], true],
    [[0x1f, 0x8b, 8, 0, 0], true],
    [[0x1f, 0x8b], false],
    [[0x1f, 0x8b, 7], false], // not a defined compression method
    [[0x8b, 0x1f, 8], false],
    [[], false],
  ])('%j: %s', (bytes, expected) => {
    expect(isGzip(Uint8Array.from(bytes))).toBe(expected)
  })
})

describe('readGzipMember', () => {
  it.each(optionalHeaders())('finds the parts after a header with %s', (_, file) => {
    const { deflate, length } = readGzipMember(file)
    expect([...deflate]).toEqual([...deflateRawSync(CONTENT)])
    expect(length).toBe(CONTENT.length)
  })

  it('allows 1032 bytes of output for each byte, and no more', () => {
    const deflate = Uint8Array.of(3, 0)
    expect(readGzipMember(gzipOf(CONTENT, { deflate, length: 2064 })).length).toBe(2064)
    expect(() => readGzipMember(gzipOf(CONTENT, { deflate, length: 2065 }))).toThrow('more bytes than')
  })

  it('returns CRC and length as unsigned numbers', () => {
    const file = gzipOf(CONTENT, { crc: 0xfedcba98 })
    expect(readGzipMember(file).crc).toBe(0xfedcba98)
  })
})

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

  it('is right for zeros and ones of every length near a multiple of four', () => {
    expect(crc32(new Uint8Array(32))).toBe(0x190a55ad)
    expect(crc32(new Uint8Array(32).fill(255))).toBe(0xff6cab0b)
  })

  // node:zlib has crc32 since Node 20.15.
  it.skipIf(typeof zlibCrc32 !== 'function')('agrees with zlib, for views of any offset and length', () => {
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
