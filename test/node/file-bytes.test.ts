import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/bench/addresses.ts'
import { isGzip } from '../../src/bytes/gzip-member.ts'
import { ProgressMeter } from '../../src/bytes/progress.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { readUnpacked } from '../../src/node/file-bytes.ts'
import { CONTENT, damagedFiles, gzipOf, optionalHeaders } from '../bytes/gzip-samples.ts'
import { temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

/** Noise, so that the compressed file has several chunks. */
const random = seeded(11)
const NOISE = Uint8Array.from({ length: 1_500_000 }, () => random() * 256)

function file(bytes: Uint8Array): string {
  const path = join(folder, 'file')
  writeFileSync(path, bytes)
  return path
}

async function read(bytes: Uint8Array): Promise<Uint8Array> {
  return readUnpacked(file(bytes))
}

describe('readUnpacked', () => {
  it.each([
    ['nothing', new Uint8Array()],
    ['one byte', Uint8Array.of(0x1f)],
    ['uncompressed bytes', NOISE],
  ])('reads %s unchanged', async (_, content) => {
    expect(Buffer.compare(await read(content), content)).toBe(0)
  })

  it.each([0, 1, 6])('reads a gzip file of level %i', async (level) => {
    expect(Buffer.compare(await read(gzipSync(NOISE, { level })), NOISE)).toBe(0)
  })

  it('reads an empty gzip file', async () => {
    expect(await read(gzipSync(''))).toHaveLength(0)
  })

  it.each(optionalHeaders())('reads a header with %s', async (_, bytes) => {
    expect(Buffer.compare(await read(bytes), CONTENT)).toBe(0)
  })

  it.each(damagedFiles().filter(([, bytes]) => isGzip(bytes)))('refuses %s', async (_, bytes, message) => {
    await expect(read(bytes)).rejects.toThrow(InvalidDatabaseError)
    await expect(read(bytes)).rejects.toThrow(message)
  })

  it('refuses damage in any chunk', async () => {
    const sound = gzipSync(NOISE)
    expect(sound.length).toBeGreaterThan(3 * 2 ** 18)
    for (let at = 100; at < sound.length; at += 150_000) {
      const damaged = Buffer.from(sound)
      damaged[at] = (damaged[at] ?? 0) ^ 16
      await expect(read(damaged)).rejects.toThrow(InvalidDatabaseError)
    }
  })

  it.each([
    ['a second member', Buffer.concat([gzipSync(NOISE), gzipSync(NOISE)])],
    [
      'padding that ends like a trailer',
      Buffer.concat([gzipSync(NOISE), Buffer.of(0), gzipSync(NOISE).subarray(-8)]),
    ],
    [
      'a member and many chunks of noise',
      Buffer.concat([gzipSync(CONTENT), NOISE, gzipSync(CONTENT).subarray(-8)]),
    ],
  ])('refuses %s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow(InvalidDatabaseError)
  })

  it('stops at the length in the trailer', async () => {
    const bomb = gzipSync(new Uint8Array(50_000_000))
    bomb.writeUInt32LE(10, bomb.length - 4)
    await expect(read(bomb)).rejects.toThrow(InvalidDatabaseError)
  })

  it('refuses a file that becomes shorter while it is read', async () => {
    const path = file(new Uint8Array())
    truncateSync(path, 10_000_000)
    const progress = new ProgressMeter(() => truncateSync(path, 10), null)
    await expect(readUnpacked(path, undefined, undefined, undefined, progress)).rejects.toThrow(
      'the file was truncated while it was read',
    )
  })

  it('has the path in its errors', async () => {
    const path = file(gzipOf(CONTENT, { crc: 1 }))
    await expect(readUnpacked(path)).rejects.toMatchObject({ path })
    await expect(readUnpacked(join(folder, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
