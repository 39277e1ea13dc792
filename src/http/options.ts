import { type CityNames, localeOf } from '../location/locale.ts'
import type { NamesOf } from '../option-names.ts'
import type { SignalLike } from '../realm.ts'
import type { Authenticate } from './admission.ts'
import type { AllowedOrigins } from './cors.ts'
import type { MakeLimiter, Plan } from './rate-limit.ts'
import type { Operation } from './route.ts'

const DEFAULT_MAX_BATCH = 1000
const DEFAULT_MAX_BODY_BYTES = 1024 * 1024

/** What a runtime knows about a request in addition to the `Request`. */
export interface RequestInfo {
  /** The address of the socket's peer, without a port; `null` or absent if the runtime does not know it. */
  readonly remoteAddress?: string | null | undefined
  /**
   * Whether header lines may be missing that a trusted proxy wrote. Such a request is answered with 431. Default: `false`. Node
   * drops lines beyond `server.maxHeadersCount`: see `nodeRequestInfo`.
   */
  readonly lacksLines?: boolean | undefined
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
  /** Time from the call of the handler to the answer. */
  readonly milliseconds: number
  readonly remoteAddress: string | null
}

export interface HandlerOptions {
  /** Finds the owner of a key; see `createKeyFile`. `null` serves everyone without keys: only for a private network. */
  readonly authenticate: Authenticate | null
  /** Plans from the lowest to the highest. Default: `free`, `developer`, `business`. */
  readonly plans?: readonly Plan[] | undefined
  /** The name of the lowest plan with lookup and batch. Default: `developer`. */
  readonly lookupPlan?: string | undefined
  /** Where requests are counted. Default: in the memory of this process. */
  readonly limiter?: MakeLimiter | undefined
  /**
   * Whether records have a member `asn` too: what `resolver.asn` gives for their address. The resolver needs a database for it:
   * see its option `asn`. Default: `false`.
   */
  readonly asn?: boolean | undefined
  /** The language of `city`: `'locale'` is that of the request's `locale`, if the database has the name. Default: `'en'`. */
  readonly cityNames?: CityNames | undefined
  /** The most addresses in a batch, whatever the plan. Default: 1000. */
  readonly maxBatch?: number | undefined
  /** The most bytes of a body, counted while it is read. Default: 1,048,576. */
  readonly maxBodyBytes?: number | undefined
  /** Web pages that may read answers: `'*'` or a list of origins. Default: none, and `OPTIONS` is refused. */
  readonly cors?: AllowedOrigins | undefined
  /** What precedes `/v1` in the path, such as `/geo`. Default: nothing. */
  readonly basePath?: string | undefined
  /** When it is aborted, each new request is answered with 503. */
  readonly signal?: SignalLike | undefined
  /**
   * Is called with each exception that was answered with 500, and with damage of the database. Default: prints it with
   * `console.error`.
   */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Is called with each answer. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined
}

/** The options, with the members of a `KeyFile`, which can be given as the options. */
export const HANDLER_OPTIONS: NamesOf<
  HandlerOptions & Readonly<Record<'size' | 'status' | 'reload' | 'close', unknown>>
> = {
  authenticate: true,
  plans: true,
  lookupPlan: true,
  limiter: true,
  asn: true,
  cityNames: true,
  maxBatch: true,
  maxBodyBytes: true,
  cors: true,
  basePath: true,
  signal: true,
  onError: true,
  onAnswer: true,
  size: true,
  status: true,
  reload: true,
  close: true,
}

/** The options that need no other object, with their defaults. @throws TypeError when one is invalid */
export function checkedOptions(options: Partial<HandlerOptions> = {}) {
  const { basePath = '', asn = false, cityNames, signal, onAnswer } = options
  // The answer of such a request does not say what is wrong.
  const { onError = (error: unknown) => console.error(error) } = options
  if (!/^(\/[^/?#]+)*$/.test(basePath) || new URL(`http://host${basePath}/`).pathname !== `${basePath}/`) {
    throw new TypeError(
      'basePath must be empty or a path as it is in a URL, such as "/geo", without "/" at its end',
    )
  }
  for (const [name, callback] of Object.entries({ onError, onAnswer })) {
    if (callback !== undefined && typeof callback !== 'function')
      throw new TypeError(`${name} must be a function`)
  }
  localeOf(undefined, cityNames)
  if (typeof asn !== 'boolean') throw new TypeError('asn must be true or false')
  if (signal !== undefined && typeof signal?.aborted !== 'boolean') {
    throw new TypeError('signal must be an AbortSignal')
  }
  return {
    basePath,
    asn,
    cityNames,
    signal,
    onError,
    onAnswer,
    maxBatch: positive('maxBatch', options.maxBatch ?? DEFAULT_MAX_BATCH),
    maxBodyBytes: positive('maxBodyBytes', options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES),
  }
}

function positive(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw new TypeError(`${name} must be a whole number above 0`)
}
