// What the server itself refuses, before the service has a request.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { HeaderFields, ServiceRequest } from '../../http/exchange.ts'
import type { Problem } from '../../http/problem.ts'

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
