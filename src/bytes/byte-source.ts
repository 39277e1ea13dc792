import { InvalidDatabaseError } from '../errors.ts'

/** Bytes that are there, in any of the forms that platforms have for them. */
export type Bytes = Uint8Array | ArrayBuffer | SharedArrayBuffer

/** Bytes that are there or will come. */
export type ByteSource = Bytes | Blob | Response | ReadableStream<Uint8Array>

/** Whether bytes can be had at once. */
export function isBytes(source: unknown): source is Bytes {
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) return true
  // Not defined in browsers without cross-origin isolation.
  return typeof SharedArrayBuffer !== 'undefined' && source instanceof SharedArrayBuffer
}

/** The bytes as one view of the caller's memory, without a copy. */
export function viewOf(bytes: Bytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)
}

/**
 * Reads a source to its end.
 *
 * @throws TypeError when it is of no supported kind
 * @throws InvalidDatabaseError when it is a `Response` that is not a success
 */
export async function readBytes(source: ByteSource): Promise<Uint8Array> {
  if (isBytes(source)) return viewOf(source)
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer())
  if (source instanceof ReadableStream) {
    return new Uint8Array(await new Response(source).arrayBuffer())
  }
  if (source instanceof Response) {
    if (!source.ok) {
      throw new InvalidDatabaseError(`the response${placeOf(source.url)} has status ${source.status}`)
    }
    return new Uint8Array(await source.arrayBuffer())
  }
  throw new TypeError(
    'a database is given as Uint8Array, ArrayBuffer, SharedArrayBuffer, Blob, Response or ReadableStream of bytes, or an array of those',
  )
}

/** Of a URL the part that is no secret: vendors put download keys into the query. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { origin, pathname } = new URL(url)
  return ` from ${origin}${pathname}`
}
