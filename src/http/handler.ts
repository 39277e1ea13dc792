import { isGeofixError } from '../errors.ts'
import { areSystemsOpen } from '../location/autonomous-systems.ts'
import { withDatabases } from '../location/database-set.ts'
import { localeOf } from '../location/locale.ts'
import {
  isLookupFailure,
  type LocationRecord,
  type LookupFailure,
  type LookupResult,
} from '../location/location-record.ts'
import { checkOptionNames } from '../option-names.ts'
import type { PlatformRequest, PlatformResponse } from '../realm.ts'
import type { Resolver } from '../resolver.ts'
import { Admission, type AdmissionFacts, challenge, type FindOwner } from './admission.ts'
import { BatchJson, readBatch, tooManyItems } from './batch.ts'
import { Cors } from './cors.ts'
import {
  chain,
  FetchServiceRequest,
  type HeaderFields,
  isPromise,
  type MaybePromise,
  NO_SNIFFING,
  type Reply,
  replyTo,
  responseOf,
  type ServiceRequest,
} from './exchange.ts'
import { type Fields, fieldsOf, prefersText, recordText, type ServedRecord, selected } from './fields.ts'
import {
  type Answer,
  checkedOptions,
  HANDLER_OPTIONS,
  type HandlerOptions,
  type RequestInfo,
} from './options.ts'
import { FAULT, isProblem, type Problem, problemReply } from './problem.ts'
import { type Plan, PlanTable, RateLimits } from './rate-limit.ts'
import { type Operation, type Route, routeOf } from './route.ts'

/** Fields of every answer. Caches must not store answers, because each is about one caller or one key. */
const SUCCESS: HeaderFields = [
  ...['content-type', 'application/json'],
  ...['cache-control', 'private, no-store'],
  ...NO_SNIFFING,
]

const SUCCESS_IN_TEXT: HeaderFields = ['content-type', 'text/plain; charset=utf-8', ...SUCCESS.slice(2)]

/** The result of an operation. A string and bytes are the JSON of a success, and `text` is one for people. */
type Outcome = string | Uint8Array | { readonly text: string } | Problem

/** An answer, and what is known about it. */
export interface Answered {
  readonly reply: Reply
  readonly answer: Answer
  /** The address of the client, if it was looked for; empty if it is not known. */
  readonly client: string | undefined
}

/** What is known about a request so far. */
interface Progress extends AdmissionFacts {
  readonly start: number
  readonly remoteAddress: string | null
  operation: Operation | null
  outcomes: Readonly<Record<string, number>>
}

/** Node may have dropped the line of a trusted proxy, and what remains may be the caller's own. */
const LACKS_LINES: Problem = {
  code: 'HEADER_TOO_LARGE',
  detail: 'The request has so many header lines that the server may have dropped some.',
}

const NONE = Object.freeze({})
const FOUND = Object.freeze({ found: 1 })

export type Handler = (request: PlatformRequest, info?: RequestInfo) => Promise<PlatformResponse>

/**
 * Answers the operations of the service: `GET /v1/ip`, `GET /v1/ip/{ip}` and `POST /v1/ip/batch`. The returned function
 * takes a Fetch `Request`, never throws, and needs no framework.
 *
 * @throws TypeError when an option is invalid
 */
export function createHandler(resolver: Resolver, options: HandlerOptions): Handler {
  checkOptionNames('createHandler', options, HANDLER_OPTIONS)
  const { authenticate } = options ?? {}
  const findOwner =
    typeof authenticate === 'function'
      ? async (key: string, { request }: FetchServiceRequest) => authenticate(key, request)
      : authenticate
  const service = new Service<FetchServiceRequest>(resolver, findOwner, options)
  return async (request, info) => {
    if (typeof request?.headers?.get !== 'function') return responseOf(service.misused())
    const asked = new FetchServiceRequest(request)
    return responseOf((await service.answer(asked, info?.remoteAddress, info?.lacksLines)).reply)
  }
}

/** The operations, over any form of requests. */
export class Service<Source extends ServiceRequest> {
  readonly #resolver: Resolver
  readonly #plans: PlanTable
  readonly #admission: Admission<Source>
  readonly #batchJson: BatchJson
  readonly #cors: Cors | null
  readonly #options: ReturnType<typeof checkedOptions>

  /**
   * @param findOwner knows the keys; `null` serves everyone
   * @throws TypeError when an option is invalid
   */
  constructor(
    resolver: Resolver,
    findOwner: FindOwner<Source> | null | undefined,
    options: Omit<HandlerOptions, 'authenticate'>,
  ) {
    if (typeof resolver?.find !== 'function' || 'then' in resolver) {
      throw new TypeError(
        'the first argument of createHandler must be a Resolver: write createHandler(await Resolver.open(), …)',
      )
    }
    if (findOwner !== null && typeof findOwner !== 'function') {
      throw new TypeError(
        'authenticate must be a function, such as that of createKeyFile, or null to serve without keys',
      )
    }
    this.#resolver = resolver
    this.#options = checkedOptions(options)
    const { asn } = this.#options
    if (asn && !withDatabases(resolver, ({ systems }) => areSystemsOpen(systems))) {
      throw new TypeError(
        'asn needs a resolver with a database of autonomous systems: open it with the option asn, such as Resolver.open(source, { asn: true })',
      )
    }
    this.#batchJson = new BatchJson(asn)
    this.#plans = new PlanTable(options.plans, options.lookupPlan)
    const limits = new RateLimits(this.#plans, options.limiter)
    this.#admission = new Admission(resolver, findOwner, this.#plans, limits)
    this.#cors = options.cors === undefined ? null : new Cors(options.cors)
  }

  /**
   * Answers a request: without a promise if there is nothing to wait for. Never throws.
   *
   * @param lacksLines whether header lines may be missing
   */
  answer(asked: Source, remoteAddress: string | null = null, lacksLines = false): MaybePromise<Answered> {
    const start = performance.now()
    const progress: Progress = {
      start,
      remoteAddress,
      operation: null,
      keyId: null,
      client: undefined,
      headers: [],
      outcomes: NONE,
    }
    try {
      const preflight = this.#cors?.preflight(asked) ?? null
      if (preflight !== null) return this.#tell(preflight, progress)
      const outcome = lacksLines ? LACKS_LINES : this.#run(asked, progress)
      return isPromise(outcome)
        ? outcome
            .then((each) => this.#end(asked, each, progress))
            .catch((error) => this.#fail(asked, error, progress))
        : this.#end(asked, outcome, progress)
    } catch (error) {
      return this.#fail(asked, error, progress)
    }
  }

  /** Answers what is not a request. The answer reaches nobody if the program mounted the handler itself in `node:http`. */
  misused(): Reply {
    this.#report(
      new TypeError(
        "the handler takes a Fetch Request, such as c.req.raw in Hono: for Node's own requests, write createNodeListener(handler)",
      ),
    )
    return problemReply(FAULT, 'GET')
  }

  #end(asked: Source, outcome: Outcome, progress: Progress): Answered {
    return this.#tell(this.#reply(asked, outcome, progress), progress)
  }

  #fail(asked: Source, error: unknown, progress: Progress): Answered {
    this.#report(error)
    return this.#end(asked, FAULT, progress)
  }

  #tell(reply: Reply, progress: Progress): Answered {
    const { start, remoteAddress, operation, keyId, outcomes, client } = progress
    const milliseconds = performance.now() - start
    const answer = { operation, status: reply.status, keyId, outcomes, milliseconds, remoteAddress }
    try {
      this.#options.onAnswer?.(answer)
    } catch (error) {
      this.#report(error)
    }
    return { reply, answer, client }
  }

  #reply(asked: Source, outcome: Outcome, { headers }: Progress): Reply {
    const fields = this.#cors === null ? headers : headers.concat(this.#cors.fields(asked))
    if (typeof outcome === 'string' || outcome instanceof Uint8Array) {
      return replyTo(asked.method, 200, outcome, SUCCESS.concat(fields))
    }
    if ('text' in outcome) return replyTo(asked.method, 200, outcome.text, SUCCESS_IN_TEXT.concat(fields))
    return problemReply(outcome, asked.method, fields)
  }

  #run(asked: Source, progress: Progress): MaybePromise<Outcome> {
    if (this.#options.signal?.aborted) {
      return { code: 'STOPPING', detail: 'Repeat the request.', headers: ['retry-after', '1'] }
    }
    const route = routeOf(asked, this.#options.basePath, this.#cors !== null)
    if (isProblem(route)) return route
    progress.operation = route.operation
    return chain(this.#admission.admit(asked, progress.remoteAddress, progress), (plan) =>
      isProblem(plan) ? plan : orBadLocale(() => this.#operate(asked, route, plan, progress)),
    )
  }

  #operate(asked: Source, route: Route, plan: Plan, progress: Progress): MaybePromise<Outcome> {
    if (route.operation !== 'detect' && !this.#plans.includesLookup(plan)) {
      const detail = `The plan of this key is ${plan.name}; ${route.operation} needs ${this.#plans.lookupPlan} or a higher one.`
      return { code: 'PLAN_REQUIRED', detail, headers: challenge('insufficient_scope') }
    }
    const fields = fieldsOf(route.fields, this.#options.asn)
    if (fields !== null && isProblem(fields)) return fields
    const resolver = this.#resolver
    const { cityNames } = this.#options
    const options = { locale: route.locale, cityNames }
    const isText = prefersText(asked.get('accept'))
    switch (route.operation) {
      case 'detect': {
        const source = { headers: asked, remoteAddress: progress.remoteAddress }
        return this.#one(resolver.findClient(source, options), fields, isText, progress, () =>
          resolver.detect(source, options),
        )
      }
      case 'lookup': {
        const { ip } = route
        const result =
          fields !== null || isText
            ? resolver.find(ip, options)
            : withDatabases(resolver, (set) =>
                this.#batchJson.one(set, ip, localeOf(route.locale, cityNames), Date.now()),
              )
        return this.#one(result, fields, isText, progress, () => resolver.lookup(ip, options))
      }
      case 'batch':
        return this.#batch(asked, route.locale, fields, plan, progress)
    }
  }

  /** @param ask throws a failure as an error with its class and cause */
  #one(
    result: LookupResult | string,
    fields: Fields | null,
    isText: boolean,
    progress: Progress,
    ask: () => LocationRecord,
  ): Outcome {
    if (typeof result !== 'string' && isLookupFailure(result)) {
      progress.outcomes = { [outcomeOf(result)]: 1 }
      const { code, message, reason } = result.error
      if (code === 'MALFORMED_ADDRESS' || code === 'UNRESOLVABLE_ADDRESS')
        return { code, detail: message, reason }
      // It is not the caller's fault: throw, so that the answer is 500.
      return JSON.stringify(ask())
    }
    progress.outcomes = FOUND
    if (typeof result === 'string') return result
    const record = this.#served(result)
    if (isText) return { text: recordText(record, fields) }
    return JSON.stringify(fields === null ? record : selected(record, fields))
  }

  #served(record: LocationRecord): ServedRecord {
    return this.#options.asn ? { ...record, asn: this.#resolver.asn(record.ip) } : record
  }

  async #batch(
    asked: Source,
    locale: string | undefined,
    fields: Fields | null,
    plan: Plan,
    progress: Progress,
  ): Promise<Outcome> {
    const batch = await readBatch(asked, this.#options.maxBodyBytes)
    if (isProblem(batch)) return batch
    const excess = tooManyItems(batch.ips.length, plan, this.#options.maxBatch)
    if (excess !== null) return excess
    return orBadLocale(() => {
      const { cityNames } = this.#options
      const queried = localeOf(locale, cityNames)
      const chosen = batch.locale === undefined ? queried : localeOf(batch.locale, cityNames)
      const outcomes: Record<string, number> = {}
      progress.outcomes = outcomes
      const tell = (failure: LookupFailure | null): void => {
        const outcome = failure === null ? 'found' : outcomeOf(failure)
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        if (failure?.error.status !== null) return
        // A fault of the database. Its message has the path of the file.
        this.#report(new Error(failure.error.message))
        failure.error.message = 'the database is damaged here'
      }
      if (fields !== null) {
        const results = this.#resolver.lookupMany(batch.ips, { locale: batch.locale ?? locale, cityNames })
        for (const result of results) tell(isLookupFailure(result) ? result : null)
        return JSON.stringify(
          results.map((each) => (isLookupFailure(each) ? each : selected(this.#served(each), fields))),
        )
      }
      return withDatabases(this.#resolver, (set) =>
        this.#batchJson.write(set, batch.ips, chosen, Date.now(), tell),
      )
    })
  }

  #report(error: unknown): void {
    try {
      this.#options.onError(error)
    } catch {
      // An error of the callback must not change the answer.
    }
  }
}

/** Answers an invalid locale with a problem. */
function orBadLocale(operate: () => MaybePromise<Outcome>): MaybePromise<Outcome> {
  try {
    return operate()
  } catch (error) {
    if (!isGeofixError(error) || error.code !== 'INVALID_LOCALE') throw error
    return { code: 'INVALID_LOCALE', detail: error.message }
  }
}

function outcomeOf({ error }: LookupFailure): string {
  return error.reason ?? error.code
}
