import { InvalidDatabaseError } from '../errors.ts'
import { checkSize, DEFAULT_MAX_BYTES } from './byte-limit.ts'
import { isGzip } from './gzip-member.ts'
import { findDatabaseInTar, isTar } from './tar.ts'

/**
 * Decompresses and checks one gzip file; it may have at most `maxBytes`, compressed or not. Platforms bring
 * their own where it is faster.
 */
export type Gunzip = (bytes: Uint8Array, path?: string, maxBytes?: number) => Uint8Array

/** What a file is packed in, told by its first bytes: what is not supported gets an error that names it. */
const UNSUPPORTED: readonly [name: string, magic: readonly number[]][] = [
  ['a zip archive', [0x50, 0x4b, 0x03, 0x04]],
  ['compressed with Zstandard', [0x28, 0xb5, 0x2f, 0xfd]],
  ['compressed with xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
]

/** A page of HTML says within this that it is one, after blanks, comments or an XML declaration. Bytes. */
const HTML_HEAD = 1024

/**
 * Gets at the MMDB inside: raw, gzip, or a vendor's tar with one `.mmdb` file in it, compressed or not.
 * Names play no part.
 *
 * @param maxBytes that the file may have, packed or unpacked
 * @throws InvalidDatabaseError when the wrapping is damaged or of another kind, or there are too many bytes
 */
export function unpack(
  bytes: Uint8Array,
  gunzip: Gunzip,
  path?: string,
  maxBytes = DEFAULT_MAX_BYTES,
): Uint8Array {
  checkSize(bytes.length, maxBytes, path)
  return unwrap(isGzip(bytes) ? gunzip(bytes, path, maxBytes) : bytes, path)
}

/** The same for bytes that are no longer compressed. */
export function unwrap(bytes: Uint8Array, path?: string): Uint8Array {
  if (isTar(bytes)) return findDatabaseInTar(bytes, path)
  for (const [name, magic] of UNSUPPORTED) {
    if (magic.every((byte, index) => bytes[index] === byte)) {
      throw new InvalidDatabaseError(`it is ${name}: extract the .mmdb file first`, { path })
    }
  }
  if (isHtml(bytes)) {
    throw new InvalidDatabaseError(
      'it is a page of HTML, which servers send for an address that they do not know, or to log in: check where the database is, and how it is downloaded',
      { path },
    )
  }
  return bytes
}

function isHtml(bytes: Uint8Array): boolean {
  const head = String.fromCharCode(...bytes.subarray(0, HTML_HEAD))
  // A byte order mark can come first.
  return /^(?:\xef\xbb\xbf)?\s*</.test(head) && /<(?:!doctype\s+html|html)[\s>]/i.test(head)
}
