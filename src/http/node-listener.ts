// Mounts a handler in servers of Node, without a module of Node.
import { type HeaderSource, lacksAnyLines, type PeerSocket, peerIn } from '../client/request-source.ts'
import type { PlatformRequest } from '../realm.ts'
import { responseOf } from './exchange.ts'
import type { Handler } from './handler.ts'
import type { RequestInfo } from './options.ts'
import { FAULT, isProblem, notAllowed, type Problem, problemReply } from './problem.ts'
import { targetProblem } from './route.ts'

/** A request of Node's servers: an `IncomingMessage` of `node:http` or an `Http2ServerRequest`. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: HeaderSource
  readonly rawHeaders: readonly string[]
  readonly httpVersionMajor: number
  readonly socket: PeerSocket
  /** Whether the whole body has arrived. */
  readonly complete: boolean
  /** Whether something has read the body before. */
  readonly readableDidRead: boolean
}

/** The answer of Node's servers to such a request. */
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: Uint8Array): unknown
  destroy(): unknown
}

/** What `node:http`, Express and Fastify take as a handler. */
export type NodeListener = (incoming: NodeRequest, outgoing: NodeResponse) => void

/** A Fetch `Request` cannot have these (Fetch Standard, section 2.2.1). */
const FORBIDDEN_METHOD = /^(?:CONNECT|TRACE|TRACK)$/i

/** RFC 9112 section 3.2: a host and perhaps a port. Several `Host` lines are joined by a comma, which this refuses. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/**
 * Mounts a handler in a server of Node: `createServer(listener)`, `app.all(path, listener)` in Express, and
 * `listener(request.raw, reply.raw)` in Fastify. Nothing may have read the body before: such a request is answered with 500,
 * and the reason is printed with `console.error`.
 *
 * Node drops header lines beyond `server.maxHeadersCount`, perhaps that of a trusted proxy, and a Fetch `Request` does not
 * show it. The listener refuses requests that have as many lines, with 431. Requests whose target or `Host` is malformed
 * are refused with 400.
 *
 * @throws TypeError when the argument is not a function. The listener throws one when its arguments are not Node's.
 */
export function createNodeListener(handle: Handler): NodeListener {
  if (typeof handle !== 'function')
    throw new TypeError('createNodeListener takes the function of createHandler')
  return (incoming, outgoing) => {
    if (!Array.isArray(incoming?.rawHeaders) || typeof outgoing?.setHeader !== 'function') {
      throw new TypeError(
        "the listener takes Node's own request and response: write listener(request.raw, reply.raw) in Fastify, and listener(ctx.req, ctx.res) in Koa",
      )
    }
    answer(handle, incoming, outgoing).catch(() => outgoing.destroy())
  }
}

/**
 * What a handler must know about a request of Node in addition to the Fetch `Request` that a framework made of it: its peer,
 * and whether header lines may be missing. With Hono on Node: `handle(c.req.raw, nodeRequestInfo(c.env.incoming))`.
 */
export function nodeRequestInfo(incoming: NodeRequest): RequestInfo {
  return { remoteAddress: peerIn(incoming, undefined) ?? null, lacksLines: lacksAnyLines(incoming) }
}

async function answer(handle: Handler, incoming: NodeRequest, outgoing: NodeResponse): Promise<void> {
  const info = nodeRequestInfo(incoming)
  if (info.remoteAddress === null && isReset(incoming.socket)) {
    outgoing.destroy()
    return
  }
  const request = requestOf(incoming)
  const response = isProblem(request)
    ? responseOf(problemReply(request, incoming.method ?? ''))
    : await handle(request, info)
  const body = await new Response(response.body).arrayBuffer()
  outgoing.statusCode = response.status
  for (const [name, value] of response.headers) outgoing.setHeader(name, value)
  // Otherwise, Node would read the rest of a body that is too long. HTTP/2 ends the stream.
  if (!incoming.complete && incoming.httpVersionMajor === 1) outgoing.setHeader('connection', 'close')
  outgoing.end(new Uint8Array(body))
}

/** Whether the client of a socket without a peer has reset the connection. Its local address may remain. */
function isReset({ destroyed, localAddress }: PeerSocket): boolean {
  return destroyed === true || (localAddress !== undefined && localAddress !== null)
}

/** @returns a problem if no Fetch `Request` can be made */
function requestOf(incoming: NodeRequest): PlatformRequest | Problem {
  const { method = 'GET', rawHeaders } = incoming
  if (FORBIDDEN_METHOD.test(method)) return notAllowed('GET, HEAD, POST')
  const ambiguous = targetProblem(incoming.url ?? '')
  if (ambiguous !== null) return ambiguous
  const headers = new Headers()
  let authority: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    // The pseudo-header fields of HTTP/2.
    if (name.startsWith(':')) authority = name === ':authority' ? value : authority
    else headers.append(name, value)
  }
  const url = urlOf(incoming.url ?? '', authority ?? headers.get('host'))
  if (url === null) {
    return { code: 'MALFORMED_REQUEST', detail: 'The target or the Host field is malformed.' }
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  if (hasBody && incoming.readableDidRead) {
    console.error(
      new TypeError(
        'geofix/http cannot read the body of a request, because something has read it before: mount the listener before express.json() and other parsers of bodies, or in a scope of Fastify without them',
      ),
    )
    return FAULT
  }
  return new Request(url, { method, headers, ...(hasBody ? { body: bodyOf(incoming), duplex: 'half' } : {}) })
}

/** @param host `null` in HTTP/1.0. @returns the whole URL; `null` when the target or the host is malformed */
export function urlOf(target: string, host: string | null): string | null {
  if (host !== null && !HOST.test(host)) return null
  const text = target.startsWith('/') ? `http://${host ?? 'localhost'}${target}` : target
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).href : null
}

/** The body as a stream that is read as it is asked for. */
function bodyOf(incoming: NodeRequest): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}
