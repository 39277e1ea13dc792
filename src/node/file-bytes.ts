import { type FileHandle, open } from 'node:fs/promises'
import { createGunzip, type Gunzip } from 'node:zlib'
import { allocate, checkSize, DEFAULT_MAX_BYTES } from '../bytes/byte-limit.ts'
import { isGzip, readGzipEnds, TRAILER_BYTES } from '../bytes/gzip-member.ts'
import {
  followed,
  isEmptyMemberFirst,
  LEAST_CHUNK,
  nativeGunzipAsync,
  unreadableGzip,
} from './native-gunzip.ts'
import { readPipe } from './whole-file.ts'

/** How much of a compressed file is in memory at a time; its header must fit. Bytes. */
const PIECE = 2 ** 18

/**
 * The bytes of a file, decompressed if it is gzip. A compressed file is never whole in memory, so that what a
 * program keeps for years does not begin with garbage of half its size. Decompression runs on another thread.
 *
 * @param maxBytes that the file may have, compressed or not; one that is larger is not read
 * @param signal ends the work soon after it is aborted; what is thrown then is of no account
 * @throws InvalidDatabaseError when a gzip file is damaged, or a file is too large
 */
export async function readUnpacked(
  path: string,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    checkSize(size, maxBytes, path)
    if (size === 0) {
      // A pipe has no size and no places: whatever it holds is read from front to back.
      const bytes = await readPipe(file, path, maxBytes, signal)
      return isGzip(bytes) ? await nativeGunzipAsync(bytes, path, maxBytes) : bytes
    }
    const piece = new Uint8Array(Math.min(PIECE, size))
    const head = await readAt(file, 0, piece)
    if (!isGzip(head))
      return await readAt(
        file,
        0,
        allocate(size, (bytes) => new Uint8Array(bytes), path),
      )
    const tail = new Uint8Array(Math.min(size, TRAILER_BYTES))
    await readAt(file, size - tail.length, tail)
    const { start, length } = readGzipEnds(head, tail, size, path, maxBytes)
    if (isEmptyMemberFirst(head.subarray(start, size - TRAILER_BYTES))) throw followed(path)
    return await inflate(file, piece, size, length, path, signal)
  } finally {
    await file.close()
  }
}

/**
 * @param piece memory for the compressed bytes
 * @param length bytes that come out, by the trailer
 */
async function inflate(
  file: FileHandle,
  piece: Uint8Array,
  size: number,
  length: number,
  path: string,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  // Room for one byte more, so that a file is found out that holds more than it promises.
  const gunzip = allocate(Math.max(length + 1, LEAST_CHUNK), (chunkSize) => createGunzip({ chunkSize }), path)
  const pieces: Uint8Array[] = []
  let inflated = 0
  gunzip.on('data', (piece: Uint8Array) => {
    pieces.push(piece)
    inflated += piece.length
    if (inflated > length) gunzip.destroy(new Error('more bytes come out than its trailer promises'))
  })
  try {
    const ended = new Promise<void>((resolve, reject) => {
      gunzip.once('end', resolve).once('error', reject)
    })
    for (let at = 0; at < size && !gunzip.readableEnded; at += piece.length) {
      signal?.throwIfAborted()
      const bytes = await readAt(file, at, piece.subarray(0, size - at))
      // Behind the end of the member nothing is taken any more.
      await Promise.race([write(gunzip, bytes), ended])
    }
    gunzip.end()
    await ended
  } catch (cause) {
    throw unreadableGzip(cause, path)
  } finally {
    gunzip.destroy()
  }
  if (gunzip.bytesWritten !== size || inflated !== length) throw followed(path)
  return joined(pieces, length)
}

function write(gunzip: Gunzip, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    gunzip.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

/**
 * Fills the bytes from a place in the file.
 *
 * @throws Error when the file is shorter by now
 */
async function readAt(file: FileHandle, position: number, bytes: Uint8Array): Promise<Uint8Array> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done)
    if (bytesRead === 0) throw new Error('the file became shorter while it was read')
    done += bytesRead
  }
  return bytes
}

/** The pieces lie side by side in zlib's one buffer, unless the runtime does it another way. */
function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = pieces
  let end = first?.byteOffset
  for (const piece of pieces) {
    if (piece.buffer !== first?.buffer || piece.byteOffset !== end) return Buffer.concat(pieces, length)
    end += piece.length
  }
  return first === undefined ? new Uint8Array(0) : new Uint8Array(first.buffer, first.byteOffset, length)
}
