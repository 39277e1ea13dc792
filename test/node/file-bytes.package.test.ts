import { execFileSync, spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/bench/addresses.ts'
import { readUnpacked, readUnpackedSync } from '../../src/node/file-bytes.ts'
import { CONTENT } from '../bytes/gzip-samples.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'

const folder = temporaryFolder()

/** Noise, so that the compressed file has several chunks. */
const random = seeded(11)
const NOISE = Uint8Array.from({ length: 1_500_000 }, () => random() * 256)

const file = (bytes: Uint8Array): string => makeFile(join(folder, 'file'), bytes)

describe('readUnpacked', () => {
  it.skipIf(process.platform === 'win32').each([
    ['plain', CONTENT],
    ['compressed', gzipSync(CONTENT)],
  ])('reads a named pipe, %s', async (name, bytes) => {
    const pipe = join(folder, name)
    execFileSync('mkfifo', [pipe])
    const [found] = await Promise.all([
      readUnpacked(pipe),
      open(pipe, 'w').then((writer) => writer.writeFile(bytes).finally(() => writer.close())),
    ])
    expect(Buffer.compare(found, CONTENT)).toBe(0)
  })
})

describe('readUnpackedSync', () => {
  it.skipIf(process.platform === 'win32')('reads a named pipe to its end', () => {
    const pipe = join(folder, 'whole')
    execFileSync('mkfifo', [pipe])
    spawn('sh', ['-c', `cat "${file(NOISE)}" > "${pipe}"`], { stdio: 'ignore' })
    expect(Buffer.compare(readUnpackedSync(pipe, { maxBytes: NOISE.length }), NOISE)).toBe(0)
  })
})
