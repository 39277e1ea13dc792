import { isGeofixError } from '../errors.ts'
import {
  isLookupFailure,
  type LocationRecord,
  type LookupFailure,
  type LookupResult,
} from '../location/location-record.ts'
import type { Resolver } from '../resolver.ts'
import { type Authenticate, bearerKey, unauthenticated } from './authentication.ts'
import { readBatch, tooManyItems } from './batch-body.ts'
import { type AllowedOrigins, Cors } from './cors.ts'
import { chain, isPromise, type MaybePromise } from './maybe-promise.ts'
import { type Plan, PlanTable } from './plan.ts'
import { type HeaderFields, isProblem, type Problem, problemResponse, responseTo } from './problem.ts'
import { type MakeLimiter, RateLimits, type Taken } from './rate-limit.ts'
import { type Operation, type Route, routeOf } from './route.ts'

/** What a runtime knows of a request, beside the `Request`. */
export interface RequestInfo {
  /** The address of the socket's peer, without a port; `null` or absent if the runtime does not know it. */
  readonly remoteAddress?: string | null | undefined
}

/** What was answered, for metrics and logs. Has no key, no address that was looked up and no text of the caller. */
export interface Answer {
  /** `null` if the path has none. */
  readonly operation: Operation | null
  readonly status: number
  /** The `id` of the key, if the request had a valid one. */
  readonly keyId: string | null
  /** How many addresses were found, and how many failed by `reason` or `code`. */
  readonly outcomes: Readonly<Record<string, number>>
  /** From the call of the handler to the answer. */
  readonly milliseconds: number
  readonly remoteAddress: string | null
}

export interface HandlerOptions {
  /** Knows the keys; see `createKeyFile`. `null` serves everyone, without keys: say so only for a private network. */
  readonly authenticate: Authenticate | null
  /** From the lowest to the highest. Default: `free`, `developer`, `business`. */
  readonly plans?: readonly Plan[] | undefined
  /** The name of the lowest plan with lookup and batch. Default: `developer`. */
  readonly lookupPlan?: string | undefined
  /** Where requests are counted. Default: in the memory of this process. */
  readonly limiter?: MakeLimiter | undefined
  /** The most addresses in a batch, whatever the plan. Default: 1000. */
  readonly maxBatch?: number | undefined
  /** The most bytes of a body, counted while it is read. Default: 1,048,576. */
  readonly maxBodyBytes?: number | undefined
  /** Web pages that may read answers: `'*'` or a list of origins. Default: none, and `OPTIONS` is refused. */
  readonly cors?: AllowedOrigins | undefined
  /** What precedes `/v1` in the path, such as `/geo`. Default: nothing. */
  readonly basePath?: string | undefined
  /** When it is aborted, each new request is answered with 503. */
  readonly signal?: AbortSignal | undefined
  /** Is called with each exception that was answered with 500, and with damage of the database. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Is called with each answer. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined
}

export type Handler = (request: Request, info?: RequestInfo) => Promise<Response>

const DEFAULT_MAX_BATCH = 1000
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

/** Every answer is about one caller or one key. */
const SUCCESS: HeaderFields = { 'content-type': 'application/json', 'cache-control': 'private, no-store' }

/**
 * Answers the operations of the service: `GET /v1/ip`, `GET /v1/ip/{ip}` and `POST /v1/ip/batch`. The returned function
 * takes a Fetch `Request`, never throws, and needs no framework.
 *
 * @throws TypeError when an option is invalid
 */
export function createHandler(resolver: Resolver, options: HandlerOptions): Handler {
  const answer = createAnswer(resolver, options)
  return async (request, info) => answer(request, info)
}

/** As {@link createHandler}; the answer comes without a promise if nothing has to be waited for. */
export function createAnswer(
  resolver: Resolver,
  options: HandlerOptions,
): (request: Request, info?: RequestInfo) => MaybePromise<Response> {
  const service = new Service(resolver, options)
  return (request, info = {}) => service.answer(request, info)
}

/** What an operation made of a request. A text is the JSON of a success. */
type Outcome = string | Problem

/** What is known about a request so far. */
interface Progress {
  operation: Operation | null
  keyId: string | null
  headers: HeaderFields
  outcomes: Record<string, number>
}

class Service {
  readonly #resolver: Resolver
  readonly #authenticate: Authenticate | null
  readonly #plans: PlanTable
  readonly #limits: RateLimits
  readonly #maxBatch: number
  readonly #maxBodyBytes: number
  readonly #cors: Cors | null
  readonly #basePath: string
  readonly #signal: AbortSignal | undefined
  readonly #onError: (error: unknown) => void
  readonly #onAnswer: ((answer: Answer) => void) | undefined

  constructor(resolver: Resolver, options: HandlerOptions) {
    const { authenticate, basePath = '', cors, signal, onError, onAnswer } = options ?? {}
    if (authenticate !== null && typeof authenticate !== 'function') {
      throw new TypeError(
        'authenticate must be a function, such as that of createKeyFile, or null to serve without keys',
      )
    }
    if (typeof resolver?.find !== 'function') throw new TypeError('the first argument must be a Resolver')
    if (!/^(\/[^/?#]+)*$/.test(basePath)) {
      throw new TypeError('basePath must be empty or start with "/", and must not end with it')
    }
    for (const [name, callback] of Object.entries({ onError, onAnswer })) {
      if (callback !== undefined && typeof callback !== 'function')
        throw new TypeError(`${name} must be a function`)
    }
    this.#resolver = resolver
    this.#authenticate = authenticate
    this.#plans = new PlanTable(options.plans, options.lookupPlan)
    this.#limits = new RateLimits(this.#plans, options.limiter)
    this.#maxBatch = positive('maxBatch', options.maxBatch ?? DEFAULT_MAX_BATCH)
    this.#maxBodyBytes = positive('maxBodyBytes', options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES)
    this.#cors = cors === undefined ? null : new Cors(cors)
    this.#basePath = basePath
    this.#signal = signal
    this.#onError = onError ?? (() => {})
    this.#onAnswer = onAnswer
  }

  answer(request: Request, info: RequestInfo): MaybePromise<Response> {
    const progress: Progress = { operation: null, keyId: null, headers: {}, outcomes: {} }
    const start = performance.now()
    const end = (response: Response): Response => {
      this.#tell(response, info, progress, performance.now() - start)
      return response
    }
    const fail = (error: unknown): Response => {
      this.#report(error)
      const detail = 'The fault is in the service, not in the request.'
      return end(this.#response(request, { code: 'INTERNAL_ERROR', detail }, progress))
    }
    try {
      const preflight = this.#cors?.preflight(request) ?? null
      if (preflight !== null) return end(preflight)
      const answer = chain(this.#run(request, info, progress), (outcome) =>
        end(this.#response(request, outcome, progress)),
      )
      return isPromise(answer) ? answer.catch(fail) : answer
    } catch (error) {
      return fail(error)
    }
  }

  #tell({ status }: Response, info: RequestInfo, progress: Progress, milliseconds: number): void {
    if (this.#onAnswer === undefined) return
    const { operation, keyId, outcomes } = progress
    const { remoteAddress = null } = info
    try {
      this.#onAnswer({ operation, status, keyId, outcomes, milliseconds, remoteAddress })
    } catch (error) {
      this.#report(error)
    }
  }

  #response(request: Request, outcome: Outcome, { headers }: Progress): Response {
    const fields = { ...headers, ...this.#cors?.fields(request) }
    return typeof outcome === 'string'
      ? responseTo(request.method, 200, outcome, { ...SUCCESS, ...fields })
      : problemResponse(outcome, request.method, fields)
  }

  #run(request: Request, info: RequestInfo, progress: Progress): MaybePromise<Outcome> {
    if (this.#signal?.aborted) {
      return { code: 'STOPPING', detail: 'Repeat the request.', headers: { 'retry-after': '1' } }
    }
    const route = routeOf(request, this.#basePath, this.#cors !== null)
    if (isProblem(route)) return route
    progress.operation = route.operation
    return chain(this.#admit(request, info, progress), (plan) =>
      isProblem(plan) ? plan : this.#operate(request, info, route, plan, progress),
    )
  }

  #operate(
    request: Request,
    { remoteAddress }: RequestInfo,
    route: Route,
    plan: Plan,
    progress: Progress,
  ): MaybePromise<Outcome> {
    if (route.operation !== 'detect' && !this.#plans.includesLookup(plan)) {
      const detail = `The plan of this key is ${plan.name}; ${route.operation} needs ${this.#plans.lookupPlan} or a higher one.`
      return { code: 'PLAN_REQUIRED', detail }
    }
    const resolver = this.#resolver
    switch (route.operation) {
      case 'detect': {
        const source = { headers: request.headers, remoteAddress }
        return orBadLocale(() =>
          this.#single(resolver.findClient(source, route), progress, () => resolver.detect(source, route)),
        )
      }
      case 'lookup':
        return orBadLocale(() =>
          this.#single(resolver.find(route.ip, route), progress, () => resolver.lookup(route.ip, route)),
        )
      case 'batch':
        return this.#batch(request, route.locale, plan, progress)
    }
  }

  /** Finds the plan of a request and counts it. */
  #admit(request: Request, info: RequestInfo, progress: Progress): MaybePromise<Plan | Problem> {
    const { highest, lowest } = this.#plans
    if (this.#authenticate === null) {
      return this.#take(highest, this.#peerName(request, info), progress, highest)
    }
    const key = bearerKey(request.headers)
    if (typeof key !== 'string') return this.#take(lowest, this.#peerName(request, info), progress, key)
    return chain(this.#authenticate(key, request), (owner): MaybePromise<Plan | Problem> => {
      if (owner === null || owner === undefined) {
        const refusal = unauthenticated('The API key is not valid: it is mistyped, revoked or expired.', true)
        return this.#take(lowest, this.#peerName(request, info), progress, refusal)
      }
      const plan = this.#plans.named(owner.plan)
      if (plan === undefined)
        throw new TypeError('authenticate returned a plan that is not in the option plans')
      progress.keyId = owner.id
      return this.#take(plan, `key:${owner.id}`, progress, plan)
    })
  }

  /** Counts a request. @returns `otherwise`, if it is within the budget */
  #take<Otherwise>(
    plan: Plan,
    who: string,
    progress: Progress,
    otherwise: Otherwise,
  ): MaybePromise<Otherwise | Problem> {
    return chain<Taken, Otherwise | Problem>(this.#limits.take(plan, who), ({ allowed, headers }) => {
      progress.headers = headers
      return allowed
        ? otherwise
        : { code: 'RATE_LIMITED', detail: 'Wait as long as Retry-After says, in seconds.' }
    })
  }

  /** Without a key, the client counts as the resolver's trust sees it: behind a proxy, the peer is everyone. */
  #peerName({ headers }: Request, { remoteAddress }: RequestInfo): string {
    const { ip } = this.#resolver.findClient({ headers, remoteAddress })
    return this.#limits.peerName(ip === '' ? remoteAddress : ip)
  }

  /** @param ask throws what `result` says, as an error with its class and cause */
  #single(result: LookupResult, progress: Progress, ask: () => LocationRecord): Outcome {
    count(result, progress)
    if (!isLookupFailure(result)) return JSON.stringify(result)
    const { code, message, reason } = result.error
    if (code === 'MALFORMED_ADDRESS' || code === 'UNRESOLVABLE_ADDRESS') {
      return { code, detail: message, reason }
    }
    // The fault is not the caller's.
    return JSON.stringify(ask())
  }

  async #batch(
    request: Request,
    locale: string | undefined,
    plan: Plan,
    progress: Progress,
  ): Promise<Outcome> {
    const batch = await readBatch(request, this.#maxBodyBytes)
    if (isProblem(batch)) return batch
    const most = Math.min(this.#maxBatch, plan.batch)
    if (batch.ips.length > most) return tooManyItems(batch.ips.length, most, plan.name)
    return orBadLocale(() => {
      const results = this.#resolver.lookupMany(batch.ips, { locale: batch.locale ?? locale })
      for (const result of results) {
        count(result, progress)
        if (isLookupFailure(result) && result.error.status === null) this.#hideFault(result)
      }
      return JSON.stringify(results)
    })
  }

  /** The message has the path of the file. */
  #hideFault({ error }: LookupFailure): void {
    this.#report(new Error(error.message))
    error.message = 'the database is damaged here'
  }

  #report(error: unknown): void {
    try {
      this.#onError(error)
    } catch {
      // There is nobody left to tell.
    }
  }
}

/** Makes a wrong locale the caller's fault. */
function orBadLocale(operate: () => Outcome): Outcome {
  try {
    return operate()
  } catch (error) {
    if (!isGeofixError(error) || error.code !== 'INVALID_LOCALE') throw error
    return { code: 'INVALID_LOCALE', detail: error.message }
  }
}

function count(result: LookupResult, { outcomes }: Progress): void {
  const outcome = isLookupFailure(result) ? (result.error.reason ?? result.error.code) : 'found'
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
}

function positive(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw new TypeError(`${name} must be a whole number above 0`)
}
