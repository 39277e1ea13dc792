// Requests and answers over Node's own objects, because to make Fetch objects takes much of the time of an answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { joined, type Reply, type ServiceRequest } from '../../http/exchange.ts'
import { urlOf } from '../../http/node-listener.ts'
import { type Problem, phraseOf } from '../../http/problem.ts'
import { targetProblem } from '../../http/route.ts'
import { MALFORMED } from './refusals.ts'

/** A target and a host that URL parsing does not change: no empty or dot segments, nothing encoded. Most are, and parsing takes time. */
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
  readonly #incoming: IncomingMessage
  #waiting: ServerResponse | null
  readonly #received: (bytes: number) => void

  /**
   * @param waiting the answer to a client that sends the body only after "100 Continue"; `null` for others
   * @param received is called with the bytes of each part of the body
   */
  constructor(
    incoming: IncomingMessage,
    waiting: ServerResponse | null = null,
    received: (bytes: number) => void = () => {},
  ) {
    const { method = '', url: target = '' } = incoming
    this.#incoming = incoming
    this.#waiting = waiting
    this.#received = received
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
    return this.#waiting === null
  }

  /** Joins repeated lines, as Fetch does. Node's own `headers` drops those of some fields. */
  get(name: string): string | null {
    const { rawHeaders } = this.#incoming
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
    this.#waiting?.writeContinue()
    this.#waiting = null
    const chunks: Uint8Array[] = []
    let length = 0
    // Otherwise, the end of the loop would close the connection.
    for await (const chunk of this.#incoming.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      this.#received(chunk.length)
      if (length > maxBytes) return null
      chunks.push(chunk)
    }
    return joined(chunks, length)
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

/**
 * Sends an answer. Text is encoded here: Node takes longer to write it together with the header.
 *
 * @returns the length of the body
 */
export function send({ status, headers, body }: Reply, outgoing: ServerResponse): number {
  if (body === null) {
    outgoing.writeHead(status, [...headers]).end()
    return 0
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  outgoing.writeHead(status, [...headers, 'content-length', String(bytes.length)]).end(bytes)
  return bytes.length
}
