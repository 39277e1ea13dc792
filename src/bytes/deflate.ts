// Deflate streams (RFC 1951) without a gzip wrapper, for the blocks of a packed database.
import { deflateSync, Inflate as InflateStream, inflateSync } from 'fflate'
import { crc32 } from './gzip-member.ts'

/** The most bytes that fflate gets at once. It stops only when it has decompressed all of them, to up to 1,032 times as many. */
const CHUNK_BYTES = 2 ** 14

/** Compresses to one stream. */
export type Deflate = (bytes: Uint8Array) => Uint8Array

/** The {@link Deflate} of every platform. The same input always gives the same bytes. */
export const deflate: Deflate = (bytes) => deflateSync(bytes, { level: 9, mem: 12 })

/**
 * Decompresses one stream.
 *
 * @param length of the output in bytes
 * @throws Error when the stream is damaged, or its output has another length
 */
export type Inflate = (stream: Uint8Array, length: number) => Uint8Array

/** What reading compressed blocks needs. A platform can provide its own functions where they are faster. */
export interface BlockCodec {
  readonly inflate: Inflate
  /** The checksum of gzip. */
  readonly crc32: (bytes: Uint8Array) => number
}

/** The {@link Inflate} of every platform. */
export const inflate: Inflate = (stream, length) => {
  const wrongLength = (): Error => new Error(`a stream does not have ${length} bytes`)
  if (stream.length <= CHUNK_BYTES) {
    // One more byte, to detect a longer output: fflate drops what does not fit.
    const out = new Uint8Array(length + 1)
    let output: Uint8Array
    try {
      output = inflateSync(stream, { out })
    } catch (error) {
      // fflate copies stored bytes without looking at the room for them.
      throw error instanceof RangeError ? wrongLength() : error
    }
    if (output.length !== length) throw wrongLength()
    return output
  }
  const output = new Uint8Array(length)
  let filled = 0
  const inflater = new InflateStream((chunk) => {
    if (filled + chunk.length > length) throw wrongLength()
    output.set(chunk, filled)
    filled += chunk.length
  })
  for (let at = 0; at < stream.length; at += CHUNK_BYTES) {
    inflater.push(stream.subarray(at, at + CHUNK_BYTES), at + CHUNK_BYTES >= stream.length)
  }
  if (filled !== length) throw wrongLength()
  return output
}

/** The codec of every platform. */
export const PORTABLE_CODEC: BlockCodec = { inflate, crc32 }
