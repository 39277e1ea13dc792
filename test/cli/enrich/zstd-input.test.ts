// Zstandard in a version of Node that has it: a stand-in passes the stored bytes on, so that what is tested is
// everything around it. It drops the first byte, since what comes out must not be Zstandard again. As Node's own, it ignores what
// follows a frame in the same write. The frames themselves: file-forms.test.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { makeFile } from '../../temporary.ts'
import { failure, ndjson, workspace } from './command-line.ts'

vi.mock('node:zlib', async (original) => {
  const { PassThrough, Transform } = await import('node:stream')
  const createZstdDecompress = () => {
    let skipped = 1
    let bytesWritten = 0
    const standIn = new Transform({
      transform(chunk: Buffer, _, done) {
        const next = chunk.indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 1)
        const frame = next === -1 ? chunk : chunk.subarray(0, next)
        bytesWritten += frame.length
        Object.assign(this, { bytesWritten })
        done(null, frame.subarray(skipped))
        skipped = 0
      },
    })
    return Object.assign(standIn, { bytesWritten })
  }
  return {
    ...(await original<object>()),
    createZstdCompress: () => new PassThrough(),
    createZstdDecompress,
  }
})

const { folder, enrich } = workspace('--stats', 'json')

/** One frame: a header with a window, a raw block that is the last (RFC 8878 section 3.1.1), no checksum. */
const frameOf = (text: string): Buffer =>
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, (text.length << 3) | 1, 0, 0, ...Buffer.from(text)])
const frame = frameOf('8.8.8')

const enriched = (bytes: Uint8Array) => enrich(['--quiet', '--format', 'list', '--force'], bytes)

describe('Zstandard', () => {
  it.each([
    ['is read if it is complete', frame, 1],
    [
      'can begin with a skippable frame, as parallel compressors write it',
      Buffer.concat([Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9]), frame]),
      1,
    ],
    ['is read to its last frame', Buffer.concat(Array<Buffer>(100).fill(frameOf('8.8.8.8\n'))), 100],
  ])('%s', async (_, bytes, lines) => {
    const { status, err } = await enriched(bytes)
    expect(status).toBe(0)
    expect(JSON.parse(err)).toMatchObject({ lines, bytesRead: bytes.length })
  })

  it.each([
    ['truncated', frame.subarray(0, -1), 'truncated'],
    ['cut in its header', frame.subarray(0, 5), 'truncated'],
    ['damaged', Buffer.concat([frame, Buffer.from('rubbish')]), 'damaged'],
  ])('that is %s ends with 4', async (_, bytes, fault) => {
    expect(await enriched(bytes)).toEqual(failure(4, `its zstd data is ${fault}`))
  })

  it('is written if the name of the output ends with .zst', async () => {
    const [plain, compressed] = [join(folder, 'out'), join(folder, 'out.ZST')]
    const from = makeFile(join(folder, 'in'), ndjson(3))
    for (const path of [plain, compressed]) {
      expect((await enrich(['--quiet', '--at', '2026-07-01', from, '-o', path])).status).toBe(0)
    }
    expect(readFileSync(compressed)).toEqual(readFileSync(plain))
  })
})
