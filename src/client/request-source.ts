import { UNIX } from './trust.ts'

/** Header fields: a Fetch `Headers`, or an object as Node and cloud functions have them. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The part of a Node socket that tells who is on the other end. */
export interface PeerSocket {
  readonly remoteAddress?: string | null | undefined
  readonly localAddress?: string | null | undefined
  readonly destroyed?: boolean
  /** Whether it is not connected, or no longer. */
  readonly pending?: boolean
}

/** An HTTP request in any of the forms that hold headers and, all but the last, a peer. */
export type DetectSource =
  /** What a program puts together itself. */
  | { readonly headers: HeaderSource; readonly remoteAddress: string | null | undefined }
  /** Node's `IncomingMessage`, HTTP/1 or HTTP/2; Express. */
  | { readonly headers: HeaderSource; readonly socket: PeerSocket }
  /** A Fastify request. */
  | { readonly raw: { readonly headers: HeaderSource; readonly socket: PeerSocket } }
  /** A Koa context. */
  | { readonly req: { readonly headers: HeaderSource; readonly socket: PeerSocket } }
  /** A Fetch `Request`: the program gives the peer beside it. */
  | { readonly headers: HeaderSource }

/** Beside a source: what the runtime says of the peer, for sources that do not hold it. */
export interface PeerOptions {
  /**
   * The peer's address without a port; `'unix:'` for a local socket; `null` where the runtime did not know.
   * Default: what the source's socket says.
   */
  readonly remoteAddress?: string | null | undefined
}

/** What a request says of its sender: the peer's address as text, `'unix:'`, or `undefined` for nothing. */
export interface RequestFacts {
  readonly headers: HeaderSource
  readonly peer: string | undefined
}

/**
 * Reads headers and peer off a request.
 *
 * @throws TypeError when the source is none
 */
export function readSource(source: DetectSource, options: PeerOptions | undefined): RequestFacts {
  const request = requestIn(source)
  const given = options?.remoteAddress
  if (given !== undefined) return { headers: request.headers, peer: given ?? undefined }
  // Whatever else a request carries, its socket is who sent it.
  if ('socket' in request) return { headers: request.headers, peer: peerOf(request.socket) }
  return {
    headers: request.headers,
    peer: 'remoteAddress' in request ? (request.remoteAddress ?? undefined) : undefined,
  }
}

type Request = Exclude<DetectSource, { raw: unknown } | { req: unknown }>

/** Frameworks keep the untouched request of Node inside their own; what theirs says follows their settings. */
function requestIn(source: DetectSource): Request {
  if (typeof source === 'object' && source !== null) {
    if ('raw' in source && hasSocket(source.raw)) return source.raw
    if ('req' in source && hasSocket(source.req)) return source.req
    if (isRequest(source)) return source
  }
  throw new TypeError(
    'detect takes a request of Node, Express, Fastify or Koa, a Fetch Request, or { headers, remoteAddress }',
  )
}

function isRequest(value: unknown): value is Request {
  return (
    typeof value === 'object' &&
    value !== null &&
    'headers' in value &&
    typeof value.headers === 'object' &&
    value.headers !== null
  )
}

function hasSocket(value: unknown): value is Request & { readonly socket: PeerSocket } {
  return isRequest(value) && 'socket' in value
}

/**
 * A Unix socket has neither address and is open. A TCP client that has reset its connection has no remote
 * address either, but its socket still has a local one, or is destroyed; believing the header then would let
 * clients become trusted by hanging up. On HTTP/2 `destroyed` is the stream's, which outlives a socket that the
 * client has closed; only `pending` tells. Mock sockets, which do not say whether they are open, are not Unix.
 */
function peerOf(socket: PeerSocket | null | undefined): string | undefined {
  const remoteAddress = socket?.remoteAddress ?? undefined
  if (remoteAddress !== undefined) return remoteAddress
  const isUnix = socket?.localAddress === undefined && socket?.destroyed === false && socket.pending !== true
  return isUnix ? UNIX : undefined
}
