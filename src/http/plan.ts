import { quoted } from '../errors.ts'
import { checkOptionNames, type NamesOf } from '../option-names.ts'

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
  /** The name of the lowest plan with lookup and batch. */
  readonly lookupPlan: string
  readonly all: readonly Plan[]
  readonly #ranks: ReadonlyMap<string, number>
  readonly #lookupRank: number

  /** @throws TypeError when there is no plan, two have one name, a number is out of range, or none is named `lookupPlan` */
  constructor(plans: readonly Plan[] = DEFAULT_PLANS, lookupPlan = DEFAULT_LOOKUP_PLAN) {
    if (!Array.isArray(plans)) throw new TypeError('plans must be an array of plans, from the lowest')
    const all: readonly Plan[] = plans.map(checked)
    const [lowest] = all
    const highest = all.at(-1)
    if (lowest === undefined || highest === undefined)
      throw new TypeError('plans must have at least one plan')
    this.all = all
    this.lowest = lowest
    this.highest = highest
    this.#ranks = new Map(all.map(({ name }, rank) => [name, rank]))
    if (this.#ranks.size < all.length) throw new TypeError('plans: two plans have the same name')
    const rank = this.#ranks.get(lookupPlan)
    if (rank === undefined) {
      throw new TypeError(`no plan is named ${quoted(lookupPlan)}: add it to plans, or set lookupPlan`)
    }
    this.lookupPlan = lookupPlan
    this.#lookupRank = rank
  }

  named(name: unknown): Plan | undefined {
    const rank = typeof name === 'string' ? this.#ranks.get(name) : undefined
    return rank === undefined ? undefined : this.all[rank]
  }

  /** Whether the plan includes lookup and batch. */
  includesLookup({ name }: Plan): boolean {
    return (this.#ranks.get(name) ?? -1) >= this.#lookupRank
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
