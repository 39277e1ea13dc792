import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { allocate, ByteCollector, checkSize, DEFAULT_MAX_BYTES, newBytes } from '../bytes/byte-limit.ts'
import { isGzip } from '../bytes/gzip-member.ts'
import type { ProgressMeter } from '../bytes/progress.ts'
import type { SignalLike } from '../platform-types.ts'
import { CHUNK_BYTES, gunzipFrom, nativeGunzipAsync } from './native-gunzip.ts'

/** How much of an uncompressed file is read at a time. */
const RAW_CHUNK_BYTES = 2 ** 23

/**
 * Reads a file and decompresses it if it is gzip, on another thread. A compressed file is read in chunks: whole, it
 * would leave garbage of half the database's size in memory. A file that cannot be opened is read whole: the file system
 * inside an executable of `bun build --compile` can do nothing else.
 *
 * @param maxBytes limit for the file's size, compressed and decompressed; a larger file is not read
 * @param signal stops reading soon after it is aborted; the caller discards what is thrown then
 * @param make allocates the memory of the result, such as shared memory; not used for pipes and devices
 * @param progress gets the number of bytes read
 * @throws InvalidDatabaseError when a gzip file is damaged, or a file is too large
 */
export async function readUnpacked(
  path: string,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: SignalLike,
  make?: (bytes: number) => Uint8Array,
  progress?: ProgressMeter,
): Promise<Uint8Array> {
  const file = await open(path).catch(async (error: unknown) => {
    const bytes = await readFile(path).catch(() => null)
    // The error of `open` says more about the cause than that of `readFile`.
    if (bytes === null) throw error
    return bytes
  })
  if (file instanceof Uint8Array) {
    checkSize(file.length, maxBytes, path)
    progress?.add(file.length)
    return isGzip(file) ? await nativeGunzipAsync(file, path, maxBytes) : file
  }
  try {
    const { size } = await file.stat()
    checkSize(size, maxBytes, path)
    if (size === 0) {
      // A pipe has no size and cannot be read at a position.
      const bytes = await readPipe(file, path, maxBytes, signal, progress)
      return isGzip(bytes) ? await nativeGunzipAsync(bytes, path, maxBytes) : bytes
    }
    const buffer = new Uint8Array(Math.min(CHUNK_BYTES, size))
    const read = (at: number, count: number): Promise<Uint8Array> =>
      readAt(file, at, buffer.subarray(0, Math.min(count, size - at)))
    if (isGzip(await read(0, 3))) {
      return await gunzipFrom({ size, read, path, maxBytes, signal, make, progress })
    }
    const bytes = allocate(size, make ?? newBytes, path)
    for (let at = 0; at < size; at += RAW_CHUNK_BYTES) {
      signal?.throwIfAborted()
      const { length } = await readAt(file, at, bytes.subarray(at, at + RAW_CHUNK_BYTES))
      progress?.add(length)
    }
    return bytes
  } finally {
    await file.close()
  }
}

/**
 * Fills the bytes from a position in the file.
 *
 * @throws Error when the file has become shorter
 */
async function readAt(file: FileHandle, position: number, bytes: Uint8Array): Promise<Uint8Array> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done)
    if (bytesRead === 0) throw new Error('the file was truncated while it was read')
    done += bytesRead
  }
  return bytes
}

/** How much of a pipe is read at a time. */
const PIPE_CHUNK_BYTES = 2 ** 16

/**
 * Reads an open pipe or device, such as a shell's `<(…)`, to its end. It has no size.
 *
 * @throws InvalidDatabaseError when it has more than `maxBytes`
 */
async function readPipe(
  file: FileHandle,
  path: string,
  maxBytes: number,
  signal?: SignalLike,
  progress?: ProgressMeter,
): Promise<Uint8Array> {
  const collector = new ByteCollector(maxBytes, path)
  const chunk = new Uint8Array(PIPE_CHUNK_BYTES)
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(chunk, 0, PIPE_CHUNK_BYTES, null)
    if (bytesRead === 0) return collector.bytes()
    progress?.add(bytesRead)
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
  const file = openOrReadSync(path)
  if (typeof file !== 'number') {
    checkSize(file.length, maxBytes, path)
    return file
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size === 0) return readPipeSync(file, path, maxBytes)
    checkSize(stats.size, maxBytes, path)
    const bytes = allocate(stats.size, newBytes, path)
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

/** The descriptor, or the bytes of a file that cannot be opened: see {@link readUnpacked}. */
function openOrReadSync(path: string): number | Uint8Array {
  try {
    return openSync(path, 'r')
  } catch (error) {
    try {
      return readFileSync(path)
    } catch {
      throw error
    }
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
