import { isError, isOfClass } from '../realm.ts'

/** @throws TypeError when the option is not an AbortSignal */
export function signalOf(option: unknown): AbortSignal | undefined {
  if (option === undefined || isOfClass(option, 'AbortSignal')) return option
  throw new TypeError(
    'signal is an AbortSignal, such as that of an AbortController or AbortSignal.timeout(…)',
  )
}

/**
 * Does work that a signal can abort. Fails with the signal's reason at once, also where the work itself cannot be
 * stopped: what that comes to is then dropped. Does not begin when the signal is aborted already, and leaves no listener.
 */
export async function untilAborted<Result>(
  signal: AbortSignal | undefined,
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
    // The abort can have made the work fail first: a `fetch` with the same signal does.
    signal.throwIfAborted()
  }
}

/** Whether an error says that somebody ended the work, such as a `fetch`, or that its time was up. */
export function isAbort(error: unknown): boolean {
  return isError(error) && (error.name === 'AbortError' || error.name === 'TimeoutError')
}
