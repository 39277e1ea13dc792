// Deflate streams (RFC 1951) without a gzip wrapper, for the blocks of a packed database.
import { deflateSync, inflateSync } from 'fflate'

/**
 * Decompresses one stream. A platform can provide its own function where that is faster.
 *
 * @param length of the output in bytes
 * @throws Error when the stream is damaged, or its output has another length
 */
export type Inflate = (stream: Uint8Array, length: number) => Uint8Array

/** Compresses to one stream. */
export type Deflate = (bytes: Uint8Array) => Uint8Array

/** The {@link Deflate} of every platform. The same input always gives the same bytes. */
export const deflate: Deflate = (bytes) => deflateSync(bytes, { level: 9, mem: 12 })

/** The {@link Inflate} of every platform. */
export const inflate: Inflate = (stream, length) => {
  // One more byte, to detect a longer output: fflate drops what does not fit.
  const output = inflateSync(stream, { out: new Uint8Array(length + 1) })
  if (output.length !== length) throw new Error(`a stream does not have ${length} bytes`)
  return output
}
