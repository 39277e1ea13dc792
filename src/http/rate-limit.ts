// The only importer of rate-limiter-flexible, which is bundled into the output of geofix/http.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import { Address } from '../address/address.ts'
import type { Plan, PlanTable } from './plan.ts'
import type { HeaderFields } from './problem.ts'

/** What is left of a budget. A `RateLimiterRes` of rate-limiter-flexible is one. */
export interface Budget {
  readonly remainingPoints: number
  /** Milliseconds until the budget is full again. */
  readonly msBeforeNext: number
}

/**
 * Counts requests. A limiter of rate-limiter-flexible is one, such as `RateLimiterMemory` or `RateLimiterRedis`:
 * `consume` rejects with a {@link Budget} if nothing is left, and with an `Error` if the store fails.
 */
export interface RateLimiter {
  consume(key: string, points: number): Promise<Budget>
}

/**
 * Makes the limiter of a plan.
 *
 * @param window seconds in which `plan.burst` requests are allowed
 */
export type MakeLimiter = (plan: Plan, window: number) => RateLimiter

/** The limiters of all plans. */
export class RateLimits {
  readonly #limits = new Map<Plan, { readonly limiter: RateLimiter; readonly policy: string }>()
  readonly #address = new Address()

  constructor(plans: PlanTable, make: MakeLimiter = inMemory) {
    for (const plan of plans.all) {
      const window = plan.burst / plan.rate
      const limiter = make(plan, window)
      if (typeof limiter?.consume !== 'function') {
        throw new TypeError('limiter must return an object with consume(), such as a RateLimiterRedis')
      }
      this.#limits.set(plan, { limiter, policy: `"${plan.name}";q=${plan.burst};w=${Math.ceil(window)}` })
    }
  }

  /**
   * Takes one request from the budget of a key or a peer.
   *
   * @returns whether it was left, and the RateLimit fields of draft-ietf-httpapi-ratelimit-headers-10
   * @throws the error of the store
   */
  async take(
    plan: Plan,
    who: string,
  ): Promise<{ readonly allowed: boolean; readonly headers: HeaderFields }> {
    const limit = this.#limits.get(plan)
    if (limit === undefined) throw new TypeError(`the plan ${plan.name} has no limiter`)
    let allowed = true
    let budget: Budget
    try {
      budget = await limit.limiter.consume(who, 1)
    } catch (rejected) {
      if (!isBudget(rejected)) throw rejected
      allowed = false
      budget = rejected
    }
    const seconds = Math.max(1, Math.ceil(budget.msBeforeNext / 1000))
    const left = `"${plan.name}";r=${Math.max(0, budget.remainingPoints)};t=${seconds}`
    const headers: Record<string, string> = { 'ratelimit-policy': limit.policy, ratelimit: left }
    if (!allowed) headers['retry-after'] = String(seconds)
    return { allowed, headers }
  }

  /** The name of a peer's budget. IPv6 hosts have a network of 64 bits to themselves, so that is what counts. */
  peerName(address: string | null | undefined): string {
    if (!this.#address.parse(address)) return 'peer:unknown'
    const { version, text, words } = this.#address
    return version === 4 ? `peer:${text}` : `peer:${words[0]?.toString(16)}:${words[1]?.toString(16)}`
  }
}

/** Entries expire with their window, so that memory is bounded by the requests of one window. */
function inMemory({ name, burst }: Plan, window: number): RateLimiter {
  return new RateLimiterMemory({ points: burst, duration: window, keyPrefix: name })
}

function isBudget(value: unknown): value is Budget {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Error) &&
    'remainingPoints' in value &&
    'msBeforeNext' in value
  )
}
