import { damagedFile, InvalidDatabaseError } from '../errors.ts'
import { latin1, otherFormat } from './other-formats.ts'

/** The first bytes of every packed file. As in PNG, a transfer as text damages them, so that the error is found. */
export const PACKED_MAGIC = Uint8Array.of(0x89, 0x47, 0x46, 0x50, 0x0d, 0x0a, 0x1a, 0x0a)

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
