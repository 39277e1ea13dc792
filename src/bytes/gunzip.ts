// The only importer of fflate, which checks neither the CRC-32 nor the length of what it decompresses.
import { inflateSync } from 'fflate'
import { crc32 } from './crc32.ts'
import { damaged, readGzipMember } from './gzip-member.ts'

/**
 * Decompresses a gzip file of one member (RFC 1952) and checks it whole. Works on every platform; its
 * memory is bounded by what the trailer promises, which is checked first. Where the compressed data ends is not
 * known, so bytes between it and the trailer pass when what comes out matches the trailer.
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
  return inflated
}
