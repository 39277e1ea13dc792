// Decompression outside Node: gzip files, and Deflate streams (RFC 1951) without a gzip wrapper, for the blocks of a packed
// database. fflate works on every platform, and is the only synchronous way. It checks neither CRC-32 nor length, so this file
// does. The platform's DecompressionStream is used only for gzip files that are read with pauses.
import { Gunzip as GunzipStream, Inflate as InflateStream, inflateSync } from 'fflate'
import { damagedFile } from '../errors.ts'
import type { SignalLike } from '../realm.ts'
import { allocate, DEFAULT_MAX_BYTES, isOutOfMemory, newBytes, noMemory } from './byte-limit.ts'
import { crc32, MAX_DEFLATE_RATIO, readGzipMember, TRAILER_BYTES } from './extract.ts'
import { atOnce, Pacer, type Steps, withPauses } from './long-work.ts'

/** How much compressed data fflate gets at a time. With chunks of 4 KiB, country.mmdb.gz takes 1.5 times as long, with 1 KiB 3 times. */
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
function* gunzipSteps(
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
    isWhole = yield* inflateMember(deflate, length, (inflated) => {
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

/** What a stream decompresses to: no more than the length that it should have. */
class Content {
  readonly bytes: Uint8Array
  filled = 0

  /** @throws InvalidDatabaseError when there is not enough memory */
  constructor(length: number, make: (bytes: number) => Uint8Array, path?: string) {
    this.bytes = allocate(length, make, path)
  }

  readonly add = (inflated: Uint8Array): void => {
    if (inflated.length > this.bytes.length - this.filled) throw wrongLength(this.bytes.length)
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
function* inflateMember(
  deflate: Uint8Array,
  length: number,
  take: (inflated: Uint8Array) => void,
): Steps<boolean> {
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

/** How much compressed data the platform gets at a time. It decompresses each piece without a pause. */
const PIECE_BYTES = 2 ** 15

/** A gzip file without content. */
const EMPTY_FILE = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0)

/**
 * Decompresses and checks a gzip file with pauses for other work: by the platform's DecompressionStream if it is strict, which takes
 * 0.7 of the processor time of fflate (country.mmdb.gz). Edge platforms limit that time.
 *
 * @param make allocates the memory of the result, such as shared memory
 * @throws InvalidDatabaseError when the file is damaged or too large
 * @throws the reason of the signal
 */
export async function gunzipInPieces(
  bytes: Uint8Array,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: SignalLike,
  make: (bytes: number) => Uint8Array = newBytes,
): Promise<Uint8Array> {
  if (!(await isPlatformStrict())) return withPauses(gunzipSteps(bytes, undefined, maxBytes, make), signal)
  const { length } = readGzipMember(bytes, undefined, maxBytes)
  const content = new Content(length, make)
  const pacer = new Pacer(signal)
  try {
    await inflateByPlatform(pieces(bytes), content.add, () => pacer.pause())
  } catch (cause) {
    signal?.throwIfAborted()
    if (isOutOfMemory(cause)) throw noMemory(cause)
    throw damagedFile('its compressed data cannot be read, or does not match its checksum', { cause })
  }
  if (content.filled !== length) {
    throw damagedFile('its content does not match the length in its gzip trailer')
  }
  return content.bytes
}

/** Passes data through a DecompressionStream. @throws Error when it is damaged, or `take` or `pause` throws */
async function inflateByPlatform(
  input: Iterable<Uint8Array<ArrayBuffer>>,
  take: (inflated: Uint8Array) => void,
  pause: () => Promise<void>,
): Promise<void> {
  const { readable, writable } = new DecompressionStream('gzip')
  const reader = readable.getReader()
  const writer = writable.getWriter()
  const write = async (): Promise<void> => {
    for (const piece of input) {
      await writer.write(piece)
      await pause()
    }
    await writer.close()
  }
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      take(value)
    }
  }
  try {
    await Promise.all([write(), read()])
  } catch (error) {
    // Stop the other direction, and ignore the errors that follow from this one.
    await Promise.allSettled([reader.cancel(error), writer.abort(error), writer.closed])
    throw error
  }
}

/** Copies of the parts of a file: DecompressionStream does not take shared memory. */
function* pieces(bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield new Uint8Array(bytes.subarray(at, at + PIECE_BYTES))
}

let isStrict: Promise<boolean> | undefined

/**
 * Whether the platform has a DecompressionStream that refuses bytes after the only member of a file, as the Compression
 * standard says. That of Node 20 does not.
 */
export function isPlatformStrict(): Promise<boolean> {
  isStrict ??= findStrictness()
  return isStrict
}

async function findStrictness(): Promise<boolean> {
  if (typeof DecompressionStream === 'undefined') return false
  const zero = new Uint8Array(1)
  const joined = new Uint8Array([...EMPTY_FILE, ...EMPTY_FILE])
  const damaged = [[EMPTY_FILE, zero], [new Uint8Array([...EMPTY_FILE, 0])], [joined]]
  for (const input of damaged) if (await isReadable(input)) return false
  return isReadable([EMPTY_FILE])
}

function isReadable(input: readonly Uint8Array<ArrayBuffer>[]): Promise<boolean> {
  const nothing = (): void => {}
  return inflateByPlatform(input, nothing, async () => {}).then(
    () => true,
    () => false,
  )
}

/** The most bytes that fflate gets at once. It stops only when it has decompressed all of them, to up to 1,032 times as many. */
const CHUNK_BYTES = 2 ** 14

/** Compresses to one stream. */
export type Deflate = (bytes: Uint8Array) => Uint8Array

/**
 * Decompresses one stream.
 *
 * @param length of the output in bytes
 * @returns the output, valid until the next call
 * @throws Error when the stream is damaged, or its output has another length
 */
export type Inflate = (stream: Uint8Array, length: number) => Uint8Array

/** What reading compressed blocks needs. A platform can provide its own functions. */
export interface BlockCodec {
  readonly inflate: Inflate
  /** The checksum of gzip. */
  readonly crc32: (bytes: Uint8Array) => number
}

/** The {@link Inflate} of every platform. */
export const inflate: Inflate = (stream, length) => {
  if (stream.length <= CHUNK_BYTES) {
    // One more byte, to detect a longer output: fflate drops what does not fit.
    const out = new Uint8Array(length + 1)
    let output: Uint8Array
    try {
      output = inflateSync(stream, { out })
    } catch (error) {
      // fflate copies stored bytes without looking at the room for them.
      throw error instanceof RangeError ? wrongLength(length) : error
    }
    if (output.length !== length) throw wrongLength(length)
    return output
  }
  const content = new Content(length, newBytes)
  const inflater = new InflateStream(content.add)
  for (let at = 0; at < stream.length; at += CHUNK_BYTES) {
    inflater.push(stream.subarray(at, at + CHUNK_BYTES), at + CHUNK_BYTES >= stream.length)
  }
  if (content.filled !== length) throw wrongLength(length)
  return content.bytes
}

function wrongLength(length: number): Error {
  return new Error(`a stream does not have ${length} bytes`)
}

/** The codec of every platform. */
export const PORTABLE_CODEC: BlockCodec = { inflate, crc32 }
