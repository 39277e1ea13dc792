import { InvalidDatabaseError } from '../errors.ts'
import { checkSize, DEFAULT_MAX_BYTES, MAX_DATABASE_BYTES } from './byte-limit.ts'
import { crc32 } from './crc32.ts'

/** A byte of deflate data can stand for at most 1032 bytes: a match of 258 bytes in two bits. */
export const MAX_DEFLATE_RATIO = 1032

/** Flag bits of RFC 1952 section 2.3.1. */
const FHCRC = 2
const FEXTRA = 4
const FNAME = 8
const FCOMMENT = 16
const RESERVED = 0xe0

const HEADER_BYTES = 10
export const TRAILER_BYTES = 8

/** The one member that a gzip file must hold here (RFC 1952): where its parts are and what it promises. */
export interface GzipMember {
  /** The deflate stream, between header and trailer. */
  readonly deflate: Uint8Array
  /** Bytes after decompression, by the trailer. */
  readonly length: number
  /** CRC-32 of the uncompressed bytes, by the trailer. */
  readonly crc: number
}

/** Whether the bytes start like a gzip file: the magic number and the only compression method there is. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8
}

/**
 * Reads header and trailer. The trailer is taken from the end of the file, so bytes behind the member and
 * files of several members fail later, when length or CRC-32 do not match.
 *
 * @param maxBytes that the file may have, compressed or not
 * @throws InvalidDatabaseError when the header is damaged, or the promised size is impossible or over the limit
 */
export function readGzipMember(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): GzipMember {
  const end = Math.max(0, bytes.length - TRAILER_BYTES)
  const { start, length, crc } = readGzipEnds(bytes, bytes.subarray(end), bytes.length, path, maxBytes)
  return { deflate: bytes.subarray(start, end), length, crc }
}

/**
 * The same for a file that is not in memory.
 *
 * @param head the first bytes of the file, with the whole header
 * @param tail its last {@link TRAILER_BYTES}
 * @param size bytes of the file
 * @returns where the deflate stream starts, and what the trailer promises
 */
export function readGzipEnds(
  head: Uint8Array,
  tail: Uint8Array,
  size: number,
  path?: string,
  maxBytes = DEFAULT_MAX_BYTES,
): { readonly start: number; readonly length: number; readonly crc: number } {
  checkSize(size, maxBytes, path)
  if (size < HEADER_BYTES + TRAILER_BYTES) throw damaged('the gzip file is cut short', path)
  if (!isGzip(head)) throw damaged('it does not start like a gzip file', path)
  const start = endOfHeader(head, path)
  const end = size - TRAILER_BYTES
  if (start >= end) throw damaged('the gzip file is cut short', path)
  const trailer = new DataView(tail.buffer, tail.byteOffset, tail.byteLength)
  const length = trailer.getUint32(4, true)
  if (length > MAX_DATABASE_BYTES) {
    throw damaged(
      `its gzip trailer says ${length} bytes, over the limit of ${MAX_DATABASE_BYTES}: it is cut short, or no database`,
      path,
    )
  }
  if (length > (end - start) * MAX_DEFLATE_RATIO) {
    throw damaged('its gzip trailer promises more bytes than the file can hold', path)
  }
  checkSize(length, maxBytes, path)
  return { start, length, crc: trailer.getUint32(0, true) }
}

/** The error for a gzip file that is not whole. */
export function damaged(fault: string, path?: string, cause?: unknown): InvalidDatabaseError {
  return new InvalidDatabaseError(`${fault}; the file is damaged: get it again`, { path, cause })
}

function endOfHeader(bytes: Uint8Array, path?: string): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = view.getUint8(3)
  if (flags & RESERVED) throw damaged('its gzip header has reserved flags set', path)
  let offset = HEADER_BYTES
  if (flags & FEXTRA) offset += 2 + (bytes.length >= offset + 2 ? view.getUint16(offset, true) : 0)
  for (const flag of [FNAME, FCOMMENT]) {
    if ((flags & flag) === 0) continue
    const terminator = bytes.indexOf(0, offset)
    if (terminator < 0) throw damaged('its gzip header does not end', path)
    offset = terminator + 1
  }
  if (flags & FHCRC) {
    if (offset + 2 > bytes.length) throw damaged('its gzip header does not end', path)
    if ((crc32(bytes.subarray(0, offset)) & 0xffff) !== view.getUint16(offset, true)) {
      throw damaged('its gzip header does not match its checksum', path)
    }
    offset += 2
  }
  return offset
}
