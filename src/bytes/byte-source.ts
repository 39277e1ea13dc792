import { InvalidDatabaseError } from '../errors.ts'
import {
  type BlobLike,
  inThisRealm,
  isOfClass,
  isUint8Array,
  messageOf,
  type ResponseLike,
  type SignalLike,
  type StreamLike,
} from '../realm.ts'
import { ByteCollector, checkSize, DEFAULT_MAX_BYTES, newShareableBytes } from './byte-limit.ts'
import { isGzip } from './file-kind.ts'
import { isAbort, untilAborted, withPauses } from './long-work.ts'

/** Bytes in memory. */
export type Bytes = Uint8Array | ArrayBuffer | SharedArrayBuffer

/** Bytes in memory, or a source to read them from. */
export type ByteSource = Bytes | BlobLike | ResponseLike | StreamLike

/** How a source or a file is read. */
export interface ReadingOptions {
  /** Limit for its size, compressed and decompressed. What is larger is not read. */
  readonly maxBytes?: number | undefined
  /** Stops reading soon after it is aborted. The caller discards what is thrown then. */
  readonly signal?: SignalLike | undefined
  /** Gets the number of bytes of each piece that is read. */
  readonly onRead?: ((bytes: number) => void) | undefined
}

/** The maximum length of a quoted message of another error. */
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

/** Excludes the responses of libraries whose bodies are not a `ReadableStream`. */
function isResponse(source: unknown): source is Response {
  return isOfClass(source, 'Response') && (source.body === null || isOfClass(source.body, 'ReadableStream'))
}

/** The supported kinds, for messages. */
export const BYTE_SOURCES =
  'Uint8Array, ArrayBuffer, SharedArrayBuffer, Blob, Response or ReadableStream of bytes, or an array of those'

/** A view of the caller's memory, not a copy. */
export function asUint8Array(bytes: Bytes): Uint8Array {
  return isUint8Array(bytes) ? inThisRealm(bytes) : new Uint8Array(bytes)
}

/** The size of a source in bytes; `null` if it is unknown before reading, as when a server compresses. */
export function byteSourceSize(source: ByteSource): number | null {
  if (isBytes(source)) return source.byteLength
  if (isBlob(source)) return source.size
  if (!isResponse(source) || source.headers.get('content-encoding') !== null) return null
  const length = source.headers.get('content-length') ?? ''
  return /^\d{1,15}$/.test(length) ? Number(length) : null
}

/**
 * Reads a whole source. An uncompressed stream is read into memory that threads can share, if the platform has it.
 *
 * @throws TypeError when the source is not of a supported kind, or was read before
 * @throws InvalidDatabaseError when it is a `Response` with a status other than 200 to 299, reading fails, or it has
 *   more than `maxBytes`
 * @throws AbortError, TimeoutError when it is a `Response` whose `fetch` was aborted
 * @throws the signal's reason
 */
export async function readBytes(source: ByteSource, options: ReadingOptions = {}): Promise<Uint8Array> {
  return untilAborted(options.signal, async () => {
    if (isBytes(source)) return bytesInMemory(source, options)
    if (isBlob(source)) {
      checkSize(source.size, options.maxBytes ?? DEFAULT_MAX_BYTES)
      return readStream(source.stream(), options)
    }
    if (isOfClass(source, 'ReadableStream')) return readStream(unread(source), options)
    if (!isResponse(source))
      throw new TypeError(`a database is given as ${BYTE_SOURCES}; for a URL, await fetch(url)`)
    if (!source.ok) {
      throw new InvalidDatabaseError(`the response${placeOf(source.url)} has status ${source.status}`)
    }
    return source.body === null ? new Uint8Array(0) : readStream(unread(source.body), options)
  })
}

/** Bytes in memory, not copied. @throws InvalidDatabaseError when there are more than `maxBytes` */
export function bytesInMemory(
  source: Bytes,
  { maxBytes = DEFAULT_MAX_BYTES, onRead }: ReadingOptions,
): Uint8Array {
  checkSize(source.byteLength, maxBytes)
  onRead?.(source.byteLength)
  return asUint8Array(source)
}

/**
 * Returns the stream. Throws if it was read before, which the constructor of Response detects; in Node this loads all of
 * `fetch`. A stream of another realm is not checked, because that constructor would convert it to text.
 */
function unread(stream: ReadableStream<unknown>): ReadableStream<unknown> {
  return stream instanceof ReadableStream ? (new Response(stream).body ?? stream) : stream
}

async function readStream(
  stream: ReadableStream<unknown>,
  { maxBytes = DEFAULT_MAX_BYTES, signal, onRead }: ReadingOptions,
): Promise<Uint8Array> {
  const reader = stream.getReader()
  const collector = new ByteCollector(maxBytes)
  let isCompressed: boolean | undefined
  try {
    for (;;) {
      const next = await untilAborted(signal, () => untilRead(reader.read()))
      if (next.done) break
      if (!isUint8Array(next.value)) throw new TypeError('the stream has chunks that are not bytes')
      const chunk = inThisRealm(next.value)
      isCompressed ??= isGzip(chunk)
      collector.add(chunk)
      onRead?.(chunk.length)
    }
  } catch (error) {
    // Do not wait: cancelling a source that does not end may not end either.
    reader.cancel(error).catch(() => undefined)
    throw error
  }
  return withPauses(collector.joined(isCompressed ? undefined : newShareableBytes), signal)
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
