// test/bytes/gunzip.test.ts has the tests for both the native and the portable gunzip.
import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { PORTABLE_CODEC } from '../../src/bytes/deflate.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { NATIVE_CODEC, nativeGunzip, nativeGunzipAsync } from '../../src/node/native-gunzip.ts'
import { CONTENT, damagedFiles, gzipOf, optionalHeaders } from '../bytes/gzip-samples.ts'

describe('nativeGunzip', () => {
  it('reads content of several chunks', () => {
    const content = new Uint8Array(20_000_000).map((_, i) => i >> 8)
    expect(Buffer.compare(nativeGunzip(gzipSync(content, { level: 1 })), content)).toBe(0)
  })

  it('refuses a repeated member, although its length and CRC match the trailer', () => {
    const file = gzipOf(CONTENT)
    expect(() => nativeGunzip(Buffer.concat([file, file]))).toThrow(InvalidDatabaseError)
  })

  // zlib ignores bytes that start with a zero, such as padding on a tape.
  it('refuses padding after the end that ends like a trailer', () => {
    const file = gzipOf(CONTENT)
    const padded = Buffer.concat([file, Buffer.of(0), file.subarray(-8)])
    expect(() => nativeGunzip(padded)).toThrow('there are extra bytes after')
  })

  it('has the error of zlib as the cause', () => {
    const error = caught(() => nativeGunzip(gzipOf(CONTENT, { crc: 1 })))
    expect(error).toBeInstanceOf(InvalidDatabaseError)
    expect((error as InvalidDatabaseError).cause).toMatchObject({ code: 'Z_DATA_ERROR' })
  })

  it('stops at the length in the trailer', () => {
    const bomb = gzipSync(new Uint8Array(50_000_000))
    bomb.writeUInt32LE(10, bomb.length - 4)
    const error = caught(() => nativeGunzip(bomb))
    expect((error as InvalidDatabaseError).cause).toMatchObject({ code: 'ERR_BUFFER_TOO_LARGE' })
  })
})

describe('nativeGunzipAsync', () => {
  it.each(optionalHeaders())('reads a header with %s', async (_, file) => {
    expect(Buffer.compare(await nativeGunzipAsync(file), CONTENT)).toBe(0)
  })

  it.each(damagedFiles())('refuses %s', async (_, file, message) => {
    await expect(nativeGunzipAsync(file, '/db.gz')).rejects.toThrow(InvalidDatabaseError)
    await expect(nativeGunzipAsync(file, '/db.gz')).rejects.toThrow(message)
  })
})

function caught(action: () => unknown): unknown {
  try {
    return action()
  } catch (error) {
    return error
  }
}

describe.each([
  ['native', NATIVE_CODEC],
  ['portable', PORTABLE_CODEC],
])('the %s codec of blocks', (_, { inflate, crc32 }) => {
  it.each([
    ['short', CONTENT],
    ['long', Uint8Array.from({ length: 500_000 }, (__, i) => (i * i) >> 7)],
  ])('inflates a %s stream of the length that it should have, and no other', (__, content) => {
    const stream = deflateRawSync(content)
    expect(Buffer.compare(inflate(stream, content.length), content)).toBe(0)
    for (const length of [0, 1, content.length - 1, content.length + 1]) {
      expect(() => inflate(stream, length), String(length)).toThrow()
    }
  })

  it('has the checksum of the CRC catalogue', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926)
  })
})
