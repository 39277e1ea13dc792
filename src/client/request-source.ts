import type { NamesOf } from '../option-names.ts'
import { UNIX } from './trust.ts'

/** Header fields: a Fetch `Headers`, or an object as in Node and cloud functions. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The members of a Node socket that identify the peer. */
export interface PeerSocket {
  readonly remoteAddress?: string | null | undefined
  readonly localAddress?: string | null | undefined
  readonly destroyed?: boolean
  /** Whether the socket is not connected yet, or not any more. */
  readonly pending?: boolean
}

/** An HTTP request. All forms hold headers, and all but the last hold a peer. */
export type DetectSource =
  /**
   * An object that the program makes. The headers must contain the last line of the field. Node drops lines beyond
   * `server.maxHeadersCount` from `req.headers`, which cannot be detected here: pass Node's request if you have it.
   */
  | { readonly headers: HeaderSource; readonly remoteAddress: string | null | undefined }
  /** Node's `IncomingMessage`, HTTP/1 or HTTP/2; Express. */
  | { readonly headers: HeaderSource; readonly socket: PeerSocket }
  /** A Fastify request. */
  | { readonly raw: { readonly headers: HeaderSource; readonly socket: PeerSocket } }
  /** A Koa context. */
  | { readonly req: { readonly headers: HeaderSource; readonly socket: PeerSocket } }
  /**
   * A Fetch `Request`. The program passes the peer as `remoteAddress`. If the headers come from Node, lines can be missing
   * here too.
   */
  | { readonly headers: HeaderSource }

/** The peer according to the runtime, for sources that do not hold it. */
export interface PeerOptions {
  /**
   * The address of the peer without a port, `'unix:'` for a local socket, or `null` or `''` if the runtime does not know
   * it. Default: the address of the source's socket.
   */
  readonly remoteAddress?: string | null | undefined
}

export const PEER_OPTIONS: NamesOf<PeerOptions> = { remoteAddress: true }

/** A request without the object that a framework wraps around it. */
export type Request = Exclude<DetectSource, { raw: unknown } | { req: unknown }>

/**
 * Returns the request in a source. Frameworks wrap the original request of Node; the members of the wrapper depend on
 * the framework's settings, so they are not used.
 *
 * @throws TypeError if the source is not a request
 */
export function requestIn(source: DetectSource): Request {
  if (typeof source === 'object' && source !== null) {
    if ('raw' in source && hasSocket(source.raw)) return source.raw
    if ('req' in source && hasSocket(source.req)) return source.req
    if (hasSocket(source) || isRequest(source)) return source
  }
  throw new TypeError(
    `detect takes a request of Node, Express, Fastify or Koa, a Fetch Request, or { headers, remoteAddress }${sourceAdvice(source)}`,
  )
}

/** How to get the request from a context of Hono. */
function sourceAdvice(source: unknown): string {
  const isHono = typeof memberOf(memberOf(source, 'req'), 'header') === 'function'
  if (!isHono) return ''
  return memberOf(memberOf(source, 'env'), 'incoming') === undefined
    ? '. This is a context of Hono: pass c.req.raw, and the address of the peer as remoteAddress'
    : '. This is a context of Hono: pass c.env.incoming'
}

/**
 * @returns the address of the peer as text, `'unix:'`, or `undefined` if it is unknown
 */
export function peerIn(request: Request, options: PeerOptions | undefined): string | undefined {
  const given = options?.remoteAddress
  if (given !== undefined) return given || undefined
  // A socket takes precedence over a `remoteAddress` member, which anyone may have set on the request.
  if ('socket' in request) return peerOf(request.socket)
  return 'remoteAddress' in request ? request.remoteAddress || undefined : undefined
}

function isRequest(value: object): value is Request {
  return 'headers' in value && isHeaderSource(value.headers)
}

/** Returns the header fields of a request. Call it only for trusted peers: Node parses headers on first access. */
export function headersOf(request: Request): HeaderSource {
  if (isHeaderSource(request.headers)) return request.headers
  throw new TypeError('the headers of the request must be an object')
}

function isHeaderSource(headers: unknown): headers is HeaderSource {
  return typeof headers === 'object' && headers !== null
}

function hasSocket(value: unknown): value is Request & { readonly socket: PeerSocket } {
  return typeof value === 'object' && value !== null && 'socket' in value && 'headers' in value
}

/**
 * Returns the peer of a socket. A Unix socket has neither a remote nor a local address, is open, and its handle is a pipe.
 *
 * - If a TCP client resets its connection, the remote address disappears too, but the socket keeps its local address or
 *   is destroyed. Trusting the header then would let clients become trusted by hanging up.
 * - On HTTP/2 `destroyed` belongs to the stream, which outlives the closed socket. Only `pending` shows the difference.
 * - A stream that a program passes to `server.emit('connection')` has no addresses either. Its handle is not a pipe.
 * - A socket that is not a stream is data that the program made. It is taken as it is.
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
 * Whether the handle of a socket is a pipe, directly or below TLS. Node has no public API for this. `server.address()`
 * does not help: it is the path for every stream passed to a server on a path, and `null` for a Unix socket that the
 * server got as a file descriptor.
 */
function isPipe(handle: unknown): boolean {
  const inner = memberOf(handle, '_parent')
  return inner === undefined ? memberOf(memberOf(handle, 'constructor'), 'name') === 'Pipe' : isPipe(inner)
}

/** Reads a member that Node's types do not declare for every socket, server and request. */
export function memberOf(value: unknown, name: string): unknown {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? Reflect.get(value, name)
    : undefined
}

/** Node's default of `server.maxHeadersCount`: the number of header lines of an HTTP/1 request that it keeps. */
const NODE_MAX_HEADER_LINES = 1000

/**
 * Returns all lines of a header field in their order, joined with `, ` as RFC 9110 section 5.3 allows, or `''` if there
 * is none. Names are compared case-insensitively and otherwise exactly: `X_Forwarded_For` is a different field
 * (CVE-2025-64484).
 *
 * @param name in lower case
 */
export function readField(headers: HeaderSource, name: string): string {
  if (isFetchHeaders(headers)) {
    const value: unknown = headers.get(name)
    return typeof value === 'string' ? value : ''
  }
  const lines: string[] = []
  for (const key of Object.keys(headers)) {
    if (key.length !== name.length || key.toLowerCase() !== name) continue
    const value = headers[key]
    if (typeof value === 'string') lines.push(value)
    else if (Array.isArray(value)) for (const line of value) if (typeof line === 'string') lines.push(line)
  }
  return lines.join(', ')
}

/**
 * Whether Node may have dropped lines of a field from the `headers` of a request. Node drops lines beyond
 * `maxHeadersCount` (HTTP/1) and repeated lines of some fields. Proxies append their line, so the lines that remain are
 * those that the caller wrote.
 *
 * @param name in lower case
 * @param shown the value that `readField` returns for the field
 */
export function lacksLines(request: Request, name: string, shown: string): boolean {
  const lines = memberOf(request, 'rawHeaders')
  if (!Array.isArray(lines)) return false
  return lacksAnyLines(request) || startsWithLines(lines, name, shown)
}

/** Whether a request has so many header lines that Node may have dropped others. `false` if it is not a request of Node. */
export function lacksAnyLines(request: Request): boolean {
  const lines = memberOf(request, 'rawHeaders')
  return Array.isArray(lines) && lines.length >= maxEntries(request)
}

/** The length of `rawHeaders` from which lines may be missing. Node truncates it too, so reaching the limit counts. */
function maxEntries(request: Request): number {
  // Node refuses HTTP/2 requests that have too many header lines.
  if (memberOf(request, 'httpVersionMajor') === 2) return Number.POSITIVE_INFINITY
  const limit = memberOf(memberOf(memberOf(request, 'socket'), 'server'), 'maxHeadersCount')
  // Compute it as Node does: 0 and less mean no limit, and a value that is not a number means the default.
  const entries = (typeof limit === 'number' ? limit : NODE_MAX_HEADER_LINES) << 1
  return entries > 0 ? entries : Number.POSITIVE_INFINITY
}

/** Whether `shown` holds the first lines of a field, but not all of them. */
function startsWithLines(lines: readonly unknown[], name: string, shown: string): boolean {
  let field: string | undefined
  for (let at = 0; at < lines.length; at += 2) {
    if (String(lines[at]).toLowerCase() !== name) continue
    if (field === shown) return true
    field = field === undefined ? String(lines[at + 1]) : `${field}, ${lines[at + 1]}`
  }
  return false
}

function isFetchHeaders(headers: HeaderSource): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
