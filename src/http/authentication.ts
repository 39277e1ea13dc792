import type { PlatformRequest } from '../realm.ts'
import type { HeaderFields, ServiceRequest } from './exchange.ts'
import type { Problem } from './problem.ts'

/** The owner of a key. */
export interface KeyOwner {
  /** The name of the key's plan. */
  readonly plan: string
  /** A name of the key that is not secret: its requests are counted by it. */
  readonly id: string
}

/**
 * The program's function that finds the owner of a key.
 *
 * @returns `null` when the key is not valid
 */
export type Authenticate = (
  key: string,
  request: PlatformRequest,
) => KeyOwner | null | Promise<KeyOwner | null>

/** RFC 6750 section 2.1: the scheme, which is case-insensitive, and the token. */
const BEARER = /^bearer +([\w.~+/-]+=*)$/i
const BEARER_WITH_TOKEN = /^bearer +\S/i

/** Longer fields are refused unread. */
const MAX_KEY_CHARS = 512

/**
 * Reads the key of a request.
 *
 * @returns the key, or why there is none. Several `Authorization` fields are refused: they are joined by commas
 */
export function bearerKey(asked: ServiceRequest): string | Problem {
  const field = asked.get('authorization')
  const key = field !== null && field.length <= MAX_KEY_CHARS ? BEARER.exec(field)?.[1] : undefined
  if (key !== undefined) return key
  return field !== null && BEARER_WITH_TOKEN.test(field)
    ? unauthenticated('The Authorization field must be "Bearer" and one API key.', true)
    : unauthenticated('Send the API key as "Authorization: Bearer <key>".', false)
}

/** @param hasToken whether the request had a token: RFC 6750 section 3.1 allows an error code only then */
export function unauthenticated(detail: string, hasToken: boolean): Problem {
  return { code: 'UNAUTHENTICATED', detail, headers: challenge(hasToken ? 'invalid_token' : null) }
}

/**
 * The header field of each refusal that a better key would prevent. RFC 6750 section 3 requires at least one parameter.
 *
 * @param error a code of RFC 6750 section 3.1; `null` if the request had no token
 */
export function challenge(error: 'invalid_token' | 'insufficient_scope' | null): HeaderFields {
  const realm = 'Bearer realm="geofix"'
  return ['www-authenticate', error === null ? realm : `${realm}, error="${error}"`]
}
