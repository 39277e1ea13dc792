// Decompression with fflate, which deflate.ts imports too. fflate checks neither CRC-32 nor length, so this file does.
//
// Geofix decompresses gzip in three ways, and needs each:
// - Here: works on every platform, and is the only synchronous way outside Node. Slower than the others.
// - platform-gunzip.ts: does not block, outside Node. Takes less processor time than fflate, which edge platforms limit.
// - node/native-gunzip.ts: in Node. Node 20's DecompressionStream accepts bytes after the end, and has no synchronous form.
import { Gunzip as GunzipStream } from 'fflate'
import { damagedFile } from '../errors.ts'
import { allocate, DEFAULT_MAX_BYTES, newBytes } from './byte-limit.ts'
import { crc32, MAX_DEFLATE_RATIO, readGzipMember, TRAILER_BYTES } from './gzip-member.ts'
import { atOnce, type Steps } from './steps.ts'

/** How much compressed data fflate gets at a time. Smaller chunks are slower. */
const MAX_CHUNK_BYTES = 2 ** 16
const MIN_CHUNK_BYTES = 2 ** 12

/** A gzip header without optional fields. */
const PLAIN_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)

/**
 * Decompresses a gzip file of one member (RFC 1952) and checks its header, length and CRC-32. Works on every platform.
 * Checks the size in the trailer, then allocates it, and stops when the output is longer.
 *
 * fflate accepts some faults in the compressed data that zlib refuses, such as oversubscribed codes or a wrong second
 * length of a stored block. The output still has the right length and checksum.
 *
 * @param maxBytes of the file, compressed or not
 * @throws InvalidDatabaseError when the file is damaged or too large
 */
export function gunzip(bytes: Uint8Array, path?: string, maxBytes = DEFAULT_MAX_BYTES): Uint8Array {
  return atOnce(gunzipSteps(bytes, path, maxBytes))
}

/** {@link gunzip} in steps. @param make allocates the memory of the result, such as shared memory */
export function* gunzipSteps(
  bytes: Uint8Array,
  path?: string,
  maxBytes = DEFAULT_MAX_BYTES,
  make: (bytes: number) => Uint8Array = newBytes,
): Steps<Uint8Array> {
  const { deflate, length, crc } = readGzipMember(bytes, path, maxBytes)
  const content = allocate(length, make, path)
  let filled = 0
  let actualCrc = 0
  const take = (inflated: Uint8Array): void => {
    if (inflated.length > length - filled)
      throw new Error('the output is longer than the length in the trailer')
    content.set(inflated, filled)
    actualCrc = crc32(inflated, actualCrc)
    filled += inflated.length
  }
  let isWhole: boolean
  try {
    isWhole = yield* inflate(deflate, length, take)
  } catch (cause) {
    throw damagedFile('its compressed data cannot be read', { path, cause })
  }
  if (filled !== length || actualCrc !== crc) {
    throw damagedFile('its content does not match the length and checksum in its gzip trailer', { path })
  }
  if (!isWhole) throw damagedFile('there are extra bytes after its compressed data', { path })
  return content
}

/**
 * Decompresses a deflate stream with fflate in chunks. fflate buffers each chunk's output twice; use smaller chunks for
 * small files.
 *
 * @param length of the output, from the trailer
 * @returns whether the deflate data ends at the last byte
 * @throws Error when the data is damaged, or `take` throws
 */
function* inflate(deflate: Uint8Array, length: number, take: (inflated: Uint8Array) => void): Steps<boolean> {
  const size = Math.min(Math.max(MIN_CHUNK_BYTES, Math.ceil(length / MAX_DEFLATE_RATIO)), MAX_CHUNK_BYTES)
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
    // The deflate data has ended. Stop, because fflate would buffer everything after it.
    if (!isTaken) return false
    yield
  }
  // fflate reports where a member ended only at the next member, so append a trailer and a header.
  stream.push(new Uint8Array(TRAILER_BYTES))
  stream.push(PLAIN_HEADER)
  return starts.length === 1 && starts[0] === PLAIN_HEADER.length + deflate.length + TRAILER_BYTES
}
