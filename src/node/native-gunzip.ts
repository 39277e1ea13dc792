import { promisify } from 'node:util'
import {
  constants,
  inflateRawSync,
  type ZlibOptions,
  gunzip as zlibGunzip,
  gunzipSync as zlibGunzipSync,
} from 'node:zlib'
import { DEFAULT_MAX_BYTES, isOutOfMemory, noMemory } from '../bytes/byte-limit.ts'
import type { Inflate } from '../bytes/deflate.ts'
import { type GzipMember, readGzipMember } from '../bytes/gzip-member.ts'
import { damagedFile, type InvalidDatabaseError } from '../errors.ts'

/** The result of zlib with the option `info`, which is missing in Node's types. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** The smallest `chunkSize` of zlib. */
export const MIN_CHUNK_BYTES = 64

const gunzipAsync = promisify(zlibGunzip)

/**
 * Decompresses a gzip file of one member with the same checks as the portable `gunzip`. Node's zlib takes less than
 * half the time.
 *
 * @param maxBytes limit for the file's size, compressed and decompressed
 * @throws InvalidDatabaseError when the file is damaged or too large
 */
export function nativeGunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  const { length } = readOnlyMember(bytes, path, maxBytes)
  let inflated: unknown
  try {
    inflated = zlibGunzipSync(bytes, optionsFor(length))
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  return checkedBytes(inflated, bytes, length, path)
}

/** The same on another thread. */
export async function nativeGunzipAsync(
  bytes: Uint8Array,
  path?: string,
  maxBytes = DEFAULT_MAX_BYTES,
): Promise<Uint8Array> {
  const { length } = readOnlyMember(bytes, path, maxBytes)
  let inflated: unknown
  try {
    inflated = await gunzipAsync(bytes, optionsFor(length))
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  return checkedBytes(inflated, bytes, length, path)
}

/** The portable `inflate`, by zlib: bundles for Node then have nothing of fflate. */
export const nativeInflate: Inflate = (stream, length) => {
  const capacity = length + 1
  const bytes = inflateRawSync(stream, {
    chunkSize: Math.max(capacity, MIN_CHUNK_BYTES),
    maxOutputLength: capacity,
  })
  if (bytes.length !== length) throw new Error(`a stream does not have ${length} bytes`)
  return bytes
}

function optionsFor(length: number): ZlibOptions {
  // One more byte, to detect a file that is longer than its trailer says without decompressing all of it.
  const capacity = length + 1
  // One chunk: zlib would copy several chunks into one buffer at the end.
  return { info: true, chunkSize: Math.max(capacity, MIN_CHUNK_BYTES), maxOutputLength: capacity }
}

/** zlib checks CRC-32 and length, but ignores bytes after the end and joins several members. */
function checkedBytes(inflated: unknown, bytes: Uint8Array, length: number, path?: string): Uint8Array {
  if (!isInflated(inflated)) throw new TypeError('zlib ignored the option "info"')
  if (inflated.engine.bytesWritten !== bytes.length || inflated.buffer.length !== length) {
    throw trailingBytes(path)
  }
  return inflated.buffer
}

/**
 * Reads the header and trailer as {@link readGzipMember}.
 *
 * @throws InvalidDatabaseError as that, and when the file starts with an empty member
 */
function readOnlyMember(bytes: Uint8Array, path: string | undefined, maxBytes: number): GzipMember {
  const member = readGzipMember(bytes, path, maxBytes)
  if (isEmptyMemberFirst(member.deflate)) throw trailingBytes(path)
  return member
}

/**
 * Whether the file starts with an empty member and more bytes follow. zlib joins members: an empty one leaves the
 * total length right, any other makes it wrong.
 *
 * @param deflate the bytes after the header, or the first of them
 */
export function isEmptyMemberFirst(deflate: Uint8Array): boolean {
  let inflated: unknown
  try {
    // maxOutputLength stops it at the first decompressed bytes.
    inflated = inflateRawSync(deflate, {
      info: true,
      chunkSize: MIN_CHUNK_BYTES,
      maxOutputLength: 1,
      finishFlush: constants.Z_SYNC_FLUSH,
    })
  } catch {
    return false
  }
  if (!isInflated(inflated)) throw new TypeError('zlib ignored the option "info"')
  return inflated.buffer.length === 0 && inflated.engine.bytesWritten < deflate.length
}

function isInflated(value: unknown): value is Inflated {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value
}

export function unreadableGzip(cause: unknown, path?: string): InvalidDatabaseError {
  if (isOutOfMemory(cause)) return noMemory(cause, path)
  return damagedFile('its compressed data cannot be read, or does not match its checksum', { path, cause })
}

export function trailingBytes(path?: string): InvalidDatabaseError {
  return damagedFile('there are extra bytes after its compressed data', { path })
}
