import type { Format } from './format.ts'
import type { LocationField } from './location-field.ts'

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
  readonly sums?: boolean | undefined
}
