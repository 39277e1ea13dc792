// Problem details of RFC 9457: every answer of the service that is not a success.
import type { UnavailableReason, UnresolvableReason } from '../errors.ts'
import { type HeaderFields, type Reply, replyTo } from './exchange.ts'

/** The status and the title of each problem. `code` is stable: programs tell problems apart by it. */
export const PROBLEMS = {
  MALFORMED_ADDRESS: [400, 'The address is malformed'],
  INVALID_LOCALE: [400, 'The locale is not a BCP 47 language tag'],
  MALFORMED_REQUEST: [400, 'The request is malformed'],
  UNAUTHENTICATED: [401, 'A valid API key is required'],
  PLAN_REQUIRED: [403, 'The plan does not include this operation'],
  NOT_FOUND: [404, 'There is no such operation'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed'],
  TOO_LARGE: [413, 'The request is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The media type is not supported'],
  UNRESOLVABLE_ADDRESS: [422, 'The address cannot be resolved'],
  RATE_LIMITED: [429, 'There were too many requests'],
  INTERNAL_ERROR: [500, 'The service failed'],
  STOPPING: [503, 'The service is stopping'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof PROBLEMS

/** An answer without a record. Data, not an `Error`: a refused request costs no stack trace. */
export interface Problem {
  readonly code: ProblemCode
  readonly detail: string
  /** Why an address cannot be resolved. */
  readonly reason?: UnresolvableReason | UnavailableReason | undefined
  /** Header fields of this problem only. */
  readonly headers?: HeaderFields
}

/**
 * The answer to a request with this problem.
 *
 * @param fields more header fields
 */
export function problemReply(problem: Problem, method: string, fields: HeaderFields = []): Reply {
  const { code, detail, reason, headers = [] } = problem
  const [status, title] = PROBLEMS[code]
  // `about:blank` is the type of problems that their status and `code` describe.
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code, reason })
  const common = ['content-type', 'application/problem+json', 'cache-control', 'no-store']
  return replyTo(method, status, body, [...common, ...fields, ...headers])
}

export function isProblem(value: object): value is Problem {
  return 'code' in value && 'detail' in value
}
