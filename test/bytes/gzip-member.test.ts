import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isGzip, readGzipMember } from '../../src/bytes/gzip-member.ts'
import { CONTENT, gzipOf, optionalHeaders } from './gzip-samples.ts'

describe('isGzip', () => {
  it.each([
    [[0x1f, 0x8b, 8], true],
    [[0x1f, 0x8b, 8, 0, 0], true],
    [[0x1f, 0x8b], false],
    [[0x1f, 0x8b, 7], false], // no such compression method
    [[0x8b, 0x1f, 8], false],
    [[], false],
  ])('%j: %s', (bytes, expected) => {
    expect(isGzip(Uint8Array.from(bytes))).toBe(expected)
  })
})

describe('readGzipMember', () => {
  it.each(optionalHeaders())('finds the parts behind a header with %s', (_, file) => {
    const { deflate, length } = readGzipMember(file)
    expect([...deflate]).toEqual([...deflateRawSync(CONTENT)])
    expect(length).toBe(CONTENT.length)
  })

  it('lets 1032 bytes stand for each byte, and no more', () => {
    const deflate = Uint8Array.of(3, 0)
    expect(readGzipMember(gzipOf(CONTENT, { deflate, length: 2064 })).length).toBe(2064)
    expect(() => readGzipMember(gzipOf(CONTENT, { deflate, length: 2065 }))).toThrow('more bytes than')
  })

  it('gives CRC and length as unsigned numbers', () => {
    const file = gzipOf(CONTENT, { crc: 0xfedcba98 })
    expect(readGzipMember(file).crc).toBe(0xfedcba98)
  })
})
