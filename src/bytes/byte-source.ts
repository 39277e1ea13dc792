import { InvalidDatabaseError } from '../errors.ts'
import { inThisRealm, isOfClass, isUint8Array, messageOf } from '../realm.ts'
import { isAbort, untilAborted } from './abort.ts'
import { ByteCollector, checkSize, DEFAULT_MAX_BYTES } from './byte-limit.ts'

/** Bytes in memory. */
export type Bytes = Uint8Array | ArrayBuffer | SharedArrayBuffer

/** Bytes in memory, or a source to read them from. */
export type ByteSource = Bytes | Blob | Response | ReadableStream<Uint8Array>

/** How much of another error's message is quoted. */
const MAX_REASON_CHARS = 200

/** Whether a source is bytes in memory. */
export function isBytes(source: unknown): source is Bytes {
  return isUint8Array(source) || isOfClass(source, 'ArrayBuffer') || isOfClass(source, 'SharedArrayBuffer')
}

/** Whether a source is of a supported kind. */
export function isByteSource(source: unknown): source is ByteSource {
  return isBytes(source) || isBlob(source) || isOfClass(source, 'ReadableStream') || isResponse(source)
}

function isBlob(source: unknown): source is Blob {
  return isOfClass(source, 'Blob') || isOfClass(source, 'File')
}

/** Excludes responses of libraries whose bodies are streams of another kind. */
function isResponse(source: unknown): source is Response {
  return isOfClass(source, 'Response') && (source.body === null || isOfClass(source.body, 'ReadableStream'))
}

/** The supported kinds, for messages. */
export const BYTE_SOURCES =
  'Uint8Array, ArrayBuffer, SharedArrayBuffer, Blob, Response or ReadableStream of bytes, or an array of those'

/** A view of the caller's memory, not a copy. */
export function viewOf(bytes: Bytes): Uint8Array {
  return isUint8Array(bytes) ? inThisRealm(bytes) : new Uint8Array(bytes)
}

/**
 * Reads a whole source.
 *
 * @param maxBytes of the source, compressed or not
 * @throws TypeError when the source is not of a supported kind, or was read before
 * @throws InvalidDatabaseError when it is a `Response` without success, breaks off, or has more than `maxBytes`
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
  // Response refuses a stream that was read before, of which only a rest would be left. It converts a stream of another
  // realm to text, so that one is read directly.
  const unread = stream instanceof ReadableStream ? (new Response(stream).body ?? stream) : stream
  const reader = unread.getReader()
  const collector = new ByteCollector(maxBytes)
  try {
    for (;;) {
      const next = await untilAborted(signal, () => untilRead(reader.read()))
      if (next.done) break
      if (!isUint8Array(next.value)) throw new TypeError('the stream has chunks that are not bytes')
      collector.add(inThisRealm(next.value))
    }
  } catch (error) {
    // Do not wait: cancelling an endless source may not end either.
    reader.cancel(error).catch(() => undefined)
    throw error
  }
  return collector.bytes()
}

/** Converts a failure to read, such as a broken connection or a changed file, to an InvalidDatabaseError. */
async function untilRead<Read>(reading: Promise<Read>): Promise<Read> {
  try {
    return await reading
  } catch (cause) {
    if (isAbort(cause)) throw cause
    const why = messageOf(cause).slice(0, MAX_REASON_CHARS)
    throw new InvalidDatabaseError(`it cannot be read to its end: ${why}`, { cause })
  }
}

/** The part of a URL that is not secret: vendors put download keys into the query. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { origin, pathname } = new URL(url)
  return ` from ${origin}${pathname}`
}
