// Requests and answers over Node's own objects, without Fetch objects, and what the server itself refuses before the service has a
// request.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HeaderFields, type Reply, type ServiceRequest, wholeBody } from '../../http/exchange.ts'
import { urlOf } from '../../http/node-listener.ts'
import { type Problem, phraseOf } from '../../http/problem.ts'
import { targetProblem } from '../../http/route.ts'

/** A target and a host that URL parsing would not change: no empty or dot segments, nothing encoded. Most targets are such. */
const PLAIN_TARGET = /^(?:\/[\w:-][\w.:-]*)+(?:\?[\w.=&-]*)?$/
const PLAIN_HOST = /^[a-z\d-]+(?:\.[a-z\d-]+)*(?::\d{1,5})?$/i
/** How much of a body that nobody reads is thrown away, and for how long, so that its client gets the answer. */
const MAX_REST_BYTES = 64 * 1024 * 1024
const REST_MS = 500

/** A request of Node's server. */
export class NodeServiceRequest implements ServiceRequest {
  readonly method: string
  /** The URL of the request. If the target or the host is malformed, the target as it came. */
  readonly url: string
  /** Why nobody knows what the target or the host is; `null` for other requests. */
  readonly problem: Problem | null

  /**
   * @param waiting the answer to a client that sends the body only after "100 Continue"; `null` for others
   * @param received is called with the bytes of each part of the body
   */
  constructor(
    private readonly incoming: IncomingMessage,
    private waiting: ServerResponse | null = null,
    private readonly received: (bytes: number) => void = () => {},
  ) {
    const { method = '', url: target = '' } = incoming
    this.method = method
    const host = this.get('host') ?? ''
    const isPlain = PLAIN_TARGET.test(target) && PLAIN_HOST.test(host)
    // HTTP/1.0 allows a request without Host.
    const url = isPlain ? target : urlOf(target, host || 'localhost')
    this.url = url ?? target
    this.problem = isPlain ? null : (targetProblem(target) ?? (url === null ? MALFORMED : null))
  }

  /** Whether the client sends the body: it always does if it did not ask. */
  get isContinued(): boolean {
    return this.waiting === null
  }

  /** Joins repeated lines, as Fetch does. Node's own `headers` drops those of some fields. */
  get(name: string): string | null {
    const { rawHeaders } = this.incoming
    let field: string | null = null
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const key = rawHeaders[at]
      if (key?.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue
      field = field === null ? (rawHeaders[at + 1] ?? '') : `${field}, ${rawHeaders[at + 1]}`
    }
    return field
  }

  /** Tells the client to send the body. The body of a request without a valid key is not read, so it is not asked for. */
  async body(maxBytes: number): Promise<Uint8Array | null> {
    if (Number(this.get('content-length')) > maxBytes) return null
    this.waiting?.writeContinue()
    this.waiting = null
    // Otherwise, to leave the body would close the connection.
    const chunks = this.incoming.iterator({ destroyOnReturn: false })
    const bytes = await wholeBody(async () => {
      const { value } = await chunks.next()
      if (value !== undefined) this.received(value.length)
      return value
    }, maxBytes)
    await chunks.return?.()
    return bytes
  }
}

/** Throws away the rest of a body after the answer, within limits, and then closes the connection. */
export function dropRest(incoming: IncomingMessage): void {
  if (incoming.complete) return
  const close = () => void (incoming.complete || incoming.socket.destroySoon())
  const late = setTimeout(close, REST_MS).unref()
  let left = MAX_REST_BYTES
  incoming.on('data', (chunk) => {
    left -= chunk.length
    if (left < 0) close()
  })
  incoming.once('close', () => clearTimeout(late))
}

/** The bytes of an answer, for a connection that Node has no answer for. */
export function rawReply({ status, headers, body }: Reply, id: string): string {
  const phrase = phraseOf(status)
  const text = typeof body === 'string' ? body : ''
  const fields = [...headers, 'x-request-id', id, 'date', new Date().toUTCString()]
  let head = `HTTP/1.1 ${status} ${phrase}\r\n`
  for (let at = 0; at < fields.length; at += 2) head += `${fields[at]}: ${fields[at + 1]}\r\n`
  return `${head}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** Sends an answer with the id of its request. @returns the length of the body */
export function send({ status, headers, body }: Reply, id: string, outgoing: ServerResponse): number {
  const length = body === null ? 0 : Buffer.byteLength(body)
  const fields = headers.concat('x-request-id', id)
  if (body !== null) fields.push('content-length', String(length))
  outgoing.writeHead(status, fields).end(body)
  return length
}

export const CLOSE: HeaderFields = ['connection', 'close']

export const MALFORMED: Problem = {
  code: 'MALFORMED_REQUEST',
  detail: 'The target, the field Host or the field Transfer-Encoding is malformed.',
}

export const UNEXPECTED: Problem = {
  code: 'EXPECTATION_FAILED',
  detail: 'The field Expect can only be 100-continue.',
}

export const NO_TUNNEL: Problem = { code: 'NOT_IMPLEMENTED', detail: 'The service is not a proxy.' }

const OTHER_VERSION: Problem = {
  code: 'HTTP_VERSION_NOT_SUPPORTED',
  detail: 'The service speaks HTTP/1.1 and HTTP/1.0.',
}

const NOT_HTTP: Problem = { code: 'MALFORMED_REQUEST', detail: 'The bytes are not a request of HTTP/1.1.' }

/** What the field `Expect` of a request asks for. */
export type Expects = 'nothing' | '100-continue' | 'something'

/** Why the end of a request, or the host that it is for, is not certain; `null` for other requests. */
export function framingProblem(
  { httpVersionMajor, httpVersionMinor }: IncomingMessage,
  asked: ServiceRequest,
): Problem | null {
  if (httpVersionMajor !== 1) {
    // HTTP/0.9 has no version and no header.
    return httpVersionMajor === 0 ? NOT_HTTP : OTHER_VERSION
  }
  const coding = asked.get('transfer-encoding')
  const isOld = httpVersionMinor === 0
  if (coding !== null && isOld) {
    // RFC 9112 section 6.1: the framing is faulty. A proxy in front may have read it in another way.
    return { code: 'MALFORMED_REQUEST', detail: 'HTTP/1.0 has no Transfer-Encoding.' }
  }
  if (coding !== null && coding.toLowerCase() !== 'chunked') {
    // RFC 9112 section 6.3: where chunked is not the last coding, nobody knows where the body ends.
    if (!/(^|[,\s])chunked$/i.test(coding)) return MALFORMED
    return { code: 'NOT_IMPLEMENTED', detail: 'The only transfer coding is chunked.' }
  }
  const host = asked.get('host')
  // A proxy may have read another of several Host lines (RFC 9112 section 3.2).
  if (host === null ? !isOld : host.includes(',')) return MALFORMED
  return null
}

/** Why Node's parser refused bytes. */
export function parserProblem(error: NodeJS.ErrnoException & { readonly reason?: string }): Problem {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        code: 'HEADER_TOO_LARGE',
        detail: 'The request line and the header fields have too many bytes.',
      }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { code: 'TOO_LARGE', detail: 'The chunk extensions have too many bytes.' }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'REQUEST_TIMEOUT', detail: 'The request did not arrive in time.' }
    case 'HPE_INVALID_VERSION':
      // The code also stands for text that is not a version.
      return error.reason === 'Invalid HTTP version' ? OTHER_VERSION : NOT_HTTP
    default:
      return NOT_HTTP
  }
}

/** Letters, digits and what identifiers of tracing systems and Base64 have: nothing that needs quotes in a log. */
const REQUEST_ID = /^[\w.:+/=@-]{1,128}$/

/** @param sent the client's identifier, which is used if it is well formed */
export function requestId(sent: string | null): string {
  return sent !== null && REQUEST_ID.test(sent) ? sent : randomUUID()
}
