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
  readonly #ms: number
  // Two maps are replaced in turn, so that entries expire together: deleting them one by one takes time or timers.
  #current = new Map<string, Window>()
  #previous = new Map<string, Window>()
  #startedAt = performance.now()

  /** @param ms the length of a window in milliseconds */
  constructor(ms: number) {
    this.#ms = ms
  }

  /** Counts a request. */
  add(who: string): WindowCount {
    const now = performance.now()
    this.#forget(now)
    let window = this.#current.get(who) ?? this.#previous.get(who)
    if (window === undefined || window.until <= now) {
      window = { count: 0, until: now + this.#ms }
      this.#current.set(who, window)
    }
    window.count++
    return { count: window.count, msBeforeNext: window.until - now }
  }

  /** Forgets windows that have ended. Memory is bounded by the requests of two windows. */
  #forget(now: number): void {
    const elapsed = now - this.#startedAt
    if (elapsed < this.#ms) return
    this.#previous = elapsed < 2 * this.#ms ? this.#current : new Map()
    this.#current = new Map()
    this.#startedAt = now
  }
}
