// Plans, and the budgets of requests that they have.
import { Address } from '../address/address.ts'
import { memberOf } from '../client/request-source.ts'
import { quoted } from '../errors.ts'
import { checkOptionNames, type NamesOf } from '../option-names.ts'
import { isError } from '../realm.ts'
import { chain, type HeaderFields, type MaybePromise } from './exchange.ts'

/** A tier of the service: what its keys may do. */
export interface Plan {
  readonly name: string
  /** Requests a second that a key may send on average. Above 0. */
  readonly rate: number
  /** Requests that a key may send at once: the budget of a window of `burst / rate` seconds. At least `rate`. */
  readonly burst: number
  /** The most addresses in one batch. */
  readonly batch: number
}

const PLAN_MEMBERS: NamesOf<Plan> = { name: true, rate: true, burst: true, batch: true }

/** The default plans, from the lowest to the highest. */
export const DEFAULT_PLANS: readonly Plan[] = [
  { name: 'free', rate: 10, burst: 20, batch: 0 },
  { name: 'developer', rate: 100, burst: 200, batch: 1000 },
  { name: 'business', rate: 10_000, burst: 20_000, batch: 1000 },
]

const DEFAULT_LOOKUP_PLAN = 'developer'

/** The name of a plan is part of a header field and of a key of a store. */
export const PLAN_NAME = /^[a-z0-9_-]{1,40}$/i

/** The plans of a service, and their order. */
export class PlanTable {
  readonly lowest: Plan
  readonly highest: Plan
  readonly all: readonly Plan[]
  readonly #lookupRank: number

  /** @throws TypeError when there is no plan, two have one name, a number is out of range, or none is named `lookupPlan` */
  constructor(
    plans: readonly Plan[] = DEFAULT_PLANS,
    /** The name of the lowest plan with lookup and batch. */
    readonly lookupPlan = DEFAULT_LOOKUP_PLAN,
  ) {
    if (!Array.isArray(plans)) throw new TypeError('plans must be an array of plans, from the lowest')
    const all: readonly Plan[] = plans.map(checked)
    const [lowest] = all
    const highest = all.at(-1)
    if (lowest === undefined || highest === undefined)
      throw new TypeError('plans must have at least one plan')
    this.all = all
    this.lowest = lowest
    this.highest = highest
    const names = all.map(({ name }) => name)
    if (new Set(names).size < all.length) throw new TypeError('plans: two plans have the same name')
    this.#lookupRank = names.indexOf(lookupPlan)
    if (this.#lookupRank === -1)
      throw new TypeError(`no plan is named ${quoted(lookupPlan)}: add it to plans, or set lookupPlan`)
  }

  named(name: unknown): Plan | undefined {
    return this.all.find((plan) => plan.name === name)
  }

  /** Whether one of the plans includes lookup and batch. */
  includesLookup(plan: Plan): boolean {
    return this.all.indexOf(plan) >= this.#lookupRank
  }
}

/** Counts that processes share expire by timers, which count milliseconds in 31 bits. All counts in memory have this limit. */
const MAX_MEMORY_WINDOW_SECONDS = (2 ** 31 - 1) / 1000

/** @throws TypeError when the window of a plan is too long to be counted in the memory of a process */
export function checkMemoryWindow({ name, rate, burst }: Plan): void {
  if (burst / rate <= MAX_MEMORY_WINDOW_SECONDS) return
  throw new TypeError(
    `plan ${name}: burst / rate must be at most 24 days where requests are counted in memory; a limiter with a store can have more`,
  )
}

function checked(plan: Plan): Plan {
  if (typeof plan !== 'object' || plan === null) {
    throw new TypeError('plans: each must be { name, rate, burst, batch }')
  }
  checkOptionNames('a plan', plan, PLAN_MEMBERS)
  const { name, rate, burst, batch } = plan
  if (typeof name !== 'string' || !PLAN_NAME.test(name)) {
    throw new TypeError('plans: a name must be 1 to 40 letters, digits, "-" and "_"')
  }
  if (!(Number.isFinite(rate) && rate > 0)) throw new TypeError(`plan ${name}: rate must be a number above 0`)
  if (!(Number.isSafeInteger(burst) && burst >= rate)) {
    throw new TypeError(`plan ${name}: burst must be a whole number, at least rate`)
  }
  if (!(Number.isSafeInteger(batch) && batch >= 0)) {
    throw new TypeError(`plan ${name}: batch must be a whole number of addresses`)
  }
  return Object.freeze({ name, rate, burst, batch })
}

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

/** The budget after a request was counted. */
interface CountedBudget extends Budget {
  readonly allowed: boolean
}

/** Whether the budget allowed a request, and the RateLimit fields of draft-ietf-httpapi-ratelimit-headers-10. */
export interface LimitDecision {
  readonly allowed: boolean
  readonly headers: HeaderFields
}

/** The name of the network by which a client is counted. IPv6 counts by /64, because a host can use all addresses of its own. */
export function clientNetwork({ version, text, words }: Address): string {
  return version === 4 ? text : `${words[0]?.toString(16)}:${words[1]?.toString(16)}`
}

/**
 * Makes the limiter of a plan.
 *
 * @param window seconds in which `plan.burst` requests are allowed
 */
export type MakeLimiter = (plan: Plan, window: number) => RateLimiter

/** The limiters of all plans. */
export class RateLimits {
  readonly #limits = new Map<
    Plan,
    {
      readonly count: (who: string) => MaybePromise<CountedBudget>
      readonly seconds: number
      readonly policy: string
    }
  >()
  readonly #address = new Address()

  constructor(plans: PlanTable, make?: MakeLimiter) {
    if (make !== undefined && typeof make !== 'function') {
      throw new TypeError('limiter must be a function that makes the limiter of a plan')
    }
    for (const plan of plans.all) {
      const window = plan.burst / plan.rate
      const count = make === undefined ? inMemory(plan, window) : inStore(make(plan, window))
      const seconds = Math.ceil(window)
      this.#limits.set(plan, { count, seconds, policy: `"${plan.name}";q=${plan.burst};w=${seconds}` })
    }
  }

  /** Counts a request in the budget of a key or a client. @throws the error of the store */
  count(plan: Plan, who: string): MaybePromise<LimitDecision> {
    const limit = this.#limits.get(plan)
    if (limit === undefined) throw new TypeError(`the plan ${plan.name} has no limiter`)
    return chain(limit.count(who), ({ allowed, remainingPoints, msBeforeNext }) => {
      // The clock of a store can change. Nobody has to wait for longer than a window.
      const seconds = Math.min(limit.seconds, Math.max(1, Math.ceil(msBeforeNext / 1000)))
      const left = `"${plan.name}";r=${Math.max(0, remainingPoints)};t=${seconds}`
      const headers = ['ratelimit-policy', limit.policy, 'ratelimit', left]
      if (!allowed) headers.push('retry-after', String(seconds))
      return { allowed, headers }
    })
  }

  /** The name of a peer's budget. */
  peerName(address: string | null | undefined): string {
    if (!this.#address.parse(address)) return 'peer:unknown'
    return `peer:${clientNetwork(this.#address)}`
  }
}

function inMemory(plan: Plan, window: number): (who: string) => CountedBudget {
  checkMemoryWindow(plan)
  const { burst } = plan
  const counts = new WindowCounts(window * 1000)
  return (who) => {
    const { count, msBeforeNext } = counts.add(who)
    return { allowed: count <= burst, remainingPoints: burst - count, msBeforeNext }
  }
}

function inStore(limiter: RateLimiter): (who: string) => Promise<CountedBudget> {
  if (typeof limiter?.consume !== 'function') {
    throw new TypeError('limiter must return an object with consume(), such as a RateLimiterRedis')
  }
  return async (who) => {
    try {
      return counted(true, await limiter.consume(who, 1))
    } catch (rejected) {
      if (isError(rejected)) throw rejected
      return counted(false, rejected)
    }
  }
}

/** @throws TypeError when what a limiter said is not a budget, as of a store that answers with something else */
function counted(allowed: boolean, budget: unknown): CountedBudget {
  const [remainingPoints, msBeforeNext] = ['remainingPoints', 'msBeforeNext'].map((name) =>
    memberOf(budget, name),
  )
  if (Number.isFinite(remainingPoints) && Number.isFinite(msBeforeNext))
    return { allowed, remainingPoints: Number(remainingPoints), msBeforeNext: Number(msBeforeNext) }
  throw new TypeError('the limiter gave no budget: remainingPoints and msBeforeNext must be numbers')
}

/** What a window has after a request. */
export interface WindowCount {
  /** The requests so far, this one included. */
  readonly count: number
  /** The milliseconds until the window ends. */
  readonly msBeforeNext: number
}

/** A window of a key or a client, which starts with its first request. */
interface Window {
  count: number
  /** When it ends, by the monotonic clock. */
  readonly until: number
}

/**
 * Counts requests in windows of the same length. The clock is monotonic: a change of the system's clock neither fills a
 * budget nor makes anyone wait.
 */
export class WindowCounts {
  // Two maps are replaced in turn, so that entries expire together, without a timer for each.
  #current = new Map<string, Window>()
  #previous = new Map<string, Window>()
  #startedAt = performance.now()

  /** @param ms the length of a window in milliseconds */
  constructor(private readonly ms: number) {}

  /** Counts a request. */
  add(who: string): WindowCount {
    const now = performance.now()
    this.#forget(now)
    let window = this.#current.get(who) ?? this.#previous.get(who)
    if (window === undefined || window.until <= now) {
      window = { count: 0, until: now + this.ms }
      this.#current.set(who, window)
    }
    window.count++
    return { count: window.count, msBeforeNext: window.until - now }
  }

  /** Forgets windows that have ended. Memory is bounded by the requests of two windows. */
  #forget(now: number): void {
    const elapsed = now - this.#startedAt
    if (elapsed < this.ms) return
    this.#previous = elapsed < 2 * this.ms ? this.#current : new Map()
    this.#current = new Map()
    this.#startedAt = now
  }
}
