import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError, Resolver } from '../../src/index.ts'
import { tarOf } from '../bytes/tar-samples.ts'
import { british } from '../own-databases.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()
const mmdb = british()

/** Writes a file without an extension. */
const file = (name: string, bytes: Uint8Array): string => makeFile(join(folder, name), bytes)

const raw = file('raw', mmdb)
const gzip = file('gzip', gzipSync(mmdb))
const tarGzip = file('tar-gzip', gzipSync(tarOf({ 'Sample_20260605/Sample.mmdb': mmdb })))
const damaged = file('damaged', gzipSync(mmdb).fill(0, 40, 50))
const text = file('text', Buffer.from('not a database'))

describe('Resolver of the Node entry', () => {
  it.each([
    ['a path', raw],
    ['a gzip file, by its bytes', gzip],
    ['a tar.gz with an .mmdb inside, by its bytes', tarGzip],
    ['a file: URL', pathToFileURL(gzip)],
    ['a file: URL as text', pathToFileURL(gzip).href],
    ['bytes', mmdb],
    ['compressed bytes', gzipSync(mmdb)],
    ['an array of both', [raw, mmdb]],
  ])('opens %s', async (_, source) => {
    expect((await Resolver.open(source)).lookup('81.2.69.142').country.code).toBe('GB')
    expect(Resolver.openSync(source).lookup('81.2.69.142').country.code).toBe('GB')
  })

  it('opens asynchronous sources', async () => {
    for (const source of [
      new Blob([gzipSync(mmdb)]),
      new Response(gzipSync(mmdb)),
      new Blob([new Uint8Array(mmdb)]).stream(),
    ]) {
      expect((await Resolver.open(source)).lookup('81.2.69.142').country.code).toBe('GB')
    }
    expect(() => Reflect.apply(Resolver.openSync, Resolver, [new Blob([])])).toThrow(TypeError)
  })

  it('names the file in databases and in errors', async () => {
    expect((await Resolver.open(raw)).databases[0]?.path).toBe(raw)
    for (const path of [damaged, text, join(folder, 'missing'), folder]) {
      const expected = expect.objectContaining({
        code: 'INVALID_DATABASE',
        path,
        message: expect.stringContaining(path),
      })
      await expect(Resolver.open(path)).rejects.toThrow(expected)
      expect(() => Resolver.openSync(path)).toThrow(expected)
    }
  })

  it('reads at most maxBytes of a source, compressed and decompressed', async () => {
    const large = new Uint8Array(Buffer.concat([Buffer.alloc(100_000), mmdb]))
    for (const path of [file('large', large), file('large-gzip', gzipSync(large))]) {
      const error = expect.objectContaining({ code: 'INVALID_DATABASE', path })
      await expect(Resolver.open(path, { maxBytes: 100_000 })).rejects.toThrow(error)
      await expect(Resolver.open(path, { maxBytes: 100_000 })).rejects.toThrow('than 100000 bytes, the limit')
      expect(() => Resolver.openSync(path, { maxBytes: 100_000 })).toThrow(error)
    }
    for (const source of [large, gzipSync(large)]) {
      await expect(Resolver.open(source, { maxBytes: 100_000 })).rejects.toThrow('the limit that maxBytes')
      expect(() => Resolver.openSync(source, { maxBytes: 100_000 })).toThrow('the limit that maxBytes')
      await expect(Resolver.open(new Response(source), { maxBytes: 100_000 })).rejects.toThrow('maxBytes')
    }
    const enough = { maxBytes: mmdb.length }
    expect((await Resolver.open([raw, mmdb], enough)).databases).toHaveLength(2)
    expect(Resolver.openSync([raw, mmdb], enough).databases).toHaveLength(2)
  })

  it.skipIf(!existsSync('/dev/zero'))('stops reading an endless device', async () => {
    await expect(Resolver.open('/dev/zero', { maxBytes: 1_000_000 })).rejects.toThrow(
      'the limit that maxBytes',
    )
    expect(() => Resolver.openSync('/dev/zero', { maxBytes: 1_000_000 })).toThrow('the limit that maxBytes')
  })

  it('lists the supported sources when it gets another', async () => {
    await expect(Reflect.apply(Resolver.open, Resolver, [42])).rejects.toThrow(TypeError)
    await expect(Reflect.apply(Resolver.open, Resolver, [42])).rejects.toThrow(
      'a database must be a path, a file: URL, Uint8Array, ',
    )
    await expect(Resolver.open(new Blob(['rubbish']))).rejects.toThrow(InvalidDatabaseError)
  })

  it('only opens file: URLs', async () => {
    await expect(Resolver.open(new URL('https://example.com/city.mmdb'))).rejects.toThrow(TypeError)
    expect(() => Resolver.openSync(new URL('https://example.com/city.mmdb'))).toThrow(/pass the Response/)
  })
})
