// Who may ask: keys, their plans and their budgets.
import { CLIENT } from '../location/database-set.ts'
import type { PlatformRequest } from '../realm.ts'
import type { Resolver } from '../resolver.ts'
import { chain, type HeaderFields, type MaybePromise, type ServiceRequest } from './exchange.ts'
import type { Problem } from './problem.ts'
import type { LimitDecision, Plan, PlanTable, RateLimits } from './rate-limit.ts'

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

/** Finds the owner of a key, or `null` for an invalid key. `Source` is the form of the service's requests. */
export type FindOwner<Source extends ServiceRequest> = (
  key: string,
  asked: Source,
) => MaybePromise<KeyOwner | null>

/** What admission finds out about a request. It fills in the members, because a refused request has them too. */
export interface AdmissionFacts {
  /** The `id` of the key, if the request has a valid one. */
  keyId: string | null
  /** The address of the client, for a request without a valid key; empty if it is not known. */
  client: string | undefined
  /** The RateLimit fields. */
  headers: HeaderFields
}

/** Finds the plan of a request by its key, and counts the request. */
export class Admission<Source extends ServiceRequest> {
  /** @param findOwner `null` to admit everyone */
  constructor(
    private readonly resolver: Resolver,
    private readonly findOwner: FindOwner<Source> | null,
    private readonly plans: PlanTable,
    private readonly limits: RateLimits,
  ) {}

  /**
   * @returns the plan of the request, or why it is refused
   * @throws what `findOwner` or the store of the limits throws
   */
  admit(
    asked: Source,
    remoteAddress: string | null | undefined,
    facts: AdmissionFacts,
  ): MaybePromise<Plan | Problem> {
    const { highest, lowest } = this.plans
    /** Limits a request by its client, and not by its peer, because a proxy's clients share one. */
    const byClient = <Answer>(plan: Plan, answer: Answer): MaybePromise<Answer | Problem> => {
      facts.client = this.resolver[CLIENT]({ headers: asked, remoteAddress })
      return this.#count(plan, this.limits.peerName(facts.client || remoteAddress), facts, answer)
    }
    if (this.findOwner === null) return byClient(highest, highest)
    const key = bearerKey(asked)
    if (typeof key !== 'string') return byClient(lowest, key)
    return chain(this.findOwner(key, asked), (owner): MaybePromise<Plan | Problem> => {
      if (owner === null || owner === undefined) {
        const detail = 'The API key is not valid: it is mistyped, revoked or expired.'
        return byClient(lowest, unauthenticated(detail, true))
      }
      const plan = this.plans.named(owner.plan)
      if (plan === undefined)
        throw new TypeError('authenticate returned a plan that is not in the option plans')
      if (typeof owner.id !== 'string' || owner.id === '')
        throw new TypeError('authenticate must return an id, by which the requests of the key are counted')
      facts.keyId = owner.id
      return this.#count(plan, `key:${owner.id}`, facts, plan)
    })
  }

  /** Counts a request in the budget of a key or a client. @returns `answer` if the budget allows the request */
  #count<Answer>(
    plan: Plan,
    who: string,
    facts: AdmissionFacts,
    answer: Answer,
  ): MaybePromise<Answer | Problem> {
    return chain<LimitDecision, Answer | Problem>(this.limits.count(plan, who), ({ allowed, headers }) => {
      facts.headers = headers
      return allowed
        ? answer
        : { code: 'RATE_LIMITED', detail: 'Wait as long as Retry-After says, in seconds.' }
    })
  }
}

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
function bearerKey(asked: ServiceRequest): string | Problem {
  const field = asked.get('authorization')
  const key = field !== null && field.length <= MAX_KEY_CHARS ? BEARER.exec(field)?.[1] : undefined
  if (key !== undefined) return key
  return field !== null && BEARER_WITH_TOKEN.test(field)
    ? unauthenticated('The Authorization field must be "Bearer" and one API key.', true)
    : unauthenticated('Send the API key as "Authorization: Bearer <key>".', false)
}

/** @param hasToken whether the request had a token: RFC 6750 section 3.1 allows an error code only then */
function unauthenticated(detail: string, hasToken: boolean): Problem {
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
