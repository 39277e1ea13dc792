import { InvalidDatabaseError } from '../errors.ts'
import { inThisRealm, isOfClass, isUint8Array, messageOf } from '../realm.ts'
import { isAbort, untilAborted } from './abort.ts'
import { ByteCollector, checkSize, DEFAULT_MAX_BYTES } from './byte-limit.ts'

/** Bytes that are there, in any of the forms that platforms have for them. */
export type Bytes = Uint8Array | ArrayBuffer | SharedArrayBuffer

/** Bytes that are there or will come. */
export type ByteSource = Bytes | Blob | Response | ReadableStream<Uint8Array>

/** Characters of a foreign error's message that are told. */
const LONGEST_REASON = 200

/** Whether bytes can be had at once. */
export function isBytes(source: unknown): source is Bytes {
  return isUint8Array(source) || isOfClass(source, 'ArrayBuffer') || isOfClass(source, 'SharedArrayBuffer')
}

/** Whether bytes can be had, at once or later. */
export function isByteSource(source: unknown): source is ByteSource {
  return isBytes(source) || isBlob(source) || isOfClass(source, 'ReadableStream') || isResponse(source)
}

function isBlob(source: unknown): source is Blob {
  return isOfClass(source, 'Blob') || isOfClass(source, 'File')
}

/** Not those of libraries whose bodies are streams of another kind. */
function isResponse(source: unknown): source is Response {
  return isOfClass(source, 'Response') && (source.body === null || isOfClass(source.body, 'ReadableStream'))
}

/** Names the kinds, for messages. */
export const BYTE_SOURCES =
  'Uint8Array, ArrayBuffer, SharedArrayBuffer, Blob, Response or ReadableStream of bytes, or an array of those'

/** The bytes as one view of the caller's memory, without a copy. */
export function viewOf(bytes: Bytes): Uint8Array {
  return isUint8Array(bytes) ? inThisRealm(bytes) : new Uint8Array(bytes)
}

/**
 * Reads a source to its end, or until more has come than may, or it is aborted.
 *
 * @param maxBytes that it may hold, as they come: compressed or not
 * @throws TypeError when it is of no supported kind, or was read already
 * @throws InvalidDatabaseError when it is a `Response` that is not a success, breaks off, or holds too much
 * @throws AbortError, TimeoutError when it is a `Response` whose `fetch` was aborted
 * @throws the signal's reason
 */
export async function readBytes(
  source: ByteSource,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  return untilAborted(signal, async () => {
    if (isBytes(source)) {
      checkSize(source.byteLength, maxBytes)
      return viewOf(source)
    }
    if (isBlob(source)) {
      checkSize(source.size, maxBytes)
      return new Uint8Array(await untilRead(source.arrayBuffer()))
    }
    if (isOfClass(source, 'ReadableStream')) return readStream(source, maxBytes, signal)
    if (!isResponse(source)) throw new TypeError(`a database is given as ${BYTE_SOURCES}`)
    if (!source.ok) {
      throw new InvalidDatabaseError(`the response${placeOf(source.url)} has status ${source.status}`)
    }
    return source.body === null ? new Uint8Array(0) : readStream(source.body, maxBytes, signal)
  })
}

async function readStream(
  stream: ReadableStream<unknown>,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  // Refuses a stream that somebody has read from: what is left would be taken for all of it. Of a stream of another
  // realm a Response could make a text.
  const unread = stream instanceof ReadableStream ? (new Response(stream).body ?? stream) : stream
  const reader = unread.getReader()
  const collector = new ByteCollector(maxBytes)
  try {
    for (;;) {
      const next = await untilAborted(signal, () => untilRead(reader.read()))
      if (next.done) break
      if (!isUint8Array(next.value)) throw new TypeError('the stream has pieces that are no bytes')
      collector.add(inThisRealm(next.value))
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
    if (isAbort(cause)) throw cause
    const why = messageOf(cause).slice(0, LONGEST_REASON)
    throw new InvalidDatabaseError(`it cannot be read to its end: ${why}`, { cause })
  }
}

/** Of a URL the part that is no secret: vendors put download keys into the query. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { origin, pathname } = new URL(url)
  return ` from ${origin}${pathname}`
}
