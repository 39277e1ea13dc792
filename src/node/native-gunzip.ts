// Node's zlib, which is faster than the portable `gunzip`, with the same checks.

import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { DEFAULT_MAX_BYTES, isOutOfMemory, noMemory } from '../bytes/byte-limit.ts'
import type { BlockCodec, Inflate } from '../bytes/deflate.ts'
import { crc32, readGzipMember } from '../bytes/gzip-member.ts'
import { damagedFile, type InvalidDatabaseError } from '../errors.ts'

/** The smallest `chunkSize` of zlib. */
const MIN_CHUNK_BYTES = 64

/**
 * Decompresses a gzip file of one member.
 *
 * @param maxBytes limit for the file's size, compressed and decompressed
 * @throws InvalidDatabaseError when the file is damaged or too large
 */
export function nativeGunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  const length = lengthOf(bytes, path, maxBytes)
  let inflated: object
  try {
    inflated = zlib.gunzipSync(bytes, optionsFor(length))
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  return checked(inflated, bytes, length, path)
}

const gunzip = promisify(zlib.gunzip)

/** {@link nativeGunzip} on another thread. */
export async function nativeGunzipAsync(
  bytes: Uint8Array,
  path?: string,
  maxBytes = DEFAULT_MAX_BYTES,
): Promise<Uint8Array> {
  // Tests of the program can have replaced `process.nextTick`, as sinon does. Node's streams then wait without end.
  if ('clock' in process.nextTick) return nativeGunzip(bytes, path, maxBytes)
  const length = lengthOf(bytes, path, maxBytes)
  let inflated: object
  try {
    inflated = await gunzip(bytes, optionsFor(length))
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  return checked(inflated, bytes, length, path)
}

/** Checks all but the compressed data. @returns the length of the content */
function lengthOf(bytes: Uint8Array, path: string | undefined, maxBytes: number): number {
  const { deflate, length } = readGzipMember(bytes, path, maxBytes)
  if (isEmptyMemberFirst(deflate)) throw trailingBytes(path)
  return length
}

/**
 * zlib gives one chunk, because it would copy several chunks into one buffer at the end. The chunk has room for one byte more, to
 * detect a file that is longer than its trailer says without decompressing all of it.
 */
function optionsFor(length: number): zlib.ZlibOptions {
  return { info: true, chunkSize: Math.max(length + 1, MIN_CHUNK_BYTES), maxOutputLength: length + 1 }
}

/** zlib checks CRC-32 and length, but ignores bytes after the end and joins several members. */
function checked(inflated: object, bytes: Uint8Array, length: number, path: string | undefined): Uint8Array {
  const { buffer, engine } = withInfo(inflated)
  if (engine.bytesWritten !== bytes.length || buffer.length !== length) throw trailingBytes(path)
  return buffer
}

/** Does the same as the portable `inflate`, with zlib. */
const nativeInflate: Inflate = (stream, length) => {
  const bytes = zlib.inflateRawSync(stream, { ...optionsFor(length), info: false })
  if (bytes.length !== length) throw new Error(`a stream does not have ${length} bytes`)
  return bytes
}

/** Node has a CRC-32 since 20.15, which is faster than the portable one. */
export const NATIVE_CODEC: BlockCodec = { inflate: nativeInflate, crc32: zlib.crc32 ?? crc32 }

/**
 * Whether the file starts with an empty member and more bytes follow. zlib joins members. The
 * check of the total length finds all members but an empty one.
 *
 * @param deflate the bytes after the header
 */
function isEmptyMemberFirst(deflate: Uint8Array): boolean {
  // maxOutputLength stops it at the first decompressed bytes.
  const options = { info: true, chunkSize: MIN_CHUNK_BYTES, maxOutputLength: 1 }
  let inflated: object
  try {
    inflated = zlib.inflateRawSync(deflate, { ...options, finishFlush: zlib.constants.Z_SYNC_FLUSH })
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
