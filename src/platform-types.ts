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

/** The platform's own class where its types are known, so that `Response` accepts it. */
// biome-ignore lint/style/noRestrictedGlobals: a type, which uses nothing at run time.
export type PlatformReadable = typeof globalThis extends { ReadableStream: { prototype: infer Own } }
  ? Own
  : StreamLike

/** The platform's own class where its types are known, so that `pipeThrough` accepts it. */
// biome-ignore lint/style/noRestrictedGlobals: as above.
export type PlatformWritable = typeof globalThis extends { WritableStream: { prototype: infer Own } }
  ? Own
  : WritableLike

/** The platform's own class where its types are known, so that `fetch` and `fs` accept it. */
// biome-ignore lint/style/noRestrictedGlobals: as above.
export type PlatformUrl = typeof globalThis extends { URL: { prototype: infer Own } } ? Own : UrlLike

/** The platform's own class where its types are known, so that servers accept its handlers. */
// biome-ignore lint/style/noRestrictedGlobals: as above.
export type PlatformRequest = typeof globalThis extends { Request: { prototype: infer Own } }
  ? Own
  : RequestLike

/** The platform's own class of responses where its types are known. */
// biome-ignore lint/style/noRestrictedGlobals: as above.
export type PlatformResponse = typeof globalThis extends { Response: { prototype: infer Own } }
  ? Own
  : ResponseLike
