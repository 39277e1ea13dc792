// Counts requests in a store. This file is loaded only with --limits.
import { type MakeLimiter, type WindowCount, WindowCounts } from '../../http/rate-limit.ts'
import { messageOf } from '../../realm.ts'
import type { JsonLog } from './log.ts'
import { StoreConnection, StoreDelay, StoreNonsense } from './store-connection.ts'

/** After this many late answers in a row, requests no longer wait for the store. */
const MAX_DELAYS = 3
/** Delays between attempts to use the store again: soon after a restart of the store, and not many while it fails. */
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 5000
/** A store that has worked for this long is tried again soon after it fails. */
const STEADY_MS = 10_000

/** Counts a request. The window starts with its first request, and its end is the expiry of the key. */
const SCRIPT = `local count = redis.call('incr', KEYS[1])
local left = redis.call('pttl', KEYS[1])
if left < 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  left = ARGV[1] + 0
end
return { count, left }`

/** All keys begin with this. In a cluster, the part in braces keeps them at one node. */
const KEY_PREFIX = '{geofix}:'

/**
 * Counts requests in Valkey or Redis, so that all replicas share one budget. While the store is away, refuses or is slow, each
 * replica counts for itself: a store that fails must not stop the service.
 */
export class LimitStore {
  readonly makeLimiter: MakeLimiter = ({ name, burst }, window) => {
    const ms = Math.ceil(window * 1000)
    const own = new WindowCounts(ms)
    return {
      consume: async (who) => {
        const { count, msBeforeNext } = (await this.#counted(`${name}:${who}`, ms)) ?? own.add(who)
        const budget = { remainingPoints: Math.max(0, burst - count), msBeforeNext }
        return count > burst ? Promise.reject(budget) : budget
      },
    }
  }
  /** Whether requests are counted in the store now, for all replicas. */
  isShared = false
  /** How many connections were closed because the store sent what is not an answer. */
  dropped = 0
  #connection: StoreConnection | null = null
  #hasTold = false
  #isClosed = false
  /** Late answers in a row. */
  #delays = 0
  #sharedAt = 0
  #retryMs = FIRST_RETRY_MS
  #retry: NodeJS.Timeout | undefined

  /** @param url of `redis:` or `rediss:` */
  constructor(
    private readonly url: string,
    private readonly log: JsonLog,
  ) {
    void this.#try()
  }

  close(): void {
    this.#isClosed = true
    this.isShared = false
    clearTimeout(this.#retry)
    this.#connection?.destroy(new Error('the service stops'))
  }

  /** Counts a request in the store. @returns `null` if it must be counted here */
  async #counted(key: string, ms: number): Promise<WindowCount | null> {
    const connection = this.#connection
    if (!this.isShared || connection === null) return null
    try {
      const count = await countIn(connection, key, ms)
      this.#delays = 0
      return count
    } catch (error) {
      if (!(error instanceof StoreDelay) || ++this.#delays >= MAX_DELAYS) this.#leave(connection, error)
      return null
    }
  }

  /**
   * Connects, and counts, since a store can accept connections and refuse to count. Counts again with the time that a request
   * has, since the first count has the time to connect too.
   */
  async #try(): Promise<void> {
    const connection = new StoreConnection(this.url, (error) => this.#leave(connection, error))
    this.#connection = connection
    try {
      await countIn(connection, 'probe', 1000)
      await countIn(connection, 'probe', 1000)
    } catch (error) {
      return this.#leave(connection, error)
    }
    if (connection !== this.#connection) return
    this.isShared = true
    this.#hasTold = false
    this.#delays = 0
    this.#sharedAt = performance.now()
    this.log.write('limits-shared')
  }

  /**
   * Counts here until the store works again. Says so once. The message of an error has the address of the store or its own
   * words, and never its password.
   */
  #leave(connection: StoreConnection, error: unknown): void {
    if (connection !== this.#connection) return
    this.#connection = null
    if (error instanceof StoreNonsense) this.dropped++
    // Close the connection, so that the name of the store is resolved again: it can have moved.
    connection.destroy(new Error('the store is left for a while'))
    if (this.#isClosed) return
    if (this.isShared && performance.now() - this.#sharedAt > STEADY_MS) this.#retryMs = FIRST_RETRY_MS
    this.isShared = false
    this.#retry = setTimeout(() => void this.#try(), this.#retryMs).unref()
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS)
    if (this.#hasTold) return
    this.#hasTold = true
    this.log.write('limits-alone', { message: messageOf(error) })
  }
}

async function countIn(connection: StoreConnection, name: string, ms: number): Promise<WindowCount> {
  const answer = await connection.ask('EVAL', SCRIPT, '1', `${KEY_PREFIX}${name}`, String(ms))
  const [count = 0, msBeforeNext = 0] = typeof answer === 'string' ? [] : answer
  if (count > 0) return { count, msBeforeNext }
  throw new StoreNonsense(
    `the store answered ${JSON.stringify(answer).slice(0, 60)} instead of a count and a time`,
  )
}
