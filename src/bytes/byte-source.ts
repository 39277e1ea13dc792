import { InvalidDatabaseError } from '../errors.ts'
import { ByteCollector, checkSize, DEFAULT_MAX_BYTES } from './byte-limit.ts'

/** Bytes that are there, in any of the forms that platforms have for them. */
export type Bytes = Uint8Array | ArrayBuffer | SharedArrayBuffer

/** Bytes that are there or will come. */
export type ByteSource = Bytes | Blob | Response | ReadableStream<Uint8Array>

/** Characters of a foreign error's message that are told. */
const LONGEST_REASON = 200

/** Whether bytes can be had at once. */
export function isBytes(source: unknown): source is Bytes {
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) return true
  // Not defined in browsers without cross-origin isolation.
  return typeof SharedArrayBuffer !== 'undefined' && source instanceof SharedArrayBuffer
}

/** Whether bytes can be had, at once or later. */
export function isByteSource(source: unknown): source is ByteSource {
  if (isBytes(source) || source instanceof Blob || source instanceof ReadableStream) return true
  // Asked last: Node loads fetch, and all that it stands on, with this name.
  return source instanceof Response
}

/** Names the kinds, for messages. */
export const BYTE_SOURCES =
  'Uint8Array, ArrayBuffer, SharedArrayBuffer, Blob, Response or ReadableStream of bytes, or an array of those'

/** The bytes as one view of the caller's memory, without a copy. */
export function viewOf(bytes: Bytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
}

/**
 * Reads a source to its end, or until more has come than may.
 *
 * @param maxBytes that it may hold, as they come: compressed or not
 * @throws TypeError when it is of no supported kind, or was read already
 * @throws InvalidDatabaseError when it is a `Response` that is not a success, breaks off, or holds too much
 */
export async function readBytes(source: ByteSource, maxBytes = DEFAULT_MAX_BYTES): Promise<Uint8Array> {
  if (isBytes(source)) {
    checkSize(source.byteLength, maxBytes)
    return viewOf(source)
  }
  if (source instanceof Blob) {
    checkSize(source.size, maxBytes)
    return new Uint8Array(await untilRead(source.arrayBuffer()))
  }
  if (source instanceof ReadableStream) return readStream(source, maxBytes)
  if (source instanceof Response) {
    if (!source.ok) {
      throw new InvalidDatabaseError(`the response${placeOf(source.url)} has status ${source.status}`)
    }
    return source.body === null ? new Uint8Array(0) : readStream(source.body, maxBytes)
  }
  throw new TypeError(`a database is given as ${BYTE_SOURCES}`)
}

async function readStream(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  // Refuses a stream that somebody has read from: what is left would be taken for all of it.
  const reader = (new Response(stream).body ?? stream).getReader()
  const collector = new ByteCollector(maxBytes)
  try {
    for (;;) {
      const next = await untilRead(reader.read())
      if (next.done) break
      if (!(next.value instanceof Uint8Array)) throw new TypeError('the stream has pieces that are no bytes')
      collector.add(next.value)
    }
  } catch (error) {
    // Not waited for: a source that does not end need not stop either.
    reader.cancel(error).catch(() => undefined)
    throw error
  }
  return collector.bytes()
}

/** What a source gives; where it fails, because a connection broke or a file changed, the error of a bad file. */
async function untilRead<Read>(reading: Promise<Read>): Promise<Read> {
  try {
    return await reading
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidDatabaseError(`it cannot be read to its end: ${why.slice(0, LONGEST_REASON)}`, { cause })
  }
}

/** Of a URL the part that is no secret: vendors put download keys into the query. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { origin, pathname } = new URL(url)
  return ` from ${origin}${pathname}`
}
