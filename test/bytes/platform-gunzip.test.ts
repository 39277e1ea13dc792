import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { nativeGunzip } from '../../src/node/native-gunzip.ts'
import { CONTENT, damagedFiles, optionalHeaders } from './gzip-samples.ts'

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
  return import('../../src/bytes/platform-gunzip.ts')
}

afterEach(() => vi.unstubAllGlobals())

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

  it.each(optionalHeaders())('reads a header with %s', async (__, file) => {
    const { gunzipInPieces } = await on(platform)
    expect(Buffer.compare(await gunzipInPieces(file), CONTENT)).toBe(0)
  })

  it('reads shared memory into shared memory', async () => {
    const { gunzipInPieces } = await on(platform)
    const file = gzipSync(CONTENT)
    const shared = new Uint8Array(new SharedArrayBuffer(file.length))
    shared.set(file)
    const make = (length: number) => new Uint8Array(new SharedArrayBuffer(length))
    const content = await gunzipInPieces(shared, undefined, undefined, make)
    expect(content.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(Buffer.compare(content, CONTENT)).toBe(0)
  })

  it.each(damagedFiles())('refuses %s', async (__, file) => {
    const { gunzipInPieces } = await on(platform)
    const error: unknown = await gunzipInPieces(file).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'INVALID_DATABASE' })
  })

  it('refuses more than its trailer says', async () => {
    const { gunzipInPieces } = await on(platform)
    const file = gzipSync(CONTENT)
    file.writeUInt32LE(CONTENT.length - 1, file.length - 4)
    await expect(gunzipInPieces(file)).rejects.toThrow('damaged')
  })

  it('lets other work run', async () => {
    const { gunzipInPieces } = await on(platform)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    try {
      // It takes the portable decompression a tenth of a second.
      const content = Buffer.alloc(2 ** 23, CONTENT)
      expect(await gunzipInPieces(gzipSync(content, { level: 1 }))).toHaveLength(content.length)
    } finally {
      clearInterval(timer)
    }
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
