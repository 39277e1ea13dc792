import { Address } from '../address/address.ts'
import { explainMalformed } from '../address/explain-malformed.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import type { InvalidDatabaseError } from '../errors.ts'
import type { DatabaseInfo } from '../location/database-info.ts'
import type { NamesOf } from '../option-names.ts'

/** The databases before and after a replacement. */
export interface ReloadEvent {
  readonly previous: readonly DatabaseInfo[]
  readonly current: readonly DatabaseInfo[]
}

/** Databases that are older than `staleAfter`. */
export interface StaleEvent {
  readonly databases: readonly DatabaseInfo[]
}

/** Options for reloading files that change and for reporting stale databases. */
export interface WatchOptions {
  /**
   * Watch the files. When one changes, the new file is opened and tested while the old databases stay in use, then
   * replaces them in one step. Both are in memory until then. Replace files by renaming: a raw `.mmdb` that is
   * overwritten in place without being truncated can be read half-written, and lookups in a packed one that is
   * overwritten fail until it is reloaded. Watching ends with `close()` and does not keep the process alive. Default: false.
   */
  readonly watch?: boolean | undefined
  /**
   * Needs `watch`. Milliseconds between two checks of the files, at least 1. A file is reloaded when it has changed and then stayed
   * the same for that long: use more for files that are written in place with longer pauses. Default: 1000.
   */
  readonly watchInterval?: number | undefined
  /**
   * Globally reachable addresses that must have a location. If one has none, opening throws an
   * `InvalidDatabaseError`, and a replacement is refused.
   */
  readonly canaries?: readonly string[] | undefined
  /**
   * Needs `watch`. Called after each replacement, including by a file that was only touched. An error that it throws is an uncaught
   * exception, as with event listeners.
   */
  readonly onReload?: ((event: ReloadEvent) => void) | undefined
  /**
   * Needs `watch`. Called when a replacement is refused or a file is missing, once for each state of the files. The old databases
   * stay in use. `status.reloadError` is `null` again after recovery. An error that it throws is an uncaught exception.
   */
  readonly onReloadError?: ((error: InvalidDatabaseError) => void) | undefined
  /** Days after the build date, above 0, at which a database is stale. One without a build date always is. */
  readonly staleAfter?: number | undefined
  /**
   * Needs `staleAfter`. Called when databases are stale: while opening, after each replacement, and when another one becomes stale. An
   * error that it throws makes opening fail, and is an uncaught exception later.
   */
  readonly onStale?: ((event: StaleEvent) => void) | undefined
}

export const WATCH_OPTIONS: NamesOf<WatchOptions> = {
  watch: true,
  watchInterval: true,
  canaries: true,
  onReload: true,
  onReloadError: true,
  staleAfter: true,
  onStale: true,
}

/** The validated options. */
export interface WatchSettings extends Pick<WatchOptions, 'onReload' | 'onReloadError' | 'onStale'> {
  /** `null` without `watch`. */
  readonly intervalMs: number | null
  readonly canaries: readonly Address[]
  /** `null` when databases are never stale. */
  readonly staleAfterDays: number | null
}

const DEFAULT_INTERVAL_MS = 1000

/** The longest delay of a timer. */
const MAX_DELAY_MS = 2 ** 31 - 1

/** @throws TypeError when an option is invalid */
export function watchSettings(options: WatchOptions): WatchSettings {
  const { watch = false, watchInterval = DEFAULT_INTERVAL_MS, canaries = [], staleAfter = null } = options
  if (typeof watch !== 'boolean') throw new TypeError('watch must be true or false')
  if (!(typeof watchInterval === 'number' && watchInterval >= 1 && watchInterval <= MAX_DELAY_MS)) {
    throw new TypeError(`watchInterval must be a number of milliseconds, from 1 to ${MAX_DELAY_MS}`)
  }
  if (!Array.isArray(canaries))
    throw new TypeError("canaries must be an array of addresses, such as ['8.8.8.8']")
  if (staleAfter !== null && !(Number.isFinite(staleAfter) && staleAfter > 0)) {
    throw new TypeError('staleAfter must be a number of days above 0')
  }
  const { onReload, onReloadError, onStale } = options
  for (const [name, callback] of Object.entries({ onReload, onReloadError, onStale })) {
    if (callback !== undefined && typeof callback !== 'function')
      throw new TypeError(`${name} must be a function`)
  }
  if (!watch) {
    for (const [name, value] of Object.entries({
      onReload,
      onReloadError,
      watchInterval: options.watchInterval,
    }))
      if (value !== undefined) throw new TypeError(`${name} has no effect without watch: true`)
  }
  if (onStale !== undefined && staleAfter === null)
    throw new TypeError('onStale has no effect without staleAfter, the days after which a database is stale')
  return {
    intervalMs: watch ? watchInterval : null,
    canaries: canaries.map(canary),
    staleAfterDays: staleAfter,
    onReload,
    onReloadError,
    onStale,
  }
}

function canary(text: unknown): Address {
  const address = new Address()
  if (!address.parse(text)) throw new TypeError(`invalid canary: ${explainMalformed(text)}`)
  if (address.special !== null) {
    const why = describeSpecialPurpose(address.text, address.special)
    throw new TypeError(`invalid canary: ${why}`)
  }
  return address
}
