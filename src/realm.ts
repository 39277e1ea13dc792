// A caller's object can come from another realm (node:vm, jest, an iframe). Each realm has its own classes, so
// `instanceof` does not recognise the object. Its tag is the same in all realms, and in implementations other than the
// platform's (undici, jsdom, polyfills). Types of such objects, and the platform's coders of UTF-8, follow below.

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

/** `Array.isArray`, which does not recognise the type of a readonly array. */
export function isList<Item, Other>(value: Other | readonly Item[]): value is readonly Item[] {
  return Array.isArray(value)
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

// Types of the platform's objects for programs that compile with the library "ES2022" alone. Without "DOM" or "node",
// names such as `Blob` do not exist.

/** A `Blob` or a `File`. */
export interface BlobLike {
  readonly size: number
  readonly type: string
  stream(): StreamLike
  arrayBuffer(): Promise<ArrayBuffer>
}

/** A `Request` of `fetch`. */
export interface RequestLike {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly body: StreamLike | null
}

/** A `Response` of `fetch`. */
export interface ResponseLike {
  readonly ok: boolean
  readonly status: number
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly body: StreamLike | null
}

/** A `ReadableStream`. */
export interface StreamLike<Chunk = Uint8Array> {
  readonly locked: boolean
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Chunk | undefined }>
    cancel(reason?: unknown): Promise<void>
  }
}

/** An `AbortSignal`. */
export interface SignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** A `URL`. */
export interface UrlLike {
  readonly href: string
  readonly protocol: string
}

/** A `WritableStream`. */
export interface WritableLike {
  readonly locked: boolean
}

/** What `using` needs, where the platform's types have `Symbol.dispose`: without "esnext.disposable", no member. */
export type PlatformDisposable = {
  [Key in SymbolConstructor['dispose' & keyof SymbolConstructor]]: () => void
}

/** The platform's own class where its types are known, so that the platform's functions accept it. */
// biome-ignore lint/style/noRestrictedGlobals: a type, which uses nothing at run time.
type OwnClass<Name extends string, Like> = typeof globalThis extends {
  readonly [Each in Name]: { prototype: infer Own }
}
  ? Own
  : Like

export type PlatformReadable = OwnClass<'ReadableStream', StreamLike>
export type PlatformWritable = OwnClass<'WritableStream', WritableLike>
export type PlatformUrl = OwnClass<'URL', UrlLike>
export type PlatformRequest = OwnClass<'Request', RequestLike>
export type PlatformResponse = OwnClass<'Response', ResponseLike>

/** @throws TypeError where the platform has no TextDecoder, as in jest with jsdom */
export function utf8Decoder(options: { fatal?: boolean; ignoreBOM?: boolean } = {}): TextDecoder {
  if (typeof TextDecoder === 'undefined') throw missing('TextDecoder')
  return new TextDecoder('utf-8', options)
}

/** @throws TypeError where the platform has no TextEncoder, as in jest with jsdom */
export function utf8Encoder(): TextEncoder {
  if (typeof TextEncoder === 'undefined') throw missing('TextEncoder')
  return new TextEncoder()
}

function missing(name: 'TextDecoder' | 'TextEncoder'): TypeError {
  return new TypeError(
    `${name} is missing. In jest with jsdom, write "const { TextDecoder, TextEncoder } = require('util'); Object.assign(globalThis, { TextDecoder, TextEncoder })" in a file that "setupFiles" names, or use "testEnvironment": "node"`,
  )
}
