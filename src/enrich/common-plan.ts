import { ClientWalk } from '../client/client-address.ts'
import { localeOf } from '../location/locale.ts'
import { instantOf } from '../location/timezone.ts'
import { type EnrichOptions, ON_BAD_LINE, type OnBadLine } from './options.ts'

/**
 * What is settled before the first line, for all formats. Plain data: a plan goes to worker threads by
 * `structuredClone`.
 */
export interface CommonPlan {
  /** Name of the member that is added. */
  readonly into: string
  /** Milliseconds since 1970, for lines without a time of their own; `null` when nobody said when they are from. */
  readonly at: number | null
  /** `undefined` is English. */
  readonly locale: string | undefined
  /** Given when the field holds a list as `X-Forwarded-For` has it; else `null`. */
  readonly trustedProxies: readonly string[] | null
  readonly overwrite: boolean
  /** Whether the run goes on without any address. */
  readonly force: boolean
  readonly onBadLine: OnBadLine
  readonly onlyFailed: boolean
  readonly dropUnresolved: boolean
  /** Bytes of a line, its end not counted. */
  readonly maxLineBytes: number
  /** Whether the tally has details for a report. */
  readonly sums: boolean
}

/** A plan beside what was guessed to make it, in words for the user. */
export interface Planned<Plan> {
  readonly plan: Plan
  readonly notes: readonly string[]
}

/** What a line may have where it is not said otherwise. */
export const MAX_LINE_BYTES = 1024 * 1024
/** JSON takes up to six bytes for one, and an array holds no more than 2 GiB everywhere. */
const LARGEST_LINE = 256 * 1024 * 1024

/**
 * Checks the options that all formats have.
 *
 * @throws TypeError when an option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function commonPlan(options: EnrichOptions): CommonPlan {
  const { into = 'location', locale, trustedProxies, onBadLine = 'raw' } = options
  const { maxLineBytes = MAX_LINE_BYTES, onlyFailed = false, dropUnresolved = false } = options
  if (typeof into !== 'string' || into === '') throw new TypeError('the option "into" must be a name')
  if (!ON_BAD_LINE.includes(onBadLine)) {
    throw new TypeError(`the option "onBadLine" must be one of ${ON_BAD_LINE.join(', ')}`)
  }
  if (!(Number.isSafeInteger(maxLineBytes) && maxLineBytes >= 1 && maxLineBytes <= LARGEST_LINE)) {
    throw new TypeError(`the option "maxLineBytes" must be a whole number from 1 to ${LARGEST_LINE}`)
  }
  if (onlyFailed && dropUnresolved) {
    throw new TypeError('the options "onlyFailed" and "dropUnresolved" leave nothing to write')
  }
  localeOf(locale)
  if (trustedProxies !== undefined) new ClientWalk({ trustedProxies })
  return {
    into,
    at: options.at === undefined ? null : instantOf(options.at),
    locale,
    trustedProxies: trustedProxies === undefined ? null : [...trustedProxies],
    overwrite: options.overwrite ?? false,
    force: options.force ?? false,
    onBadLine,
    onlyFailed,
    dropUnresolved,
    maxLineBytes,
    sums: options.sums ?? false,
  }
}
