import { damagedFile } from '../errors.ts'
import { checkSize, DEFAULT_MAX_BYTES, MAX_DATABASE_BYTES } from './byte-limit.ts'
import { isGzip } from './extract.ts'

/** A byte of deflate data decompresses to at most 1032 bytes: a match of 258 bytes takes two bits. */
export const MAX_DEFLATE_RATIO = 1032

/** Flag bits of RFC 1952 section 2.3.1. */
const FHCRC = 2
const FEXTRA = 4
const FNAME = 8
const FCOMMENT = 16
const RESERVED = 0xe0

const HEADER_BYTES = 10
export const TRAILER_BYTES = 8

/** The parts of a gzip file (RFC 1952), which must have exactly one member. */
interface GzipMember {
  /** The deflate stream, between header and trailer. */
  readonly deflate: Uint8Array
  /** Uncompressed size in bytes, from the trailer. */
  readonly length: number
  /** CRC-32 of the uncompressed bytes, from the trailer. */
  readonly crc: number
}

/**
 * Reads the header and the trailer. The trailer is read from the end of the file. Files with several members, or with
 * bytes after the member, therefore fail later, when the length or the CRC-32 does not match.
 *
 * @param maxBytes of the file, compressed or not
 * @throws InvalidDatabaseError when the header is damaged, or the size in the trailer is impossible or over the limit
 */
export function readGzipMember(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): GzipMember {
  checkSize(bytes.length, maxBytes, path)
  const end = bytes.length - TRAILER_BYTES
  if (end < HEADER_BYTES) throw damagedFile('the gzip file is cut short', { path })
  if (!isGzip(bytes)) throw damagedFile('it does not start with a gzip header', { path })
  const start = endOfHeader(bytes, path)
  if (start >= end) throw damagedFile('the gzip file is cut short', { path })
  const trailer = new DataView(bytes.buffer, bytes.byteOffset + end, TRAILER_BYTES)
  const length = trailer.getUint32(4, true)
  if (length > MAX_DATABASE_BYTES) {
    throw damagedFile(
      `its gzip trailer has a size of ${length} bytes, over the limit of ${MAX_DATABASE_BYTES}: it is cut short, or not a database`,
      { path },
    )
  }
  if (length > (end - start) * MAX_DEFLATE_RATIO) {
    throw damagedFile('its gzip trailer has a size of more bytes than the file can hold', { path })
  }
  checkSize(length, maxBytes, path)
  return { deflate: bytes.subarray(start, end), length, crc: trailer.getUint32(0, true) }
}

function endOfHeader(bytes: Uint8Array, path?: string): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const flags = view.getUint8(3)
  if (flags & RESERVED) throw damagedFile('its gzip header has reserved flags set', { path })
  let offset = HEADER_BYTES
  if (flags & FEXTRA) offset += 2 + (bytes.length >= offset + 2 ? view.getUint16(offset, true) : 0)
  for (const flag of [FNAME, FCOMMENT]) {
    if ((flags & flag) === 0) continue
    const terminator = bytes.indexOf(0, offset)
    if (terminator < 0) throw damagedFile('its gzip header does not end', { path })
    offset = terminator + 1
  }
  if (flags & FHCRC) {
    if (offset + 2 > bytes.length) throw damagedFile('its gzip header does not end', { path })
    if ((crc32(bytes.subarray(0, offset)) & 0xffff) !== view.getUint16(offset, true)) {
      throw damagedFile('its gzip header does not match its checksum', { path })
    }
    offset += 2
  }
  return offset
}

let crcTable: Uint32Array | undefined

/** Four tables of 256 entries, which process four bytes at a time ("slicing"). */
function makeCrcTable(): Uint32Array {
  const entries = new Uint32Array(1024)
  for (let n = 0; n < 256; n++) {
    let c = n
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
    entries[n] = c
  }
  for (let n = 256; n < 1024; n++) {
    const previous = entries[n - 256] ?? 0
    entries[n] = (previous >>> 8) ^ (entries[previous & 255] ?? 0)
  }
  return entries
}

/** The CRC-32 of RFC 1952 section 8, as an unsigned number. @param before the CRC-32 of the bytes before */
export function crc32(bytes: Uint8Array, before = 0): number {
  crcTable ??= makeCrcTable()
  const t = crcTable
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const aligned = bytes.length - (bytes.length % 4)
  let crc = ~before
  for (let i = 0; i < aligned; i += 4) {
    crc ^= view.getUint32(i, true)
    crc =
      (t[768 + (crc & 255)] ?? 0) ^
      (t[512 + ((crc >>> 8) & 255)] ?? 0) ^
      (t[256 + ((crc >>> 16) & 255)] ?? 0) ^
      (t[crc >>> 24] ?? 0)
  }
  for (let i = aligned; i < bytes.length; i++) {
    crc = (crc >>> 8) ^ (t[(crc ^ view.getUint8(i)) & 255] ?? 0)
  }
  return ~crc >>> 0
}
