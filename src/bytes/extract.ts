// A database in a gzip file, in an archive, or in neither.
import { damagedFile, InvalidDatabaseError, quoted } from '../errors.ts'
import { checkSize, DEFAULT_MAX_BYTES, MAX_DATABASE_BYTES } from './byte-limit.ts'
import {
  BLOCK_BYTES,
  findMetadata,
  hasValidChecksum,
  isGzip,
  isPacked,
  isTar,
  latin1,
  NO_METADATA,
  octal,
  text,
} from './file-kind.ts'

/**
 * Extracts the MMDB from a decompressed file: raw, or a vendor's tar with one `.mmdb` file in it. The bytes decide, not the
 * file's name.
 *
 * @throws InvalidDatabaseError when the archive is damaged, or the file, or that in the archive, is not a database
 */
export function extractUncompressed(bytes: Uint8Array, path?: string): Uint8Array {
  const file = isTar(bytes) ? findDatabaseInTar(bytes, path) : bytes
  const other = otherFormat(file)
  if (other !== null) throw new InvalidDatabaseError(other, { path })
  if (isPacked(file) || findMetadata(file) >= 0) return file
  throw new InvalidDatabaseError(unknownFormat(file), { path })
}

const REGULAR_FILE = new Set(['0', '\0', '7'])

/** Entries that describe the next file: pax's `x` and `g`, GNU's `L` (its name) and `K`. */
const DESCRIBES_NEXT = new Set(['x', 'g', 'L', 'K'])

/** Linux does not allow longer paths. */
const MAX_NAME_BYTES = 4096

/** The maximum number of names in a message, and the characters of each. */
const MAX_QUOTED_NAMES = 3
const MAX_QUOTED_CHARS = 80

/**
 * Finds the only file that ends in `.mmdb` in a tar archive.
 *
 * @returns a view of the archive's bytes, not a copy
 * @throws InvalidDatabaseError when the archive is damaged, or does not hold exactly one `.mmdb` file
 */
export function findDatabaseInTar(bytes: Uint8Array, path?: string): Uint8Array {
  const found: { name: string; content: Uint8Array }[] = []
  /** The name of the next file, if the file's own header is too short for it. */
  let longName: string | undefined
  for (let offset = 0; offset + BLOCK_BYTES <= bytes.length && found.length <= MAX_QUOTED_NAMES; ) {
    const header = bytes.subarray(offset, offset + BLOCK_BYTES)
    if (header[0] === 0 && header.every((byte) => byte === 0)) break
    if (!hasValidChecksum(header))
      throw damagedFile('a header of the tar archive does not match its checksum', { offset, path })
    const size = octal(header, 124, 12)
    const start = offset + BLOCK_BYTES
    if (!(size <= bytes.length - start))
      throw damagedFile('a file in the tar archive is cut short', { offset, path })
    const content = bytes.subarray(start, start + size)
    const type = latin1(header.subarray(156, 157))
    if (type === 'L') longName = text(content, 0, MAX_NAME_BYTES)
    if (type === 'x') longName = paxPath(content) ?? longName
    if (!DESCRIBES_NEXT.has(type)) {
      const name = longName ?? text(header, 0, 100)
      longName = undefined
      // macOS adds a "._name" file with attributes for each file.
      if (REGULAR_FILE.has(type) && /(^|\/)(?!\._)[^/]*\.mmdb$/i.test(name)) found.push({ name, content })
    }
    offset = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
  }
  const [only, second] = found
  if (only === undefined)
    throw new InvalidDatabaseError('the tar archive does not contain an .mmdb file', { path })
  if (second !== undefined) {
    const names = found.slice(0, MAX_QUOTED_NAMES).map(({ name }) => quotedEnd(name))
    if (found.length > MAX_QUOTED_NAMES) names.push('...')
    throw new InvalidDatabaseError(
      `the tar archive contains several .mmdb files, extract one: ${names.join(', ')}`,
      { path },
    )
  }
  return only.content
}

/** Quotes the end of a path for a message, in printable ASCII so that it cannot hide or forge log lines. */
function quotedEnd(name: string): string {
  return JSON.stringify(name.slice(-MAX_QUOTED_CHARS)).replace(/[^\x20-\x7e]/g, '?')
}

/** The name in a pax extended header, whose lines are a length, a space, `path=` and the value. */
function paxPath(content: Uint8Array): string | undefined {
  return /^\d+ path=(.+)$/m.exec(text(content, 0, MAX_NAME_BYTES))?.[1]
}

const EXTRACT = 'extract the .mmdb file first'
const AS_TEXT = 'that was re-encoded as text (UTF-8), by a bundler or a download, which destroys it'
const COPY = 'copy the original as binary'
const DOWNLOAD = 'if you downloaded it, check the URL and the credentials'

/** Formats that are not supported, by their first bytes. */
const BY_FIRST_BYTES: readonly [name: string, first: string, advice: string][] = [
  ['a zip archive', 'PK\x03\x04', EXTRACT],
  ['compressed with Zstandard', '\x28\xb5\x2f\xfd', EXTRACT],
  ['compressed with xz', '\xfd7zXZ\0', EXTRACT],
  // The magic number of gzip, whose second byte is not UTF-8: U+FFFD replaces it.
  [`a gzip file ${AS_TEXT}`, '\x1f\xef\xbf\xbd', COPY],
  [`a packed database ${AS_TEXT}`, '\xef\xbf\xbdGFP', COPY],
  ['a pointer of Git LFS, not the file', 'version https://git-lfs.github.com/', 'run "git lfs pull"'],
]

/** A page of HTML starts within this many bytes, after blanks, comments or an XML declaration. */
const MAX_HTML_HEAD_BYTES = 1024

/** What a file is that starts like another format, and what to do; `null` if it does not. */
function otherFormat(bytes: Uint8Array): string | null {
  for (const [name, first, advice] of BY_FIRST_BYTES) {
    if (latin1(bytes.subarray(0, first.length)) === first) return `it is ${name}: ${advice}`
  }
  return isHtml(bytes)
    ? `it is a page of HTML, such as an error or login page of a server: ${DOWNLOAD}`
    : null
}

function isHtml(bytes: Uint8Array): boolean {
  const head = latin1(bytes.subarray(0, MAX_HTML_HEAD_BYTES))
  // A byte order mark can come first.
  return /^(?:\xef\xbb\xbf)?\s*</.test(head) && /<(?:!doctype\s+html|html)[\s>]/i.test(head)
}

/** What a file without the metadata of an MMDB probably is, and what to do. It can be an MMDB that is cut short. */
function unknownFormat(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'it is empty'
  const line = firstLine(bytes)
  if (line !== null)
    return `it is text, which begins with ${quoted(line)}, not a MaxMind DB file (.mmdb): ${DOWNLOAD}`
  if (isBin(bytes)) return `it is a BIN database of IP2Location, which Geofix does not read: ${OTHER_EDITION}`
  if (isLegacy(bytes))
    return `it is a GeoIP Legacy database (.dat), which Geofix does not read: ${OTHER_EDITION}`
  return NO_METADATA
}

const OTHER_EDITION = 'download an .mmdb file, such as GeoLite2'

/** Bytes of the first line that are read: more than a message quotes. */
const MAX_LINE_BYTES = 100

/** The first line of a file that starts with text in ASCII; `null` for others. */
function firstLine(bytes: Uint8Array): string | null {
  const head = latin1(bytes.subarray(0, MAX_LINE_BYTES))
  return /^[\t\r\n -~]+$/.test(head) ? (head.trim().split(/[\r\n]/, 1)[0] ?? '') : null
}

const BIN_HEADER_BYTES = 64
const BIN_INDEX = 65

/**
 * Whether the header is one of IP2Location: type, columns, year, month and day, then the product (1 or 2) or, in old files, the
 * index right after the header.
 */
function isBin(bytes: Uint8Array): boolean {
  if (bytes.length < BIN_HEADER_BYTES) return false
  const [type = 0, columns = 0, year = 0, month = 0, day = 0] = bytes
  const isDate = year > 0 && year < 100 && month > 0 && month <= 12 && day > 0 && day <= 31
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const isProduct = bytes[29] === 1 || bytes[29] === 2 || view.getUint32(21, true) === BIN_INDEX
  return type > 0 && type <= 26 && columns > 1 && columns <= 30 && isDate && isProduct
}

const LEGACY_END_BYTES = 300

/** Whether a file ends as GeoIP Legacy does: three zeros, a text, three bytes 0xFF, and the type. */
function isLegacy(bytes: Uint8Array): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the format is binary
  return /\0{3}[ -~]{4,}\xff{3}[\x01-\x8c]/.test(latin1(bytes.subarray(-LEGACY_END_BYTES)))
}

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
      `the gzip file is cut short, or is not a database: its trailer says that it holds ${length} bytes, over the limit of ${MAX_DATABASE_BYTES}`,
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
