import { damagedFile, InvalidDatabaseError, quoted } from '../errors.ts'

/** The first bytes of every packed file. As in PNG, a transfer as text damages them, so that the error is found. */
export const PACKED_MAGIC = Uint8Array.of(0x89, 0x47, 0x46, 0x50, 0x0d, 0x0a, 0x1a, 0x0a)

/** Whether the bytes start like a gzip file: the magic number and the only defined compression method. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8
}

/** Whether the bytes start like a packed database. */
export function isPacked(bytes: Uint8Array): boolean {
  return PACKED_MAGIC.every((byte, index) => bytes[index] === byte)
}

/**
 * Extracts the MMDB from a decompressed file: raw, or a vendor's tar with one `.mmdb` file in it. The bytes decide, not the
 * file's name.
 *
 * @throws InvalidDatabaseError when the archive is damaged, or the file is in an unsupported format
 */
export function extractUncompressed(bytes: Uint8Array, path?: string): Uint8Array {
  if (isTar(bytes)) return findDatabaseInTar(bytes, path)
  const other = otherFormat(bytes)
  if (other !== null) throw new InvalidDatabaseError(other, { path })
  return bytes
}

const BLOCK_BYTES = 512
const MAGIC_OFFSET = 257
const REGULAR_FILE = new Set(['0', '\0', '7'])

/** Entries that describe the next file: pax's `x` and `g`, GNU's `L` (its name) and `K`. */
const DESCRIBES_NEXT = new Set(['x', 'g', 'L', 'K'])

/** Linux does not allow longer paths. */
const MAX_NAME_BYTES = 4096

/** The maximum number of names in a message, and the characters of each. */
const MAX_QUOTED_NAMES = 3
const MAX_QUOTED_CHARS = 80

/**
 * Whether the bytes start with a tar header. POSIX.1-1988 ustar, pax and GNU tar have magic bytes. The format of Unix
 * version 7 has none, so its checksum decides.
 */
export function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < BLOCK_BYTES) return false
  const magic = latin1(bytes.subarray(MAGIC_OFFSET, MAGIC_OFFSET + 5))
  return magic === 'ustar' || hasValidChecksum(bytes)
}

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

function text(header: Uint8Array, start: number, length: number): string {
  const field = latin1(header.subarray(start, start + length))
  const end = field.indexOf('\0')
  return end < 0 ? field : field.slice(0, end)
}

/** The name in a pax extended header, whose lines are a length, a space, `path=` and the value. */
function paxPath(content: Uint8Array): string | undefined {
  return /^\d+ path=(.+)$/m.exec(text(content, 0, MAX_NAME_BYTES))?.[1]
}

/** A number in octal digits. NaN for other text, such as GNU's base-256 for files over 8 GB. */
function octal(header: Uint8Array, start: number, length: number): number {
  const digits = text(header, start, length).trim()
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

/** The checksum is the sum of the header's bytes, with its own eight bytes counted as spaces. */
function hasValidChecksum(header: Uint8Array): boolean {
  let sum = 8 * 0x20
  for (let index = 0; index < BLOCK_BYTES; index++) if (index < 148 || index >= 156) sum += header[index] ?? 0
  return sum === octal(header, 148, 8)
}

const EXTRACT = 'extract the .mmdb file first'
const DOWNLOAD = 'check the URL and the credentials of the download'

/** Formats that are not supported, by their first bytes. */
const BY_FIRST_BYTES: readonly [name: string, first: string, advice: string][] = [
  ['a zip archive', 'PK\x03\x04', EXTRACT],
  ['compressed with Zstandard', '\x28\xb5\x2f\xfd', EXTRACT],
  ['compressed with xz', '\xfd7zXZ\0', EXTRACT],
  // The magic number of gzip, whose second byte is not UTF-8: U+FFFD replaces it.
  [
    'a gzip file that was re-encoded as text (UTF-8), by a bundler or a download, which destroys it',
    '\x1f\xef\xbf\xbd',
    'copy the original as binary',
  ],
  [
    'a packed database that was re-encoded as text (UTF-8), by a bundler or a download, which destroys it',
    '\xef\xbf\xbdGFP',
    'copy the original as binary',
  ],
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
export function unknownFormat(bytes: Uint8Array): string {
  const line = firstLine(bytes)
  if (line !== null)
    return `it is text, which begins with ${quoted(line)}, not a MaxMind DB file (.mmdb): ${DOWNLOAD}`
  if (isBin(bytes)) return `it is a BIN database of IP2Location, which Geofix does not read: ${OTHER_EDITION}`
  if (isLegacy(bytes))
    return `it is a GeoIP Legacy database (.dat), which Geofix does not read: ${OTHER_EDITION}`
  return 'it is not a MaxMind DB file (.mmdb), or is cut short: no metadata found'
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

export function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
