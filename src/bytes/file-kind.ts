// The kinds of files that hold a database, which the bytes decide, not the file's name.

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

/** Starts the metadata: `\xab\xcd\xefMaxMind.com`. */
// biome-ignore format: one line for each part
export const METADATA_MARKER = Uint8Array.of(
  0xab, 0xcd, 0xef,
  0x4d, 0x61, 0x78, 0x4d, 0x69, 0x6e, 0x64, 0x2e, 0x63, 0x6f, 0x6d,
)

/** The metadata, its marker included, lies within this distance from the end of the file. */
export const MAX_METADATA_BYTES = 128 * 1024

/** The fault of a file without metadata. */
export const NO_METADATA = 'it is not a MaxMind DB file (.mmdb), or is cut short: no metadata found'

/** Where the marker of the metadata of an MMDB starts; -1 without one. */
export function findMetadata(bytes: Uint8Array): number {
  const least = Math.max(0, bytes.length - MAX_METADATA_BYTES)
  for (let at = bytes.length - METADATA_MARKER.length; at >= least; at--) {
    if (METADATA_MARKER.every((byte, index) => bytes[at + index] === byte)) return at
  }
  return -1
}

/** The first bytes of zip, Zstandard and xz, in which the bytes of an MMDB can be found as they are. */
const ARCHIVES = ['PK\x03\x04', '\x28\xb5\x2f\xfd', '\xfd7zX']

/** Whether the bytes are an archive, even if they look like an MMDB. */
export function isArchive(bytes: Uint8Array): boolean {
  return ARCHIVES.includes(latin1(bytes.subarray(0, 4))) || isTar(bytes)
}

/** Whether the bytes are an MMDB file without packing and compression. */
export function isMmdb(bytes: Uint8Array): boolean {
  return findMetadata(bytes) >= 0 && !isArchive(bytes)
}

export const BLOCK_BYTES = 512
const MAGIC_OFFSET = 257

/**
 * Whether the bytes start with a tar header. POSIX.1-1988 ustar, pax and GNU tar have magic bytes. The format of Unix
 * version 7 has none, so its checksum decides.
 */
export function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < BLOCK_BYTES) return false
  const magic = latin1(bytes.subarray(MAGIC_OFFSET, MAGIC_OFFSET + 5))
  return magic === 'ustar' || hasValidChecksum(bytes)
}

/** The checksum is the sum of the header's bytes, with its own eight bytes counted as spaces. */
export function hasValidChecksum(header: Uint8Array): boolean {
  let sum = 8 * 0x20
  for (let index = 0; index < BLOCK_BYTES; index++) if (index < 148 || index >= 156) sum += header[index] ?? 0
  return sum === octal(header, 148, 8)
}

/** A number in octal digits. NaN for other text, such as GNU's base-256 for files over 8 GB. */
export function octal(header: Uint8Array, start: number, length: number): number {
  const digits = text(header, start, length).trim()
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN
}

export function text(header: Uint8Array, start: number, length: number): string {
  const field = latin1(header.subarray(start, start + length))
  const end = field.indexOf('\0')
  return end < 0 ? field : field.slice(0, end)
}

export function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
