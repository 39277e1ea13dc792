// Decompression with fflate, which deflate.ts imports too: works on every platform, and is the only synchronous way outside Node. fflate
// checks neither CRC-32 nor length, so this file does.
import { Gunzip as GunzipStream } from 'fflate'
import { damagedFile } from '../errors.ts'
import { allocate, DEFAULT_MAX_BYTES, newBytes } from './byte-limit.ts'
import { crc32, MAX_DEFLATE_RATIO, readGzipMember, TRAILER_BYTES } from './gzip-member.ts'
import { atOnce, type Steps } from './long-work.ts'

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
  return atOnce(gunzipSteps(bytes, path, maxBytes, newBytes))
}

/** {@link gunzip} in steps. @param make allocates the memory of the result, such as shared memory */
export function* gunzipSteps(
  bytes: Uint8Array,
  path: string | undefined,
  maxBytes: number,
  make: (bytes: number) => Uint8Array,
): Steps<Uint8Array> {
  const { deflate, length, crc } = readGzipMember(bytes, path, maxBytes)
  const content = new Content(length, make, path)
  let actualCrc = 0
  let isWhole: boolean
  try {
    isWhole = yield* inflate(deflate, length, (inflated) => {
      content.add(inflated)
      actualCrc = crc32(inflated, actualCrc)
    })
  } catch (cause) {
    throw damagedFile('its compressed data cannot be read', { path, cause })
  }
  if (content.filled !== length || actualCrc !== crc) {
    throw damagedFile('its content does not match the length and checksum in its gzip trailer', { path })
  }
  if (!isWhole) throw damagedFile('there are extra bytes after its compressed data', { path })
  return content.bytes
}

/** What a gzip file decompresses to: no more than the length in its trailer. */
export class Content {
  readonly bytes: Uint8Array
  filled = 0

  /** @throws InvalidDatabaseError when there is not enough memory */
  constructor(length: number, make: (bytes: number) => Uint8Array, path?: string) {
    this.bytes = allocate(length, make, path)
  }

  readonly add = (inflated: Uint8Array): void => {
    if (inflated.length > this.bytes.length - this.filled)
      throw new Error('the output is longer than the length in the trailer')
    this.bytes.set(inflated, this.filled)
    this.filled += inflated.length
  }
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
