// Requests and answers over Node's own objects, because to make Fetch objects takes much of the time of an answer.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { FetchServiceRequest, joined, type Reply, type ServiceRequest } from '../../http/exchange.ts'
import { phraseOf } from '../../http/problem.ts'

/** A target that URL parsing does not change: no empty or dot segments, nothing encoded. */
const PLAIN_TARGET = /^(?:\/[\w:-][\w.:-]*)+(?:\?[\w.=&-]*)?$/
const PLAIN_HOST = /^[a-z\d-]+(?:\.[a-z\d-]+)*(?::\d{1,5})?$/i
/** Requests with longer bodies are not plain. */
const MAX_PLAIN_BODY_BYTES = 1024 * 1024

/** A request of Node's server. */
export class NodeServiceRequest implements ServiceRequest {
  readonly #incoming: IncomingMessage
  #waiting: ServerResponse | null
  /** Is called with the bytes of each part of the body. */
  readonly received: (bytes: number) => void

  /**
   * @param waiting the answer to a client that sends the body only after "100 Continue"; `null` for others
   * @param received is called with the bytes of each part of the body
   */
  constructor(
    incoming: IncomingMessage,
    waiting: ServerResponse | null = null,
    received: (bytes: number) => void = () => {},
  ) {
    this.#incoming = incoming
    this.#waiting = waiting
    this.received = received
  }

  /** Whether the client sends the body: it always does if it did not ask. */
  get isContinued(): boolean {
    return this.#waiting === null
  }

  /** Tells the client to send the body. The body of a request without a valid key is not read, so it is not asked for. */
  continue(): void {
    this.#waiting?.writeContinue()
    this.#waiting = null
  }

  get method(): string {
    return this.#incoming.method ?? ''
  }

  get url(): string {
    return this.#incoming.url ?? ''
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

  async body(maxBytes: number): Promise<Uint8Array | null> {
    if (Number(this.get('content-length')) > maxBytes) return null
    this.continue()
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of this.#incoming) {
      chunks.push(chunk)
      length += chunk.length
      this.received(chunk.length)
    }
    return joined(chunks, length)
  }

  /**
   * Whether target, host and body are so simple that this class reads them as a Fetch `Request` would. Other requests
   * are answered over Fetch objects.
   */
  get isPlain(): boolean {
    if (!PLAIN_TARGET.test(this.url) || !PLAIN_HOST.test(this.get('host') ?? '')) return false
    if (this.get('transfer-encoding') !== null) return false
    const length = this.get('content-length')
    if (this.method === 'GET' || this.method === 'HEAD') return length === null
    return this.method === 'POST' && length !== null && Number(length) <= MAX_PLAIN_BODY_BYTES
  }
}

/** A request that is read over Fetch objects. */
export class ContinuedFetch extends FetchServiceRequest {
  readonly #asked: NodeServiceRequest

  constructor(request: Request, asked: NodeServiceRequest) {
    super(request)
    this.#asked = asked
  }

  override async body(maxBytes: number): Promise<Uint8Array | null> {
    if (Number(this.get('content-length')) > maxBytes) return null
    this.#asked.continue()
    return super.body(maxBytes)
  }

  protected override received(bytes: number): void {
    this.#asked.received(bytes)
  }
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
