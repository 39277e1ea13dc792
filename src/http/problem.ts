// Problem details of RFC 9457: every answer of the service that is not a success.
import type { UnavailableReason, UnresolvableReason } from '../errors.ts'
import { type HeaderFields, NO_SNIFFING, type Reply, replyTo } from './exchange.ts'

/** The status of each problem, and what it means. `code` is stable: programs tell problems apart by it. */
export const PROBLEMS = {
  MALFORMED_ADDRESS: [400, 'The address is malformed'],
  INVALID_LOCALE: [400, 'The locale is not a BCP 47 language tag'],
  INVALID_FIELDS: [400, 'There is no such field'],
  MALFORMED_REQUEST: [400, 'The request is malformed'],
  UNAUTHENTICATED: [401, 'A valid API key is required'],
  PLAN_REQUIRED: [403, 'The plan does not include this operation'],
  NOT_FOUND: [404, 'There is no such operation'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed'],
  REQUEST_TIMEOUT: [408, 'The request took too long'],
  TOO_LARGE: [413, 'The request is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The media type is not supported'],
  EXPECTATION_FAILED: [417, 'The expectation is not supported'],
  UNRESOLVABLE_ADDRESS: [422, 'The address cannot be resolved'],
  RATE_LIMITED: [429, 'There were too many requests'],
  HEADER_TOO_LARGE: [431, 'The header is too large'],
  INTERNAL_ERROR: [500, 'The service failed'],
  NOT_IMPLEMENTED: [501, 'The method or the transfer coding is not supported'],
  STOPPING: [503, 'The service is stopping'],
  HTTP_VERSION_NOT_SUPPORTED: [505, 'The version of HTTP is not supported'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>

/** The status phrases of RFC 9110 and RFC 6585. Node's `STATUS_CODES` has older ones, and is not everywhere. */
const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
}

export type ProblemCode = keyof typeof PROBLEMS

/** The phrase of the status of a problem. */
export function phraseOf(status: number): string {
  return PHRASES[status] ?? ''
}

const COMMON: HeaderFields = [
  ...['content-type', 'application/problem+json'],
  ...['cache-control', 'no-store'],
  ...NO_SNIFFING,
]

/** An answer without a record. Data, not an `Error`: a refused request costs no stack trace. */
export interface Problem {
  readonly code: ProblemCode
  readonly detail: string
  /** Why an address cannot be resolved. */
  readonly reason?: UnresolvableReason | UnavailableReason | undefined
  /** Header fields of this problem only. */
  readonly headers?: HeaderFields
}

/** The cause is known to the operator only. */
export const FAULT: Problem = {
  code: 'INTERNAL_ERROR',
  detail: 'The fault is in the service, not in the request.',
}

/**
 * The answer to a request with this problem.
 *
 * @param fields more header fields
 */
export function problemReply(problem: Problem, method: string, fields: HeaderFields = []): Reply {
  const { code, detail, reason, headers = [] } = problem
  const [status] = PROBLEMS[code]
  // The title of the type `about:blank` is the status phrase (RFC 9457 section 4.2.1).
  const body = JSON.stringify({ type: 'about:blank', title: phraseOf(status), status, detail, code, reason })
  return replyTo(method, status, body, [...COMMON, ...fields, ...headers])
}

/** @param allow the methods that a path has */
export function notAllowed(allow: string): Problem {
  return { code: 'METHOD_NOT_ALLOWED', detail: `Use ${allow}.`, headers: ['allow', allow] }
}

export function isProblem(value: object): value is Problem {
  return 'code' in value && 'detail' in value
}
