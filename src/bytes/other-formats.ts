// Files that are not MMDB: what they are, and what to do.
import { quoted } from '../errors.ts'

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
export function otherFormat(bytes: Uint8Array): string | null {
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
