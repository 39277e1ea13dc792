import { promisify } from 'node:util'
import {
  constants,
  inflateRawSync,
  type ZlibOptions,
  gunzip as zlibGunzip,
  gunzipSync as zlibGunzipSync,
} from 'node:zlib'
import { DEFAULT_MAX_BYTES, isOutOfMemory, noMemory } from '../bytes/byte-limit.ts'
import { type GzipMember, readGzipMember } from '../bytes/gzip-member.ts'
import { damagedFile, type InvalidDatabaseError } from '../errors.ts'

/** What zlib answers with the option `info`, which its types leave out. */
interface Inflated {
  readonly buffer: Uint8Array
  readonly engine: { readonly bytesWritten: number }
}

/** zlib takes no smaller pieces. Bytes. */
export const LEAST_CHUNK = 64

const inBackground = promisify(zlibGunzip)

/**
 * Decompresses a gzip file of one member and checks it whole, as the portable `gunzip` does, with Node's
 * zlib, which takes less than half the time.
 *
 * @param maxBytes that the file may have, compressed or not
 * @throws InvalidDatabaseError when anything about the file is damaged, or it is too large
 */
export function nativeGunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  const { length } = readOnlyMember(bytes, path, maxBytes)
  let inflated: unknown
  try {
    inflated = zlibGunzipSync(bytes, optionsFor(length))
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  return whole(inflated, bytes, length, path)
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
    inflated = await inBackground(bytes, optionsFor(length))
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  return whole(inflated, bytes, length, path)
}

function optionsFor(length: number): ZlibOptions {
  // One byte of room, so that a file that holds more than it promises is found out, and memory is bounded.
  const room = length + 1
  // All in one piece: pieces would be put together at the end, in as much memory again.
  return { info: true, chunkSize: Math.max(room, LEAST_CHUNK), maxOutputLength: room }
}

/** zlib checks CRC-32 and length, but passes over bytes behind the end and joins several members. */
function whole(inflated: unknown, bytes: Uint8Array, length: number, path?: string): Uint8Array {
  if (!isInflated(inflated)) throw new TypeError('zlib did not answer with the option "info"')
  if (inflated.engine.bytesWritten !== bytes.length || inflated.buffer.length !== length) {
    throw followed(path)
  }
  return inflated.buffer
}

/**
 * The member that zlib will read, as `readGzipMember` finds it.
 *
 * @throws InvalidDatabaseError as that, and when a member of nothing stands before it
 */
export function readOnlyMember(bytes: Uint8Array, path: string | undefined, maxBytes: number): GzipMember {
  const member = readGzipMember(bytes, path, maxBytes)
  if (isEmptyMemberFirst(member.deflate)) throw followed(path)
  return member
}

/**
 * Whether the file starts with a member of nothing and goes on behind it. zlib joins members, and the length of that
 * one is not missed; of any other the sum is wrong.
 *
 * @param deflate what follows the header, or the start of it
 */
export function isEmptyMemberFirst(deflate: Uint8Array): boolean {
  let inflated: unknown
  try {
    // Stops at the first bytes that come out.
    inflated = inflateRawSync(deflate, {
      info: true,
      chunkSize: LEAST_CHUNK,
      maxOutputLength: 1,
      finishFlush: constants.Z_SYNC_FLUSH,
    })
  } catch {
    return false
  }
  if (!isInflated(inflated)) throw new TypeError('zlib did not answer with the option "info"')
  return inflated.buffer.length === 0 && inflated.engine.bytesWritten < deflate.length
}

function isInflated(value: unknown): value is Inflated {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value
}

export function unreadableGzip(cause: unknown, path?: string): InvalidDatabaseError {
  if (isOutOfMemory(cause)) return noMemory(cause, path)
  return damagedFile('its compressed data cannot be read, or does not match its checksum', { path, cause })
}

export function followed(path?: string): InvalidDatabaseError {
  return damagedFile('there are extra bytes after its compressed data', { path })
}
