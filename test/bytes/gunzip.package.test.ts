// No function that decompresses accepts more than `maxBytes`, or allocates the size of a forged trailer.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sampled } from '../effort.ts'
import { makeFile, temporaryFolder } from '../temporary.ts'
import { CONTENT } from './gzip-samples.ts'
import { waysToUnpack } from './ways-to-unpack.ts'

const MB = 1_000_000
const folder = temporaryFolder()
const WAYS = waysToUnpack(join(folder, 'file'))

const TOO_LARGE = /it has more than \d+ bytes, the limit that maxBytes sets: use a larger maxBytes/

/** The trailer's length field: four bytes from the end. */
function promising(packed: Uint8Array, length: number): Uint8Array {
  const lying = Buffer.from(packed)
  lying.writeUInt32LE(length, lying.length - 4)
  return lying
}

const run = promisify(execFile)

/** Decompresses a file in a separate process. Returns why it was refused, and the peak memory. */
async function unpackedElsewhere(way: string, file: Uint8Array, maxBytes: number): Promise<Unpacked> {
  const path = makeFile(join(folder, `${way}.gz`), file)
  const child = fileURLToPath(new URL('./unpack-child.ts', import.meta.url))
  const { stdout } = await run(process.execPath, ['--import', 'tsx', child, way, path, String(maxBytes)])
  return JSON.parse(stdout)
}

interface Unpacked {
  readonly refused: string | null
  /** Increase of resident memory, in bytes. */
  readonly memory: number
}

describe.each(sampled(WAYS, 3))('%s, with the memory measured', (way) => {
  const bomb = gzipSync(new Uint8Array(200 * MB))
  const noise = gzipSync(Buffer.alloc(2_200_000, CONTENT), { level: 0 })

  it.each([
    ['does not unpack a bomb that is honest', bomb, MB, TOO_LARGE],
    ['stops a bomb whose trailer says less than comes', promising(bomb, 1000), MB, /damaged/],
    ['stops a bomb whose trailer says just what may come', promising(bomb, MB), MB, /damaged/],
    ['takes no memory for what a trailer promises', promising(noise, 2 ** 31 - 1), 2 ** 31, /damaged/],
  ])('%s', async (_, file, maxBytes, reason) => {
    const { refused, memory } = await unpackedElsewhere(way, file, maxBytes)
    expect(refused).toMatch(reason)
    expect(memory).toBeLessThan(50 * MB)
  })
})
