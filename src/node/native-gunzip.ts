// Node's zlib, which is faster than the portable `gunzip`, with the same checks.

import * as zlib from 'node:zlib'
import { constants, createGunzip, type Gunzip, inflateRawSync, gunzipSync as zlibGunzipSync } from 'node:zlib'
import {
  allocate,
  checkSize,
  DEFAULT_MAX_BYTES,
  isOutOfMemory,
  newBytes,
  noMemory,
} from '../bytes/byte-limit.ts'
import type { BlockCodec, Inflate } from '../bytes/deflate.ts'
import { crc32, readGzipEnds, readGzipMember, TRAILER_BYTES } from '../bytes/gzip-member.ts'
import type { ProgressMeter } from '../bytes/progress.ts'
import { damagedFile, type InvalidDatabaseError } from '../errors.ts'
import type { SignalLike } from '../platform-types.ts'

/** The smallest `chunkSize` of zlib. */
const MIN_CHUNK_BYTES = 64

/** How much compressed data zlib gets at a time; the header of a file must fit. */
export const CHUNK_BYTES = 2 ** 18

/** zlib's output chunks where they are copied into other memory. */
const COPIED_CHUNK_BYTES = 2 ** 20

/**
 * Decompresses a gzip file of one member.
 *
 * @param maxBytes limit for the file's size, compressed and decompressed
 * @throws InvalidDatabaseError when the file is damaged or too large
 */
export function nativeGunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  const { deflate, length } = readGzipMember(bytes, path, maxBytes)
  if (isEmptyMemberFirst(deflate)) throw trailingBytes(path)
  // One more byte, to detect a file that is longer than its trailer says without decompressing all of it.
  const capacity = length + 1
  // One chunk: zlib would copy several chunks into one buffer at the end.
  const options = { info: true, chunkSize: Math.max(capacity, MIN_CHUNK_BYTES), maxOutputLength: capacity }
  let inflated: object
  try {
    inflated = zlibGunzipSync(bytes, options)
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  const { buffer, engine } = withInfo(inflated)
  // zlib checks CRC-32 and length, but ignores bytes after the end and joins several members.
  if (engine.bytesWritten !== bytes.length || buffer.length !== length) throw trailingBytes(path)
  return buffer
}

/** The same on another thread. */
export async function nativeGunzipAsync(
  bytes: Uint8Array,
  path?: string,
  maxBytes = DEFAULT_MAX_BYTES,
): Promise<Uint8Array> {
  const read = async (at: number, count: number): Promise<Uint8Array> => bytes.subarray(at, at + count)
  return gunzipFrom({ size: bytes.length, read, path, maxBytes })
}

/** A gzip file that is read in chunks, and what the caller wants of it. */
export interface GzipSource {
  /** Bytes. */
  readonly size: number
  /** Reads bytes, which are valid until the next call. The last ones may be fewer. */
  readonly read: (position: number, count: number) => Promise<Uint8Array>
  readonly path: string | undefined
  readonly maxBytes: number
  readonly signal?: SignalLike | undefined
  /** Allocates the memory of the result. Default: zlib's, without a copy. */
  readonly make?: ((bytes: number) => Uint8Array) | undefined
  readonly progress?: ProgressMeter | undefined
}

/** Decompresses a gzip file on another thread. Throws the errors of {@link nativeGunzip}, and the reason of the signal. */
export async function gunzipFrom(source: GzipSource): Promise<Uint8Array> {
  const { size, read, path, maxBytes, signal, make, progress } = source
  if (areTicksFaked()) return gunzipAtOnce(source)
  const tail = (await read(Math.max(0, size - TRAILER_BYTES), TRAILER_BYTES)).slice()
  const head = await read(0, CHUNK_BYTES)
  const { start, length } = readGzipEnds(head, tail, size, path, maxBytes)
  if (isEmptyMemberFirst(head.subarray(start, size - TRAILER_BYTES))) throw trailingBytes(path)
  const target = make === undefined ? null : allocate(length, make, path)
  // One more byte, to detect a file that is longer than its trailer says.
  const gunzip = allocate(
    target === null ? Math.max(length + 1, MIN_CHUNK_BYTES) : COPIED_CHUNK_BYTES,
    (chunkSize) => createGunzip({ chunkSize }),
    path,
  )
  const chunks: Uint8Array[] = []
  let inflated = 0
  gunzip.on('data', (chunk: Uint8Array) => {
    if (inflated + chunk.length > length) gunzip.destroy(new Error('it is longer than its trailer says'))
    else if (target === null) chunks.push(chunk)
    else target.set(chunk, inflated)
    inflated += chunk.length
  })
  try {
    const ended = new Promise<void>((resolve, reject) => {
      gunzip.once('end', resolve).once('error', reject)
    })
    for (let at = 0; at < size && !gunzip.readableEnded; at += CHUNK_BYTES) {
      signal?.throwIfAborted()
      const bytes = await read(at, CHUNK_BYTES)
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

/**
 * Whether the tests of the program have replaced `process.nextTick`, as sinon and @sinonjs/fake-timers do: Node's streams then
 * wait without end.
 */
function areTicksFaked(): boolean {
  return 'clock' in process.nextTick
}

/** As {@link gunzipFrom}, on this thread and without streams. */
async function gunzipAtOnce({
  size,
  read,
  path,
  maxBytes,
  signal,
  make,
  progress,
}: GzipSource): Promise<Uint8Array> {
  checkSize(size, maxBytes, path)
  const packed = allocate(size, newBytes, path)
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    signal?.throwIfAborted()
    const chunk = await read(at, CHUNK_BYTES)
    progress?.add(chunk.length)
    packed.set(chunk, at)
  }
  const bytes = nativeGunzip(packed, path, maxBytes)
  if (make === undefined) return bytes
  const target = allocate(bytes.length, make, path)
  target.set(bytes)
  return target
}

/** Does the same as the portable `inflate`, with zlib. */
const nativeInflate: Inflate = (stream, length) => {
  const capacity = length + 1
  const bytes = inflateRawSync(stream, {
    chunkSize: Math.max(capacity, MIN_CHUNK_BYTES),
    maxOutputLength: capacity,
  })
  if (bytes.length !== length) throw new Error(`a stream does not have ${length} bytes`)
  return bytes
}

/** Node has a CRC-32 since 20.15, which is faster than the portable one. */
export const NATIVE_CODEC: BlockCodec = { inflate: nativeInflate, crc32: zlib.crc32 ?? crc32 }

function write(gunzip: Gunzip, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    gunzip.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
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

/**
 * Whether the file starts with an empty member and more bytes follow. zlib joins members. The
 * check of the total length finds all members but an empty one.
 *
 * @param deflate the bytes after the header, or the first of them
 */
function isEmptyMemberFirst(deflate: Uint8Array): boolean {
  // maxOutputLength stops it at the first decompressed bytes.
  const options = { info: true, chunkSize: MIN_CHUNK_BYTES, maxOutputLength: 1 }
  let inflated: object
  try {
    inflated = inflateRawSync(deflate, { ...options, finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    return false
  }
  const { buffer, engine } = withInfo(inflated)
  return buffer.length === 0 && engine.bytesWritten < deflate.length
}

/** The result of zlib with the option `info`, which is missing in Node's types. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

function withInfo(result: object): Inflated {
  if (isInflated(result)) return result
  throw new TypeError('zlib ignored the option "info"')
}

function isInflated(value: object): value is Inflated {
  return 'buffer' in value && 'engine' in value
}

function unreadableGzip(cause: unknown, path?: string): InvalidDatabaseError {
  if (isOutOfMemory(cause)) return noMemory(cause, path)
  return damagedFile('its compressed data cannot be read, or does not match its checksum', { path, cause })
}

function trailingBytes(path?: string): InvalidDatabaseError {
  return damagedFile('there are extra bytes after its compressed data', { path })
}
