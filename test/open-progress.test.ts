import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { Resolver as CoreResolver } from '../src/core.ts'
import { type OpenProgress, Resolver } from '../src/index.ts'
import { pack } from '../src/writer.ts'
import { british } from './own-databases.ts'
import { makeFile, temporaryFolder } from './temporary.ts'

const mmdb = british()
const packed = new Uint8Array(gzipSync(mmdb))
const SIZE = packed.length
const file = makeFile(join(temporaryFolder(), 'x.mmdb.gz'), packed)
const raw = makeFile(join(temporaryFolder(), 'x.mmdb'), mmdb)

const packedFile = makeFile(join(temporaryFolder(), 'x.mmdb.packed'), pack(mmdb))

const response = (headers: Record<string, string>): Response => new Response(packed, { headers })
const stream = (): ReadableStream<Uint8Array> => new Blob([packed]).stream()

/** Total as `onProgress` gets it for each source. */
const SOURCES = [
  ['bytes', () => packed, SIZE],
  ['a Blob', () => new Blob([packed]), SIZE],
  ['a stream', stream, null],
  ['a Response with a length', () => response({ 'content-length': `${SIZE}` }), SIZE],
  ['a Response without one', () => response({}), null],
  [
    'a Response that was compressed on its way',
    () => response({ 'content-length': '10', 'content-encoding': 'gzip' }),
    null,
  ],
  ['a Response with a length that is not a number', () => response({ 'content-length': '1e3' }), null],
  ['a Response with a length that is too small', () => response({ 'content-length': '10' }), null],
] as const

describe.each([
  ['the core', CoreResolver],
  ['Node', Resolver],
])('onProgress of %s', (_, Entry) => {
  it.each(SOURCES)('counts the bytes of %s', async (__, source, total) => {
    const seen: OpenProgress[] = []
    await Entry.open(source(), { onProgress: (progress) => seen.push(progress) })
    expect(seen.at(-1)).toEqual({ loaded: SIZE, total })
    expect(seen.map(({ loaded }) => loaded)).toEqual(seen.map(({ loaded }) => loaded).sort((a, b) => a - b))
  })

  it('counts all sources together', async () => {
    const seen: OpenProgress[] = []
    const onProgress = (progress: OpenProgress) => seen.push(progress)
    await Entry.open([packed, new Blob([packed])], { onProgress })
    expect(seen[0]).toEqual({ loaded: SIZE, total: 2 * SIZE })
    expect(seen.at(-1)).toEqual({ loaded: 2 * SIZE, total: 2 * SIZE })
    await Entry.open([packed, stream()], { onProgress })
    expect(seen.at(-1)).toEqual({ loaded: 2 * SIZE, total: null })
  })

  it('ends opening with what it throws', async () => {
    const onProgress = () => {
      throw new RangeError('mine')
    }
    for (const source of [packed, stream()]) {
      await expect(Entry.open(source, { onProgress })).rejects.toThrow(new RangeError('mine'))
    }
  })

  it('must be a function', async () => {
    const opening: Promise<unknown> = Reflect.apply(Entry.open, Entry, [packed, { onProgress: true }])
    await expect(opening).rejects.toThrow(new TypeError('onProgress must be a function'))
  })

  it('is there when a database is opened synchronously', () => {
    const seen: OpenProgress[] = []
    Entry.openSync(packed, { onProgress: (progress) => seen.push(progress) })
    expect(seen).toEqual([{ loaded: SIZE, total: SIZE }])
  })
})

beforeAll(() => CoreResolver.loadDecompression())

describe('onProgress of files', () => {
  it.each([
    ['compressed', file, SIZE],
    ['raw', raw, mmdb.length],
  ])('counts the bytes on disk: %s', async (_, path, size) => {
    const seen: OpenProgress[] = []
    const onProgress = (progress: OpenProgress) => seen.push(progress)
    await Resolver.open(path, { onProgress })
    Resolver.openSync(path, { onProgress })
    expect(seen).toEqual([1, 2].map(() => ({ loaded: size, total: size })))
  })

  it('counts a packed file as read when it is open, also in a list', async () => {
    const seen: OpenProgress[] = []
    const onProgress = (progress: OpenProgress) => seen.push(progress)
    const size = pack(mmdb).length
    const total = size + SIZE
    await Resolver.open([packedFile, file], { onProgress })
    Resolver.openSync([packedFile, file], { onProgress })
    expect(seen).toEqual([1, 2].flatMap(() => [size, total].map((loaded) => ({ loaded, total }))))
  })

  it.each([
    ['compressed', file],
    ['raw', raw],
    ['packed', packedFile],
  ])('ends opening with what it throws, not as damage: %s', async (_, path) => {
    const mine = new RangeError('mine')
    const onProgress = () => {
      throw mine
    }
    await expect(Resolver.open(path, { onProgress })).rejects.toBe(mine)
    expect(() => Resolver.openSync(path, { onProgress })).toThrow(mine)
  })

  it('leaves the error for a missing file as it is', async () => {
    await expect(Resolver.open(`${file}.not`, { onProgress: () => {} })).rejects.toThrow('ENOENT')
  })
})

describe('openSync of the core', () => {
  it('has limits, a signal and errors as open', () => {
    expect(() => CoreResolver.openSync(packed, { maxBytes: 10 })).toThrow('the limit that maxBytes sets')
    expect(() => CoreResolver.openSync(packed, { signal: AbortSignal.abort(new Error('late')) })).toThrow(
      'late',
    )
    expect(() => CoreResolver.openSync([])).toThrow('no database was given')
    for (const source of ['city.mmdb', new Blob([packed]), null]) {
      expect(() => Reflect.apply(CoreResolver.openSync, CoreResolver, [source])).toThrow(
        new TypeError('openSync takes Uint8Array, ArrayBuffer or SharedArrayBuffer'),
      )
    }
  })
})
