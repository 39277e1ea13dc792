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
  /**
   * What a program puts together itself. The last line of the field must be among the headers: Node leaves lines
   * beyond `server.maxHeadersCount` out of `req.headers`, which cannot be seen here. Pass its request where you can.
   */
  | { readonly headers: HeaderSource; readonly remoteAddress: string | null | undefined }
  /** Node's `IncomingMessage`, HTTP/1 or HTTP/2; Express. */
  | { readonly headers: HeaderSource; readonly socket: PeerSocket }
  /** A Fastify request. */
  | { readonly raw: { readonly headers: HeaderSource; readonly socket: PeerSocket } }
  /** A Koa context. */
  | { readonly req: { readonly headers: HeaderSource; readonly socket: PeerSocket } }
  /** A Fetch `Request`: the program gives the peer beside it. Of headers taken from Node, the same holds. */
  | { readonly headers: HeaderSource }

/** Beside a source: what the runtime says of the peer, for sources that do not hold it. */
export interface PeerOptions {
  /**
   * The peer's address without a port; `'unix:'` for a local socket; `null` or `''` where the runtime did not know.
   * Default: what the source's socket says.
   */
  readonly remoteAddress?: string | null | undefined
}

/** A request as it is, out of what a framework wraps around it. */
export type Request = Exclude<DetectSource, { raw: unknown } | { req: unknown }>

/**
 * The request in a source. Frameworks keep the untouched request of Node inside their own; what theirs says
 * follows their settings.
 *
 * @throws TypeError when the source is none
 */
export function requestIn(source: DetectSource): Request {
  if (typeof source === 'object' && source !== null) {
    if ('raw' in source && hasSocket(source.raw)) return source.raw
    if ('req' in source && hasSocket(source.req)) return source.req
    if (hasSocket(source) || isRequest(source)) return source
  }
  throw new TypeError(
    'detect takes a request of Node, Express, Fastify or Koa, a Fetch Request, or { headers, remoteAddress }',
  )
}

/**
 * @returns the address of a request's peer as text, `'unix:'`, or `undefined` where nothing says who it is
 */
export function peerIn(request: Request, options: PeerOptions | undefined): string | undefined {
  const given = options?.remoteAddress
  if (given !== undefined) return given || undefined
  // Whatever else a request carries, its socket is who sent it.
  if ('socket' in request) return peerOf(request.socket)
  return 'remoteAddress' in request ? request.remoteAddress || undefined : undefined
}

function isRequest(value: object): value is Request {
  return 'headers' in value && isHeaderSource(value.headers)
}

/** The header fields of a request, for those who trust its peer. Node parses them when they are first read. */
export function headersOf(request: Request): HeaderSource {
  if (isHeaderSource(request.headers)) return request.headers
  throw new TypeError('the headers of the request are no object')
}

function isHeaderSource(headers: unknown): headers is HeaderSource {
  return typeof headers === 'object' && headers !== null
}

function hasSocket(value: unknown): value is Request & { readonly socket: PeerSocket } {
  return typeof value === 'object' && value !== null && 'socket' in value && 'headers' in value
}

/**
 * A Unix socket has neither address, is open, and has a pipe for a handle. A TCP client that has reset its
 * connection has no remote address either, but its socket still has a local one, or is destroyed; believing the
 * header then would let clients become trusted by hanging up. On HTTP/2 `destroyed` is the stream's, which outlives
 * a socket that the client has closed; only `pending` tells. A stream that a program passes to
 * `server.emit('connection')` has no addresses either, whatever it wraps. A socket that is not a stream is data that
 * the program made, and is taken as it says.
 */
function peerOf(socket: PeerSocket | null | undefined): string | undefined {
  if (socket?.remoteAddress) return socket.remoteAddress
  const isUnix =
    socket?.localAddress === undefined &&
    socket?.destroyed === false &&
    socket.pending !== true &&
    (isPipe(memberOf(socket, '_handle')) || typeof memberOf(socket, 'pipe') !== 'function')
  return isUnix ? UNIX : undefined
}

/**
 * Whether a socket's handle is a pipe, also inside of TLS. Node has no public name for this. `server.address()` is
 * not one: it is the server's path for every stream passed to that server, and `null` for a Unix socket that the
 * server got as a file descriptor.
 */
function isPipe(handle: unknown): boolean {
  const inner = memberOf(handle, '_parent')
  return inner === undefined ? memberOf(memberOf(handle, 'constructor'), 'name') === 'Pipe' : isPipe(inner)
}

/** A member that the types of Node do not have for every socket, server and request. */
export function memberOf(value: unknown, name: string): unknown {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? Reflect.get(value, name)
    : undefined
}
