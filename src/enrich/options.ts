import { ClientWalk } from '../client/client-address.ts'
import { localeOf } from '../location/locale.ts'
import { instantOf } from '../location/timezone.ts'

/** The forms of lines that are understood. `access-log` is Apache's and nginx's common and combined log. */
export type Format = 'ndjson' | 'csv' | 'tsv' | 'access-log' | 'list'

export const FORMATS: readonly Format[] = ['ndjson', 'csv', 'tsv', 'access-log', 'list']

/** The columns that a delimited file can get, in their default order. */
export const LOCATION_FIELDS = [
  'country_code',
  'country_name',
  'region_code',
  'region_name',
  'city',
  'postal_code',
  'latitude',
  'longitude',
  'timezone_id',
  'timezone_offset',
] as const

export type LocationField = (typeof LOCATION_FIELDS)[number]

/**
 * What is done with a line that cannot be read:
 * - `raw`: where lines become NDJSON it becomes `{"raw":"…","location":null}`; of a line that is too long the first
 *   `maxLineBytes`. Else as `keep`
 * - `keep`: written as it is
 * - `drop`: left out
 * - `fail`: the end of the run
 */
export type OnBadLine = (typeof ON_BAD_LINE)[number]

export const ON_BAD_LINE = ['raw', 'keep', 'drop', 'fail'] as const

/** How lines are read and what is added to them. */
export interface EnrichOptions {
  /** Default: told by the content. */
  readonly format?: Format | undefined
  /**
   * Where the address is. NDJSON: a dotted path (`client.ip`) or a JSON pointer (`/client/ip`). CSV and TSV: the
   * name of a column, or its number from 1. Default: guessed from common names and what they hold.
   */
  readonly field?: string | undefined
  /** CSV and TSV: whether the first line names the columns. Default: true. */
  readonly header?: boolean | undefined
  /** NDJSON, and lines that are kept or made NDJSON: the name of the member added. Default: `location`. */
  readonly into?: string | undefined
  /** CSV and TSV: the columns appended. Default: all ten. */
  readonly fields?: readonly LocationField[] | undefined
  /** Access logs and lists: keep the line as it is, then a tab and the location's JSON. Default: false. */
  readonly append?: boolean | undefined
  /** Replace a member or columns that are there already; otherwise they are an error. Default: false. */
  readonly overwrite?: boolean | undefined
  /**
   * Where the instant of the event is, as `field`: ISO 8601 with an offset, or a number since 1970 in seconds,
   * milliseconds, microseconds or nanoseconds. Default: guessed from common names and what they hold. Access logs
   * have their own.
   */
  readonly timeField?: string | undefined
  /**
   * The instant for lines without one: a `Date`, or milliseconds since 1970. Default: none, so that their
   * `timezone.offset` is `null`.
   */
  readonly at?: Date | number | undefined
  /** BCP 47 language tag for the names of country and region. Default: `en`. */
  readonly locale?: string | undefined
  /**
   * The field holds a list as `X-Forwarded-For` has it, written by these proxies (addresses, CIDR blocks,
   * `loopback`, `linklocal`, `uniquelocal`): the first hop from the right that is none of them is located.
   */
  readonly trustedProxies?: readonly string[] | undefined
  /**
   * Go on where none of the first 1,000 records has an address, or none has the `field` that is named, which is an
   * error otherwise. Default: false.
   */
  readonly force?: boolean | undefined
  /** Default: `raw`. */
  readonly onBadLine?: OnBadLine | undefined
  /** Write only the lines that were not resolved, bad lines among them. Default: false. */
  readonly onlyFailed?: boolean | undefined
  /** Leave out lines without a location. Default: false. */
  readonly dropUnresolved?: boolean | undefined
  /** Longer lines are bad lines: the bound of memory. Bytes, 1 to 256 MiB; default: 1 MiB. */
  readonly maxLineBytes?: number | undefined
  /** Count regions, cities, places on the map and hours too, for a report. Default: false. */
  readonly details?: boolean | undefined
}

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
  /** Whether the counts has details for a report. */
  readonly details: boolean
}

/** A plan beside what was guessed to make it, in words for the user. */
export interface Planned<Plan> {
  readonly plan: Plan
  readonly notes: readonly string[]
}

/** What a line may have where it is not said otherwise. */
export const DEFAULT_LINE_BYTES = 1024 * 1024
/** JSON takes up to six bytes for one, and an array holds no more than 2 GiB everywhere. */
const MAX_LINE_BYTES = 256 * 1024 * 1024

/**
 * Checks the options that all formats have.
 *
 * @throws TypeError when an option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function commonPlan(options: EnrichOptions): CommonPlan {
  const { into = 'location', locale, trustedProxies, onBadLine = 'raw' } = options
  const { maxLineBytes = DEFAULT_LINE_BYTES, onlyFailed = false, dropUnresolved = false } = options
  if (typeof into !== 'string' || into === '') throw new TypeError('the option "into" must be a name')
  if (!ON_BAD_LINE.includes(onBadLine)) {
    throw new TypeError(`the option "onBadLine" must be one of ${ON_BAD_LINE.join(', ')}`)
  }
  if (!(Number.isSafeInteger(maxLineBytes) && maxLineBytes >= 1 && maxLineBytes <= MAX_LINE_BYTES)) {
    throw new TypeError(`the option "maxLineBytes" must be a whole number from 1 to ${MAX_LINE_BYTES}`)
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
    details: options.details ?? false,
  }
}
