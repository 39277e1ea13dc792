import { PassThrough } from 'node:stream'
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { inflate, PORTABLE_CODEC } from '../../src/bytes/gunzip.ts'
import { NATIVE_CODEC } from '../../src/node/file-bytes.ts'
import { portableDeflate as deflate } from '../../src/packed/pack.ts'
import { effort } from '../effort.ts'

describe('deflate and inflate', () => {
  it('are inverse, for compressible bytes and others', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(200_000).map((length) => Uint8Array.from({ length }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 24)),
      fc.nat(200_000).map((length) => new Uint8Array(length)),
    )
    fc.assert(
      fc.property(bytes, (plain) => {
        expect(Buffer.compare(inflate(deflate(plain), plain.length), plain)).toBe(0)
        expect(Buffer.compare(inflate(deflateRawSync(plain), plain.length), plain)).toBe(0)
      }),
      { numRuns: effort({ short: 25, long: 100 }) },
    )
  })

  it('calls stored bytes without room for them damage, not lack of memory', () => {
    const stored = deflateRawSync(new Uint8Array(1000).fill(7), { level: 0 })
    expect(() => inflate(stored, 900)).toThrow(new Error('a stream does not have 900 bytes'))
  })

  it('stops a bomb early', () => {
    const bomb = deflateRawSync(new Uint8Array(2 ** 28))
    expect(bomb.length).toBeGreaterThan(2 ** 17)
    expect(() => inflate(bomb, 100)).toThrow('a stream does not have 100 bytes')
  })
})

/** The codec of a platform whose inflater has these members in place of those that zlib itself uses. */
async function codecWith(members: object): Promise<typeof NATIVE_CODEC> {
  vi.doMock('node:zlib', async (original) => ({
    ...(await original<typeof import('node:zlib')>()),
    createInflateRaw: () => Object.assign(new PassThrough(), members),
  }))
  vi.resetModules()
  return (await import('../../src/node/file-bytes.ts')).NATIVE_CODEC
}
const idle = { reset() {}, writeSync() {} }

describe.each([
  ['portable', PORTABLE_CODEC],
  ['native', NATIVE_CODEC],
  ['native, without such members', await codecWith({})],
  [
    'native, with members that do something else',
    await codecWith({ _handle: idle, _writeState: new Uint32Array(2) }),
  ],
])('the %s codec of blocks', (_, codec) => {
  // Portable: streams up to 16 KB are inflated at once, longer ones in pieces.
  it.each([1000, 200_000])('refuses a stream of %i bytes that is cut short or has another length', (size) => {
    const plain = Uint8Array.from({ length: size }, (__, i) => Math.imul(i * i, 0x9e3779b1) >>> 24)
    const stream = deflate(plain)
    expect(Buffer.compare(codec.inflate(stream, size), plain)).toBe(0)
    for (const length of [0, 1, size - 1, size + 1]) expect(() => codec.inflate(stream, length)).toThrow()
    expect(() => codec.inflate(stream.subarray(0, stream.length / 2), size)).toThrow()
    expect(Buffer.compare(codec.inflate(stream, size), plain)).toBe(0)
  })

  it('has the checksum of the CRC catalogue', () => {
    expect(codec.crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926)
  })
})
