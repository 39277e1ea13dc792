// The only importer of fflate, which checks neither the CRC-32 nor the length of what it decompresses.
import { Inflate } from 'fflate'
import { allocate, DEFAULT_MAX_BYTES } from './byte-limit.ts'
import { crc32 } from './crc32.ts'
import { damaged, MAX_DEFLATE_RATIO, readGzipMember } from './gzip-member.ts'

/** A trailer that stands in a file more often than this was put there on purpose. */
const MAX_EARLIER_TRAILERS = 8

/** Of a compressed file, what is given to fflate at a time: it is slower in smaller pieces. Bytes. */
const MAX_PIECE = 2 ** 16
const MIN_PIECE = 2 ** 12

/**
 * Decompresses a gzip file of one member (RFC 1952) and checks it whole. Works on every platform; its
 * memory is bounded by what the trailer promises, which is checked first, and it stops when more comes out.
 *
 * @param maxBytes that the file may have, compressed or not
 * @throws InvalidDatabaseError when anything about the file is damaged, or it is too large
 */
export function gunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  const { deflate, length, crc } = readGzipMember(bytes, path, maxBytes)
  const content = allocate(length, (size) => new Uint8Array(size), path)
  let filled = 0
  try {
    inflate(deflate, length, (inflated) => {
      content.set(inflated, filled)
      filled += inflated.length
    })
  } catch (cause) {
    throw damaged('its compressed data cannot be read, or holds more than the length at its end', path, cause)
  }
  if (filled !== length || crc32(content) !== crc) {
    throw damaged('its content does not match the length and checksum at its end', path)
  }
  if (endsEarlier(deflate, bytes.subarray(-8), length))
    throw damaged('something follows its compressed data', path)
  return content
}

/**
 * Gives deflate data to fflate in pieces. What one piece can stand for is in memory twice, so pieces are
 * smaller where little is to come out.
 *
 * @param length bytes that should come out
 * @throws Error when the data is damaged, or `take` throws
 */
function inflate(deflate: Uint8Array, length: number, take: (inflated: Uint8Array) => void): void {
  const size = Math.min(Math.max(MIN_PIECE, Math.ceil(length / MAX_DEFLATE_RATIO)), MAX_PIECE)
  const stream = new Inflate(take)
  for (let at = 0; at < deflate.length; at += size) {
    stream.push(deflate.subarray(at, at + size), at + size >= deflate.length)
  }
}

/**
 * Whether the member ends before the end of the file. fflate does not tell where the data ended; but the
 * content matches the trailer, so a member that ends earlier has that very trailer there too.
 */
function endsEarlier(deflate: Uint8Array, trailer: Uint8Array, length: number): boolean {
  const [first = 0] = trailer
  let found = 0
  for (let at = deflate.indexOf(first); at >= 0; at = deflate.indexOf(first, at + 1)) {
    if (!trailer.every((byte, index) => deflate[at + index] === byte)) continue
    if (++found > MAX_EARLIER_TRAILERS || isWholeStream(deflate.subarray(0, at), length)) return true
  }
  return false
}

function isWholeStream(deflate: Uint8Array, length: number): boolean {
  try {
    inflate(deflate, length, () => undefined)
    return true
  } catch {
    return false
  }
}
