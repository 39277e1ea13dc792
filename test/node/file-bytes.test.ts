import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/bench/addresses.ts'
import { readUnpacked, readUnpackedSync } from '../../src/node/file-bytes.ts'
import { CONTENT, gzipOf } from '../bytes/gzip-samples.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

/** Noise, so that the compressed file has several chunks. */
const random = seeded(11)
const NOISE = Uint8Array.from({ length: 5_000_000 }, () => random() * 256)

const file = (bytes: Uint8Array): string => makeFile(join(folder, 'file'), bytes)

describe.each([
  ['readUnpacked', readUnpacked],
  ['readUnpackedSync', readUnpackedSync],
])('%s', (_, read) => {
  it.each([
    ['nothing', new Uint8Array()],
    ['one byte', Uint8Array.of(0x1f)],
    ['uncompressed bytes of several chunks', NOISE],
  ])('reads %s unchanged', async (__, content) => {
    expect(Buffer.compare(await read(file(content)), content)).toBe(0)
  })

  it('decompresses a file of several chunks', async () => {
    expect(Buffer.compare(await read(file(gzipSync(NOISE, { level: 1 }))), NOISE)).toBe(0)
  })

  it('refuses a file that becomes shorter while it is read', async () => {
    const path = file(new Uint8Array())
    truncateSync(path, 10_000_000)
    const reading = async (): Promise<unknown> => read(path, { onRead: () => truncateSync(path, 10) })
    await expect(reading()).rejects.toThrow('the file was truncated while it was read')
  })

  it('has the path in its errors', async () => {
    const path = file(gzipOf(CONTENT, { crc: 1 }))
    const missing = join(folder, 'missing')
    await expect((async () => read(path))()).rejects.toMatchObject({ path })
    await expect((async () => read(missing))()).rejects.toMatchObject({
      path: missing,
      cause: { code: 'ENOENT' },
    })
  })
})
