// A caller's object can come from another realm (node:vm, jest, an iframe). Each realm has its own classes, so
// `instanceof` does not recognise the object. Its tag is the same in all realms, and in implementations other than the
// platform's (undici, jsdom, polyfills).

/** The platform's classes whose objects callers can pass, by their tags. */
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
 * Whether a value is an object of a class of any realm. Takes the class's name, because Node loads all of `fetch` when
 * code uses `Response` itself.
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

/** The time of a `Date` in milliseconds since 1970; NaN if it is invalid. `undefined` if the value is not a `Date`. */
export function timeOf(value: unknown): number | undefined {
  try {
    // Reads an internal slot that only a Date has, so it recognises the Dates of all realms.
    return Date.prototype.getTime.call(value)
  } catch {
    return undefined
  }
}

/** Whether a value is an error of any realm. In jest, the errors of Node's own modules are from another realm. */
export function isError(value: unknown): value is Error {
  if (value instanceof Error) return true
  return typeof value === 'object' && value !== null && ['Error', 'DOMException'].includes(tagOf(value))
}

/** The message of a thrown value, which need not be an error. */
export function messageOf(thrown: unknown): string {
  return isError(thrown) ? thrown.message : String(thrown)
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}
