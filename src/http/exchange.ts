// What the service reads of a request and gives as an answer. `createHandler` uses Fetch types. `geofix serve` uses Node's own
// objects, and makes no Fetch objects.

import { ByteSink } from '../bytes/byte-sink.ts'
import { type PlatformRequest, type PlatformResponse, utf8Encoder } from '../realm.ts'

/** Header fields of an answer: lower-case names, each followed by its value, as Node's `writeHead` takes them. */
export type HeaderFields = readonly string[]

/** Keeps browsers from taking an answer for HTML, since its text can come from a database or a caller. */
export const NO_SNIFFING: HeaderFields = ['x-content-type-options', 'nosniff']

/** A request. It is also a `HeaderSource` of the resolver. */
export interface ServiceRequest {
  readonly method: string
  /** The URL, or only its path and query. */
  readonly url: string
  /** All lines of a header field joined with `, `, or `null`. @param name in lower case */
  get(name: string): string | null
  /**
   * Reads the body. Rejects if it ends early.
   *
   * @returns `null` when the body is longer than `maxBytes`; the rest of it is not read
   */
  body(maxBytes: number): Promise<Uint8Array | null>
}

/** An answer. */
export interface Reply {
  readonly status: number
  readonly headers: HeaderFields
  /** `null` for `HEAD`, for which `headers` has the `content-length`, and for a preflight. */
  readonly body: string | Uint8Array | null
}

/** A Fetch `Request`. */
export class FetchServiceRequest implements ServiceRequest {
  constructor(readonly request: PlatformRequest) {}

  get method(): string {
    return this.request.method
  }

  get url(): string {
    return this.request.url
  }

  get(name: string): string | null {
    return this.request.headers.get(name)
  }

  async body(maxBytes: number): Promise<Uint8Array | null> {
    if (Number(this.get('content-length')) > maxBytes) return null
    const reader = this.request.body?.getReader()
    const bytes = await wholeBody(async () => (await reader?.read())?.value, maxBytes)
    // The source may never end, or fail.
    if (bytes === null) void reader?.cancel().catch(() => {})
    return bytes
  }
}

/** The Fetch form of an answer. */
export function responseOf({ status, headers: fields, body }: Reply): PlatformResponse {
  const headers = new Headers()
  for (let at = 0; at < fields.length; at += 2) headers.append(fields[at] ?? '', fields[at + 1] ?? '')
  const content = typeof body === 'string' || body === null ? body : new Uint8Array(body)
  return new Response(content, { status, headers })
}

/** An answer with a body, which is left out for `HEAD`. */
export function replyTo(
  method: string,
  status: number,
  body: string | Uint8Array,
  headers: HeaderFields,
): Reply {
  if (method !== 'HEAD') return { status, headers, body }
  const { length } = typeof body === 'string' ? encoder.encode(body) : body
  return { status, headers: [...headers, 'content-length', String(length)], body: null }
}

const encoder = /* @__PURE__ */ utf8Encoder()

/** Reads a body by its parts. @returns `null` when it is longer than `maxBytes`; the rest of it is not read */
export async function wholeBody(
  next: () => Promise<Uint8Array | undefined>,
  maxBytes: number,
): Promise<Uint8Array | null> {
  const body = new ByteSink(0)
  for (let chunk = await next(); chunk !== undefined; chunk = await next()) {
    if (body.length + chunk.length > maxBytes) return null
    body.write(chunk)
  }
  return body.take()
}

/** A value now or later. Most requests need no promise, and each promise costs a turn of the event loop and memory. */
export type MaybePromise<Value> = Value | Promise<Value>

/** Calls `next` with a value: at once, unless the value is a promise. */
export function chain<Value, Next>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Next>,
): MaybePromise<Next> {
  return isPromise(value) ? value.then(next) : next(value)
}

/** Knows native promises only. `await` others first. */
export function isPromise<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  return value instanceof Promise
}
