// Long work: as a generator of short steps, so that the caller decides whether it may block, and until a signal aborts it.
import { isError, isOfClass, type SignalLike } from '../realm.ts'

/** Work that yields after each step, of a few milliseconds at most. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** How long work in steps blocks other work: half of a frame at 60 Hz. */
const MAX_BLOCK_MS = 8

/** Does the work without a pause. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Does the work with pauses for other work. @throws the reason of the signal */
export async function withPauses<Result>(steps: Steps<Result>, signal?: SignalLike): Promise<Result> {
  const pacer = new Pacer(signal)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await pacer.pause()
  }
}

/** Pauses work whenever it has blocked other work for long enough. */
export class Pacer {
  #since = performance.now()
  readonly #signal: SignalLike | undefined

  constructor(signal?: SignalLike) {
    this.#signal = signal
  }

  /** Call it after each step. @throws the reason of the signal */
  async pause(): Promise<void> {
    if (performance.now() - this.#since < MAX_BLOCK_MS) return
    await nextTask()
    this.#signal?.throwIfAborted()
    this.#since = performance.now()
  }
}

declare const Deno: unknown

/** Lets other tasks run. Browsers delay timers, in hidden tabs by a second, but not messages. Deno can delay timers for messages. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const channel = typeof Deno === 'undefined' ? messageChannel() : null
    if (channel === null) {
      setTimeout(resolve, 0)
      return
    }
    const { port1, port2 } = channel
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}

/** `null` where there is none. In Next.js's edge runtime the class exists, and its constructor throws. */
function messageChannel(): MessageChannel | null {
  try {
    return new MessageChannel()
  } catch {
    return null
  }
}

/** @throws TypeError when the option is not an AbortSignal */
export function signalOf(option: unknown): SignalLike | undefined {
  if (option === undefined || isOfClass(option, 'AbortSignal')) return option
  throw new TypeError(
    'signal must be an AbortSignal, such as that of an AbortController or AbortSignal.timeout(…)',
  )
}

/**
 * Does work that a signal can abort. Rejects with the signal's reason at once, even if the work itself cannot be
 * stopped. Does not start if the signal is already aborted. Leaves no listener.
 *
 * @param drop gets the result of work that was aborted and ended all the same
 */
export async function untilAborted<Result>(
  signal: SignalLike | undefined,
  work: () => Promise<Result>,
  drop?: (result: Result) => void,
): Promise<Result> {
  if (signal === undefined) return work()
  signal.throwIfAborted()
  let abort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
  })
  let working: Promise<Result> | undefined
  try {
    working = work()
    return await Promise.race([working, aborted])
  } finally {
    if (abort !== undefined) signal.removeEventListener('abort', abort)
    if (signal.aborted && drop !== undefined) working?.then(drop, () => {})
    // The abort may have made the work fail first, such as a `fetch` with the same signal.
    signal.throwIfAborted()
  }
}

/** Whether an error means that work, such as a `fetch`, was aborted or timed out. */
export function isAbort(error: unknown): boolean {
  return isError(error) && (error.name === 'AbortError' || error.name === 'TimeoutError')
}
