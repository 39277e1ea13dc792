// ioredis is bundled into the command line's output, and loaded only with --limits.
import { Redis } from 'ioredis'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js'
import type { MakeLimiter } from '../../http/rate-limit.ts'
import { messageOf } from '../../realm.ts'
import type { JsonLog } from './log.ts'

/** A request waits this long for the store, and is then counted in this process. */
const COMMAND_MS = 250
/** A store that does not answer for this long is connected to again. Until then requests do not wait for it. */
const SILENCE_MS = 1000
const CONNECT_MS = 2000
/** Between attempts to connect: soon after a restart of the store, and not many while it stays away. */
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 2000

/**
 * Counts requests in Valkey or Redis, so that all replicas share one budget. While the store is away, each replica counts
 * for itself: a store that fails must not stop the service.
 */
export class LimitStore {
  readonly makeLimiter: MakeLimiter = ({ name, burst }, window) => {
    const limits = { points: burst, duration: window, keyPrefix: `geofix:${name}` }
    return new RateLimiterRedis({
      ...limits,
      storeClient: this.#client,
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory(limits),
    })
  }
  readonly #client: Redis
  readonly #log: JsonLog
  #isShared = false
  #hasTold = false
  #message = ''

  /** @param url of `redis:` or `rediss:` */
  constructor(url: string, log: JsonLog) {
    this.#log = log
    this.#client = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      commandTimeout: COMMAND_MS,
      socketTimeout: SILENCE_MS,
      connectTimeout: CONNECT_MS,
      connectionName: 'geofix',
      retryStrategy: (attempts) => Math.min(attempts * FIRST_RETRY_MS, MAX_RETRY_MS),
    })
    this.#client.on('ready', () => this.#shared())
    this.#client.on('error', (error) => {
      this.#message = messageOf(error)
    })
    this.#client.on('close', () => this.#alone())
  }

  /** Whether requests are counted in the store now, for all replicas. */
  get isShared(): boolean {
    return this.#isShared
  }

  close(): void {
    this.#client.removeAllListeners('close')
    this.#client.disconnect()
  }

  #shared(): void {
    this.#isShared = true
    this.#hasTold = false
    this.#log.write('limits-shared')
  }

  /** Said once, until the store is back. The message of an error has the address of the store, and never its password. */
  #alone(): void {
    this.#isShared = false
    if (this.#hasTold) return
    this.#hasTold = true
    this.#log.write('limits-alone', { message: this.#message || 'the store closed the connection' })
  }
}
