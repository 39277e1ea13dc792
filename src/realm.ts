// What a caller gives can be of another realm (node:vm, jest, an iframe), whose classes are not those of this one:
// `instanceof` does not recognise it. Tags are the same in all realms. They are also what implementations other than
// the platform's have (undici, jsdom, polyfills).

/** The classes of the platform that callers give objects of, by their tags. */
interface Tagged {
  readonly AbortSignal: AbortSignal
  readonly ArrayBuffer: ArrayBuffer
  readonly Blob: Blob
  readonly File: File
  readonly Map: ReadonlyMap<unknown, unknown>
  readonly ReadableStream: ReadableStream<unknown>
  readonly Response: Response
  readonly SharedArrayBuffer: SharedArrayBuffer
  readonly URL: URL
}

/**
 * Whether a value is an object of a class, of whatever realm. Names the class rather than using it: Node loads all of
 * `fetch` with the name `Response`.
 */
export function isOfClass<Name extends keyof Tagged>(value: unknown, name: Name): value is Tagged[Name] {
  return typeof value === 'object' && value !== null && tagOf(value) === name
}

export function isUint8Array(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || (ArrayBuffer.isView(value) && tagOf(value) === 'Uint8Array')
}

/** The bytes as an array of this realm, without a copy. */
export function inThisRealm(bytes: Uint8Array): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes
  const { buffer, byteOffset, byteLength }: Uint8Array = bytes
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Milliseconds since 1970 of a `Date`, NaN of an invalid one; `undefined` when the value is not a `Date`. */
export function timeOf(value: unknown): number | undefined {
  try {
    // Reads the internal slot that every Date has, and nothing else.
    return Date.prototype.getTime.call(value)
  } catch {
    return undefined
  }
}

/** In jest, the errors of Node's own modules are of another realm. */
export function isError(value: unknown): value is Error {
  if (value instanceof Error) return true
  return typeof value === 'object' && value !== null && ['Error', 'DOMException'].includes(tagOf(value))
}

/** What something that was thrown says. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown)
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}
