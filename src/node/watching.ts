// Following files, as programs ask for it: options, events, the status, and when databases are stale.
import { Address, explainMalformed } from '../address/address.ts'
import { describeSpecialPurpose } from '../address/special-purpose.ts'
import type { InvalidDatabaseError } from '../errors.ts'
import type { DatabaseInfo } from '../location/vendors.ts'
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

const DAY_MS = 86_400_000

/** Reports databases when their build date is older than a limit. Its timer does not keep the process alive. */
export class StalenessTimer {
  readonly #limitMs: number
  readonly #report: (stale: readonly DatabaseInfo[]) => void
  #databases: readonly DatabaseInfo[] = []
  #timer: NodeJS.Timeout | undefined

  /**
   * @param days after the build date at which a database is stale
   * @param report is called with all stale databases when another one becomes stale
   */
  constructor(days: number, report: (stale: readonly DatabaseInfo[]) => void) {
    this.#limitMs = days * DAY_MS
    this.#report = report
  }

  /** The databases that are stale now. Those without a build date always are. */
  get stale(): readonly DatabaseInfo[] {
    return this.#databases.filter((database) => this.#remainingMs(database) < 0)
  }

  /** Watches these databases from now on, instead of the previous ones. */
  watch(databases: readonly DatabaseInfo[]): void {
    this.stop()
    this.#databases = databases
    this.#check(new Set())
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** @param reported the databases that were reported as stale before */
  #check(reported: ReadonlySet<DatabaseInfo>): void {
    const { stale } = this
    const remaining = this.#databases.map((database) => this.#remainingMs(database)).filter((ms) => ms >= 0)
    if (remaining.length > 0) {
      // Check daily: clocks change, machines sleep, and timers are limited to 24 days.
      const delay = Math.min(...remaining, DAY_MS) + 1
      this.#timer = setTimeout(() => this.#check(new Set(stale)), delay).unref()
    }
    if (stale.some((database) => !reported.has(database))) this.#report(stale)
  }

  /** Negative when the database is stale. */
  #remainingMs({ buildDate }: DatabaseInfo): number {
    return buildDate === null ? -1 : buildDate.getTime() + this.#limitMs - Date.now()
  }
}

/** The state of a resolver's databases at one moment, for monitoring. */
export interface ResolverStatus {
  /** When the current databases were opened. */
  readonly openedAt: Date
  /** Whether the files are watched: with the option `watch`, until `close()`. */
  readonly watching: boolean
  /** How many times the databases were replaced. */
  readonly reloads: number
  /** How many replacements were refused. */
  readonly refusals: number
  /** Why the resolver does not use the files in their latest state; `null` when it does. */
  readonly reloadError: InvalidDatabaseError | null
  /** The databases that are older than `staleAfter`; empty without that option. */
  readonly stale: readonly DatabaseInfo[]
}
