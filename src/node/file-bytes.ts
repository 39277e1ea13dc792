import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { createGunzip, type Gunzip } from 'node:zlib'
import { allocate, ByteCollector, checkSize, DEFAULT_MAX_BYTES } from '../bytes/byte-limit.ts'
import { isGzip, readGzipEnds, TRAILER_BYTES } from '../bytes/gzip-member.ts'
import type { ProgressMeter } from '../bytes/progress.ts'
import type { SignalLike } from '../platform-types.ts'
import {
  isEmptyMemberFirst,
  MIN_CHUNK_BYTES,
  nativeGunzipAsync,
  trailingBytes,
  unreadableGzip,
} from './native-gunzip.ts'

/** How much of a compressed file is in memory at a time; its header must fit. */
const CHUNK_BYTES = 2 ** 18

/** How much of an uncompressed file is read at a time. */
const RAW_CHUNK_BYTES = 2 ** 23

/** zlib's output chunks where they are copied into other memory. */
const COPIED_CHUNK_BYTES = 2 ** 20

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
    // The reason why it cannot be opened is the better one.
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
    const head = await readAt(file, 0, buffer)
    if (!isGzip(head)) {
      const bytes = allocate(size, make ?? ((count) => new Uint8Array(count)), path)
      for (let at = 0; at < size; at += RAW_CHUNK_BYTES) {
        signal?.throwIfAborted()
        const { length } = await readAt(file, at, bytes.subarray(at, at + RAW_CHUNK_BYTES))
        progress?.add(length)
      }
      return bytes
    }
    const tail = new Uint8Array(Math.min(size, TRAILER_BYTES))
    await readAt(file, size - tail.length, tail)
    const { start, length } = readGzipEnds(head, tail, size, path, maxBytes)
    if (isEmptyMemberFirst(head.subarray(start, size - TRAILER_BYTES))) throw trailingBytes(path)
    const target = make === undefined ? null : allocate(length, make, path)
    return await inflate(file, buffer, size, length, target, path, signal, progress)
  } finally {
    await file.close()
  }
}

/**
 * @param buffer for the compressed bytes
 * @param length of the decompressed bytes, according to the trailer
 * @param target memory of that length for them; `null`: in the memory that zlib allocates, without a copy
 */
async function inflate(
  file: FileHandle,
  buffer: Uint8Array,
  size: number,
  length: number,
  target: Uint8Array | null,
  path: string,
  signal: SignalLike | undefined,
  progress: ProgressMeter | undefined,
): Promise<Uint8Array> {
  // One more byte, to detect a file that is longer than its trailer says.
  const gunzip = allocate(
    target === null ? Math.max(length + 1, MIN_CHUNK_BYTES) : COPIED_CHUNK_BYTES,
    (chunkSize) => createGunzip({ chunkSize }),
    path,
  )
  const chunks: Uint8Array[] = []
  let inflated = 0
  gunzip.on('data', (chunk: Uint8Array) => {
    const start = inflated
    inflated += chunk.length
    if (inflated > length) gunzip.destroy(new Error('it is longer than its trailer says'))
    else if (target === null) chunks.push(chunk)
    else target.set(chunk, start)
  })
  try {
    const ended = new Promise<void>((resolve, reject) => {
      gunzip.once('end', resolve).once('error', reject)
    })
    for (let at = 0; at < size && !gunzip.readableEnded; at += buffer.length) {
      signal?.throwIfAborted()
      const bytes = await readAt(file, at, buffer.subarray(0, size - at))
      progress?.add(bytes.length)
      // After the end of the member, zlib takes no more bytes.
      await Promise.race([write(gunzip, bytes), ended])
    }
    gunzip.end()
    await ended
  } catch (cause) {
    throw unreadableGzip(cause, path)
  } finally {
    gunzip.destroy()
  }
  if (gunzip.bytesWritten !== size || inflated !== length) throw trailingBytes(path)
  return target ?? joined(chunks, length)
}

function write(gunzip: Gunzip, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    gunzip.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
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

/** Avoids a copy if the chunks are adjacent in one buffer, as in Node's zlib. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks
  let end = first?.byteOffset
  for (const chunk of chunks) {
    if (chunk.buffer !== first?.buffer || chunk.byteOffset !== end) return Buffer.concat(chunks, length)
    end += chunk.length
  }
  return first === undefined ? new Uint8Array(0) : new Uint8Array(first.buffer, first.byteOffset, length)
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
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const bytes = readOrNull(path)
    if (bytes === null) throw error
    checkSize(bytes.length, maxBytes, path)
    return bytes
  }
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

function readOrNull(path: string): Uint8Array | null {
  try {
    return readFileSync(path)
  } catch {
    return null
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
