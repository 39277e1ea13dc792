// The only importer of fflate, which checks neither the CRC-32 nor the length of what it decompresses.
import { Gunzip as GunzipStream } from 'fflate'
import { allocate, DEFAULT_MAX_BYTES } from './byte-limit.ts'
import { crc32 } from './crc32.ts'
import { damaged, MAX_DEFLATE_RATIO, readGzipMember, TRAILER_BYTES } from './gzip-member.ts'

/** Of a compressed file, what is given to fflate at a time: it is slower in smaller pieces. Bytes. */
const MAX_PIECE = 2 ** 16
const MIN_PIECE = 2 ** 12

/** Where a member starts that has no name and nothing else. */
const PLAIN_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

/**
 * Decompresses a gzip file of one member (RFC 1952) and checks it whole. Works on every platform; its
 * memory is bounded by what the trailer promises, which is checked first, and it stops when more comes out.
 *
 * fflate passes over faults of the compressed data that zlib refuses, such as codes that are too many or the second
 * length of a stored block; what comes out has its length and checksum all the same.
 *
 * @param maxBytes that the file may have, compressed or not
 * @throws InvalidDatabaseError when anything about the file is damaged, or it is too large
 */
export function gunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  const { deflate, length, crc } = readGzipMember(bytes, path, maxBytes)
  const content = allocate(length, (size) => new Uint8Array(size), path)
  let filled = 0
  let isWhole: boolean
  try {
    isWhole = inflate(deflate, length, (inflated) => {
      if (inflated.length > length - filled) throw new Error('more comes out than the length at its end says')
      content.set(inflated, filled)
      filled += inflated.length
    })
  } catch (cause) {
    throw damaged('its compressed data cannot be read', path, cause)
  }
  if (filled !== length || crc32(content) !== crc) {
    throw damaged('its content does not match the length and checksum at its end', path)
  }
  if (!isWhole) throw damaged('something follows its compressed data', path)
  return content
}

/**
 * Gives a deflate stream to fflate in pieces. What one piece can stand for is in memory twice, so pieces are
 * smaller where little is to come out.
 *
 * @param length bytes that should come out
 * @returns whether the stream ends with the last byte
 * @throws Error when it is damaged, or `take` throws
 */
function inflate(deflate: Uint8Array, length: number, take: (inflated: Uint8Array) => void): boolean {
  const size = Math.min(Math.max(MIN_PIECE, Math.ceil(length / MAX_DEFLATE_RATIO)), MAX_PIECE)
  const starts: number[] = []
  let isTaken = true
  const stream = new GunzipStream((inflated) => {
    isTaken = true
    take(inflated)
  })
  stream.onmember = (start) => starts.push(start)
  stream.push(PLAIN_HEADER)
  for (let at = 0; at < deflate.length; at += size) {
    isTaken = false
    stream.push(deflate.subarray(at, at + size))
    // fflate keeps what follows the end, and would keep all of it.
    if (!isTaken) return false
  }
  // It tells where a member ended when it meets the next one: here is one, behind a trailer.
  stream.push(new Uint8Array(TRAILER_BYTES))
  stream.push(PLAIN_HEADER)
  return starts.length === 1 && starts[0] === PLAIN_HEADER.length + deflate.length + TRAILER_BYTES
}
