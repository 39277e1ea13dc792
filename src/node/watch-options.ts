import { Address } from '../address/address.ts'
import { explainMalformed } from '../address/explain-malformed.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import type { InvalidDatabaseError } from '../errors.ts'
import type { DatabaseInfo } from '../record/database-info.ts'

/** What answered before a replacement, and what answers since. */
export interface ReloadEvent {
  readonly previous: readonly DatabaseInfo[]
  readonly current: readonly DatabaseInfo[]
}

/** Databases that are older than `staleAfter`. */
export interface StaleEvent {
  readonly databases: readonly DatabaseInfo[]
}

/** How a resolver follows its files while it serves, and judges their age. */
export interface WatchOptions {
  /**
   * Follow the files: when one is replaced, the new databases are opened and tried beside the old ones, and take
   * their place at once where no fault is found. Until then both are in memory. A raw `.mmdb` that is written in
   * place without being emptied first can be taken half-way: rename files over. Default: false. Ends with
   * `close()`; keeps no process alive.
   */
  readonly watch?: boolean | undefined
  /**
   * Milliseconds between two looks at the files, at least 1. A file counts as replaced when it has changed and
   * then stayed the same for that long. Default: 1000. Files that are written in place, with longer pauses,
   * need more.
   */
  readonly watchInterval?: number | undefined
  /**
   * Globally reachable addresses that must have a location in whatever is opened. At opening a missing one is
   * an `InvalidDatabaseError`; later the replacement is refused.
   */
  readonly canaries?: readonly string[] | undefined
  /**
   * Called after each replacement, also by a file that was only touched. What it throws is an uncaught exception, as
   * with event listeners.
   */
  readonly onReload?: ((event: ReloadEvent) => void) | undefined
  /**
   * Called when a replacement is refused, or a file is gone, once for each state of the files; the old databases
   * go on serving. That all is well again is seen in `status`. What it throws is an uncaught exception.
   */
  readonly onReloadError?: ((error: InvalidDatabaseError) => void) | undefined
  /** Days, above 0, after their build date at which databases are stale. Those without a date always are. */
  readonly staleAfter?: number | undefined
  /**
   * Called when databases are stale: before opening returns, after each replacement, and when the day comes.
   * What it throws at opening makes opening fail, and later is an uncaught exception.
   */
  readonly onStale?: ((event: StaleEvent) => void) | undefined
}

/** The same, checked. */
export interface WatchSettings extends Pick<WatchOptions, 'onReload' | 'onReloadError' | 'onStale'> {
  /** Milliseconds; `null` without `watch`. */
  readonly interval: number | null
  readonly canaries: readonly Address[]
  /** Days; `null` when databases are never stale. */
  readonly staleAfter: number | null
}

const DEFAULT_INTERVAL = 1000

/** Timers hold no more. Milliseconds. */
export const MAX_DELAY = 2 ** 31 - 1

/** @throws TypeError when an option makes no sense */
export function watchSettings(options: WatchOptions): WatchSettings {
  const { watch = false, watchInterval = DEFAULT_INTERVAL, canaries = [], staleAfter = null } = options
  if (typeof watch !== 'boolean') throw new TypeError('watch is true or false')
  if (!(typeof watchInterval === 'number' && watchInterval >= 1 && watchInterval <= MAX_DELAY)) {
    throw new TypeError(`watchInterval is a number of milliseconds, from 1 to ${MAX_DELAY}`)
  }
  if (!Array.isArray(canaries)) throw new TypeError("canaries are a list of addresses, such as ['8.8.8.8']")
  if (staleAfter !== null && !(Number.isFinite(staleAfter) && staleAfter > 0)) {
    throw new TypeError('staleAfter is a number of days above 0')
  }
  const { onReload, onReloadError, onStale } = options
  for (const [name, callback] of Object.entries({ onReload, onReloadError, onStale })) {
    if (callback !== undefined && typeof callback !== 'function') throw new TypeError(`${name} is a function`)
  }
  return {
    interval: watch ? watchInterval : null,
    canaries: canaries.map(canary),
    staleAfter,
    onReload,
    onReloadError,
    onStale,
  }
}

function canary(text: unknown): Address {
  const address = new Address()
  if (!address.parse(text)) throw new TypeError(`a canary is no address: ${explainMalformed(text)}`)
  if (address.special !== null) {
    const why = describeSpecialPurpose(address.text, address.special)
    throw new TypeError(`a canary can have no location: ${why}`)
  }
  return address
}
