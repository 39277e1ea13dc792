import { timeOf } from '../realm.ts'

/** The farthest that a `Date` reaches from 1970, in milliseconds. */
const MAX_INSTANT = 8.64e15

/**
 * The option `at` in milliseconds since 1970; now, when it is not given.
 *
 * @throws TypeError when it is not an instant, such as an invalid `Date`
 */
export function instantOf(at: unknown): number {
  if (at === undefined) return Date.now()
  const instant = typeof at === 'number' ? at : timeOf(at)
  if (instant !== undefined && Math.abs(instant) <= MAX_INSTANT) return instant
  throw new TypeError('the option "at" must be a valid Date or a number of milliseconds since 1970')
}
