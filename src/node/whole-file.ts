import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ByteCollector } from '../bytes/byte-collector.ts'
import { allocate, checkSize } from '../bytes/byte-limit.ts'

/** How much of a pipe is read at a time. */
const PIPE_CHUNK_BYTES = 2 ** 16

/**
 * Reads an open pipe or device, such as a shell's `<(…)`, to its end. It has no size.
 *
 * @throws InvalidDatabaseError when it has more than `maxBytes`
 */
export async function readPipe(file: FileHandle, path: string, maxBytes: number): Promise<Uint8Array> {
  const collector = new ByteCollector(maxBytes, path)
  const chunk = new Uint8Array(PIPE_CHUNK_BYTES)
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, PIPE_CHUNK_BYTES, null)
    if (bytesRead === 0) return collector.bytes()
    collector.add(chunk.subarray(0, bytesRead))
  }
}

/**
 * Reads a file synchronously. One that is too large is not read.
 *
 * @throws InvalidDatabaseError when it has more than `maxBytes`
 * @throws Error when it cannot be read
 */
export function readWholeSync(path: string, maxBytes: number): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size === 0) return readPipeSync(file, path, maxBytes)
    checkSize(stats.size, maxBytes, path)
    const bytes = allocate(stats.size, (size) => new Uint8Array(size), path)
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(file, bytes, at, bytes.length - at, at)
      if (count === 0) throw new Error('the file was truncated while it was read')
      at += count
    }
    return bytes
  } finally {
    closeSync(file)
  }
}

function readPipeSync(file: number, path: string, maxBytes: number): Uint8Array {
  const collector = new ByteCollector(maxBytes, path)
  const chunk = new Uint8Array(PIPE_CHUNK_BYTES)
  for (;;) {
    const count = readSync(file, chunk, 0, PIPE_CHUNK_BYTES, null)
    if (count === 0) return collector.bytes()
    collector.add(chunk.subarray(0, count))
  }
}
