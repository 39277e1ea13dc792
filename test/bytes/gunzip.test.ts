// Every function that decompresses gzip, by the same tables.

import { join } from 'node:path'
import { gzipSync, crc32 as zlibCrc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { crc32, readGzipMember } from '../../src/bytes/extract.ts'
import { isGzip } from '../../src/bytes/file-kind.ts'
import { gunzip } from '../../src/bytes/gunzip.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { nativeGunzip } from '../../src/node/file-bytes.ts'
import { temporaryFolder } from '../temporary.ts'
import { CONTENT, damagedFiles, gzipOf, optionalHeaders } from './gzip-samples.ts'
import { archive, entry } from './tar-samples.ts'
import { type Unpack, waysToUnpack } from './ways-to-unpack.ts'

const WAYS = waysToUnpack(join(temporaryFolder(), 'file'))
const TOO_LARGE = /it has more than \d+ bytes, the limit that maxBytes sets: use a larger maxBytes/

const joined = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts))

/** Whether a file was read. Any content but the right one fails the test. */
async function isRead(unpack: Unpack, bytes: Uint8Array, right = CONTENT): Promise<boolean> {
  let content: Uint8Array
  try {
    content = await unpack(bytes)
  } catch (error) {
    if (!(error instanceof InvalidDatabaseError)) throw error
    return false
  }
  // Ways that read files return other bytes as they are, and these are not a database.
  if (!isGzip(bytes) && Buffer.compare(content, bytes) === 0) return false
  // Faster than a deep comparison. Accepts a Buffer as a Uint8Array.
  expect(Buffer.compare(content, right)).toBe(0)
  return true
}

describe.each(WAYS)('%s', (name, unpack) => {
  it.each([0, 1, 6, 9])('reads what zlib wrote at level %i', async (level) => {
    expect(await isRead(unpack, gzipSync(CONTENT, { level }))).toBe(true)
  })

  it('reads a large file of the best compression ratio, which is within the limit of deflate', async () => {
    const content = new Uint8Array(3_000_000)
    expect(await isRead(unpack, gzipSync(content, { level: 9 }), content)).toBe(true)
  })

  it.each(optionalHeaders())('reads a header with %s', async (_, file) => {
    expect(await isRead(unpack, file)).toBe(true)
  })

  it('reads a view into a larger buffer, in shared memory', async () => {
    const file = gzipOf(CONTENT)
    const larger = new Uint8Array(new SharedArrayBuffer(file.length + 20)).fill(7)
    larger.set(file, 11)
    expect(await isRead(unpack, larger.subarray(11, 11 + file.length))).toBe(true)
  })

  it('reads a member whose data contains its trailer by chance', async () => {
    // Stored, not compressed: the file contains the content itself.
    const content = Buffer.from('content')
    const trailer = gzipSync(content, { level: 0 }).subarray(-8)
    const all = joined(trailer, content)
    expect(await isRead(unpack, gzipSync(all, { level: 0 }), all)).toBe(true)
  })

  it('ignores the time and the system in a header without checksum', async () => {
    expect(await isRead(unpack, gzipOf(CONTENT).fill(0x55, 4, 10))).toBe(true)
  })

  it.each(damagedFiles().filter(([, file]) => isGzip(file) || !name.includes('file')))(
    'refuses %s',
    async (_, file, message) => {
      await expect(unpack(file)).rejects.toThrow(InvalidDatabaseError)
      await expect(unpack(file)).rejects.toThrow(message)
    },
  )

  it('refuses many extra bytes that end as the file does', async () => {
    const file = gzipOf(CONTENT)
    for (const filler of [0, 0x1f, 0xff]) {
      const extra = joined(file, Buffer.alloc(300_000, filler), file.subarray(-8))
      expect(await isRead(unpack, extra), String(filler)).toBe(false)
    }
  })

  it('refuses zeros after an empty member, whose trailer is zeros too', async () => {
    const nothing = gzipSync('')
    expect(await isRead(unpack, nothing, new Uint8Array())).toBe(true)
    for (const zeros of [1, 7, 8, 9]) {
      expect(await isRead(unpack, joined(nothing, Buffer.alloc(zeros))), `${zeros}`).toBe(false)
    }
  })

  it('stops at the length in the trailer', async () => {
    const bomb = gzipSync(new Uint8Array(50_000_000))
    bomb.writeUInt32LE(10, bomb.length - 4)
    expect(await isRead(unpack, bomb)).toBe(false)
  })

  it('accepts a file of exactly maxBytes, but not one byte more', async () => {
    const packed = gzipSync(CONTENT)
    expect(packed.length).toBeLessThan(CONTENT.length)
    expect(await unpack(packed, CONTENT.length)).toHaveLength(CONTENT.length)
    await expect(unpack(packed, CONTENT.length - 1)).rejects.toThrow(TOO_LARGE)
    await expect(unpack(packed, CONTENT.length - 1)).rejects.toThrow(InvalidDatabaseError)
  })

  it('counts the compressed bytes, and a whole archive', async () => {
    const stored = gzipSync(CONTENT, { level: 0 })
    await expect(unpack(stored, CONTENT.length)).rejects.toThrow(TOO_LARGE)
    expect(await unpack(stored, stored.length)).toHaveLength(CONTENT.length)
    const tar = archive(entry({ name: 'a.mmdb', content: CONTENT }))
    await expect(unpack(gzipSync(tar), tar.length - 1)).rejects.toThrow(TOO_LARGE)
  })
})

describe('gunzip and nativeGunzip', () => {
  it.each([
    ['gunzip', gunzip],
    ['nativeGunzip', nativeGunzip],
  ])('%s has the path in its errors, and takes no more memory than the content needs', (_, unzip) => {
    expect(() => unzip(gzipOf(CONTENT, { crc: 1 }), '/db.gz')).toThrow(/^\/db\.gz: /)
    expect(unzip(gzipOf(CONTENT)).buffer.byteLength).toBeLessThan(CONTENT.length + 8192)
    const file = gzipOf(CONTENT, { length: 0x7fffffff })
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 20; i++) expect(() => unzip(file)).toThrow('more bytes than the file can hold')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000)
  })

  it.each([
    ['damage', gzipOf(CONTENT, { crc: 1 }), 'Z_DATA_ERROR'],
    ['more than the trailer says', gzipOf(CONTENT, { length: 10 }), 'ERR_BUFFER_TOO_LARGE'],
  ])('nativeGunzip has the error of zlib as the cause of %s', (_, file, code) => {
    const caught = expect.objectContaining({ cause: expect.objectContaining({ code }) })
    expect(() => nativeGunzip(file)).toThrow(caught)
  })
})

/** A DecompressionStream that refuses everything that the standard says. That of Node 20 does not. */
class StrictStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>

  constructor(format: string) {
    expect(format).toBe('gzip')
    const pieces: Uint8Array[] = []
    const stream = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece) => {
        expect(piece.buffer).toBeInstanceOf(ArrayBuffer)
        pieces.push(piece)
      },
      flush: (controller) => {
        const content = nativeGunzip(Buffer.concat(pieces))
        for (let at = 0; at < content.length; at += 1000) controller.enqueue(content.subarray(at, at + 1000))
      },
    })
    this.readable = stream.readable
    this.writable = stream.writable
  }
}

/** It joins members, as in Node 20 and Bun. */
class LenientStream extends DecompressionStream {}

/** The module with its memory of the platform emptied. */
async function on(platform: unknown) {
  vi.resetModules()
  vi.stubGlobal('DecompressionStream', platform)
  return import('../../src/bytes/gunzip.ts')
}

describe.each([
  ['a strict DecompressionStream', StrictStream, true],
  ['a DecompressionStream that joins members', LenientStream, false],
  ['no DecompressionStream', undefined, false],
])('gunzipInPieces with %s', (_, platform, isStrict) => {
  it('is recognised as strict or lenient', async () => {
    const { isPlatformStrict } = await on(platform)
    // Later versions of Node are strict.
    if (platform !== LenientStream) expect(await isPlatformStrict()).toBe(isStrict)
  })

  it('reads shared memory into shared memory', async () => {
    const { gunzipInPieces } = await on(platform)
    for (const [, file] of optionalHeaders()) {
      const shared = new Uint8Array(new SharedArrayBuffer(file.length))
      shared.set(file)
      const make = (length: number) => new Uint8Array(new SharedArrayBuffer(length))
      const content = await gunzipInPieces(shared, undefined, undefined, make)
      expect(content.buffer).toBeInstanceOf(SharedArrayBuffer)
      expect(Buffer.compare(content, CONTENT)).toBe(0)
    }
  })

  it('refuses damage', async () => {
    const { gunzipInPieces } = await on(platform)
    for (const [name, file] of damagedFiles()) {
      const error: unknown = await gunzipInPieces(file).catch((reason: unknown) => reason)
      expect(error, name).toMatchObject({ code: 'INVALID_DATABASE' })
    }
  })

  it('lets other work run', async () => {
    const { gunzipInPieces } = await on(platform)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(timer))
    // It takes the portable decompression a tenth of a second.
    const content = Buffer.alloc(2 ** 23, CONTENT)
    expect(await gunzipInPieces(gzipSync(content, { level: 1 }))).toHaveLength(content.length)
    if (!isStrict) expect(turns).toBeGreaterThan(0)
  })

  it('ends with the reason of its signal', async () => {
    const { gunzipInPieces } = await on(platform)
    const controller = new AbortController()
    const file = gzipSync(Buffer.alloc(2 ** 24, CONTENT), { level: 1 })
    const unpacking = gunzipInPieces(file, undefined, controller.signal)
    setTimeout(() => controller.abort(new Error('no longer needed')), 1)
    if (isStrict) await unpacking.catch(() => undefined)
    else await expect(unpacking).rejects.toThrow('no longer needed')
  })
})

describe('a platform that gives more than the file holds', () => {
  it('is stopped', async () => {
    const file = gzipSync(CONTENT)
    const { gunzipInPieces, isPlatformStrict } = await on(StrictStream)
    expect(await isPlatformStrict()).toBe(true)
    const cancelled = vi.fn()
    vi.stubGlobal(
      'DecompressionStream',
      class {
        readonly readable = new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(9000)),
          cancel: cancelled,
        })
        readonly writable = new WritableStream()
      },
    )
    await expect(gunzipInPieces(file)).rejects.toThrow('its compressed data cannot be read')
    expect(cancelled).toHaveBeenCalledOnce()
  })
})

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
  it('allows 1032 bytes of output for each byte, and no more', () => {
    const deflate = Uint8Array.of(3, 0)
    expect(readGzipMember(gzipOf(CONTENT, { deflate, length: 2064 })).length).toBe(2064)
    expect(() => readGzipMember(gzipOf(CONTENT, { deflate, length: 2065 }))).toThrow('more bytes than')
  })
})

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('crc32', () => {
  it('agrees with zlib, for views of any offset and length', () => {
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
