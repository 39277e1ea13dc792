import type { SignalLike } from '../platform-types.ts'
import { isError, isOfClass } from '../realm.ts'

/** @throws TypeError when the option is not an AbortSignal */
export function signalOf(option: unknown): SignalLike | undefined {
  if (option === undefined || isOfClass(option, 'AbortSignal')) return option
  throw new TypeError(
    'signal must be an AbortSignal, such as that of an AbortController or AbortSignal.timeout(…)',
  )
}

/**
 * Does work that a signal can abort. Rejects with the signal's reason at once, even if the work itself cannot be
 * stopped; its result is then ignored. Does not start if the signal is already aborted. Leaves no listener.
 */
export async function untilAborted<Result>(
  signal: SignalLike | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work()
  signal.throwIfAborted()
  let abort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    if (abort !== undefined) signal.removeEventListener('abort', abort)
    // The abort may have made the work fail first, such as a `fetch` with the same signal.
    signal.throwIfAborted()
  }
}

/** Whether an error means that work, such as a `fetch`, was aborted or timed out. */
export function isAbort(error: unknown): boolean {
  return isError(error) && (error.name === 'AbortError' || error.name === 'TimeoutError')
}
