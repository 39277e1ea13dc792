import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { allocate, ByteCollector, checkSize } from '../bytes/byte-limit.ts'

/** How much is read at a time of what has no size. Bytes. */
const PIECE = 2 ** 16

/**
 * Everything that an open pipe or device holds, such as a shell's `<(…)`: its size is known at its end.
 *
 * @throws InvalidDatabaseError when that is more than `maxBytes`
 */
export async function readPipe(
  file: FileHandle,
  path: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const collector = new ByteCollector(maxBytes, path)
  const piece = new Uint8Array(PIECE)
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(piece, 0, PIECE, null)
    if (bytesRead === 0) return collector.bytes()
    collector.add(piece.subarray(0, bytesRead))
  }
}

/**
 * A file, at once. One that is too large is not read.
 *
 * @throws InvalidDatabaseError when it has more than `maxBytes`
 * @throws Error when it cannot be read
 */
export function readWholeSync(path: string, maxBytes: number): Uint8Array {
  const file = openSync(path, 'r')
  try {
    const facts = fstatSync(file)
    if (!facts.isFile() || facts.size === 0) return readPipeSync(file, path, maxBytes)
    checkSize(facts.size, maxBytes, path)
    const bytes = allocate(facts.size, (size) => new Uint8Array(size), path)
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(file, bytes, at, bytes.length - at, at)
      if (count === 0) throw new Error('the file became shorter while it was read')
      at += count
    }
    return bytes
  } finally {
    closeSync(file)
  }
}

function readPipeSync(file: number, path: string, maxBytes: number): Uint8Array {
  const collector = new ByteCollector(maxBytes, path)
  const piece = new Uint8Array(PIECE)
  for (;;) {
    const count = readSync(file, piece, 0, PIECE, null)
    if (count === 0) return collector.bytes()
    collector.add(piece.subarray(0, count))
  }
}
