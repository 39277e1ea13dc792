// The only importer of fflate, which checks neither the CRC-32 nor the length of what it decompresses.
import { inflateSync } from 'fflate'
import { crc32 } from './crc32.ts'
import { damaged, readGzipMember, TRAILER_BYTES } from './gzip-member.ts'

/** A trailer that stands in a file more often than this was put there on purpose. */
const MAX_EARLIER_TRAILERS = 8

/**
 * Decompresses a gzip file of one member (RFC 1952) and checks it whole. Works on every platform; its
 * memory is bounded by what the trailer promises, which is checked first.
 *
 * fflate passes over faults of the compressed data that zlib refuses, such as codes that are too many or the second
 * length of a stored block; what comes out has its length and checksum all the same.
 *
 * @throws InvalidDatabaseError when anything about the file is damaged
 */
export function gunzip(bytes: Uint8Array, path?: string): Uint8Array {
  const { deflate, length, crc } = readGzipMember(bytes, path)
  let inflated: Uint8Array
  // One byte of room, so that a file that holds more than it promises is found out: fflate fills what it is
  // given and drops the rest.
  const room = new Uint8Array(length + 1)
  try {
    inflated = inflateSync(deflate, { out: room })
  } catch (cause) {
    throw damaged('its compressed data cannot be read', path, cause)
  }
  if (inflated.length !== length || crc32(inflated) !== crc) {
    throw damaged('its content does not match the length and checksum at its end', path)
  }
  if (endsEarlier(bytes.subarray(-deflate.length - TRAILER_BYTES)))
    throw damaged('something follows its compressed data', path)
  return inflated
}

/**
 * Whether the member ends before the end of the file. fflate does not tell where the data ended; but the
 * content matches the trailer, so a member that ends earlier has that very trailer there too.
 *
 * @param body the file without its header
 */
function endsEarlier(body: Uint8Array): boolean {
  const end = body.length - TRAILER_BYTES
  const trailer = body.subarray(end)
  const [first = 0] = trailer
  let found = 0
  // The two can overlap, where a trailer repeats itself.
  for (let at = body.indexOf(first); at >= 0 && at < end; at = body.indexOf(first, at + 1)) {
    if (!trailer.every((byte, index) => body[at + index] === byte)) continue
    if (++found > MAX_EARLIER_TRAILERS || isWholeStream(body.subarray(0, at))) return true
  }
  return false
}

function isWholeStream(deflate: Uint8Array): boolean {
  try {
    inflateSync(deflate)
    return true
  } catch {
    return false
  }
}
