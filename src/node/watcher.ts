import type { InvalidDatabaseError } from '../errors.ts'
import type { DatabaseInfo } from '../location/database-info.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { fileStateSync, type SourceFile } from './file-state.ts'
import { checkCanaries, Reloader, type ReloadOutcome } from './reloader.ts'
import { StalenessTimer } from './staleness-timer.ts'
import type { WatchSettings } from './watch-options.ts'

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

/** What a watcher needs from its resolver. */
export interface WatcherHost {
  /** Opens a file with the options of the resolver. @throws InvalidDatabaseError */
  open(path: string): Promise<OpenDatabase>
  /** The databases in use, with the caller as one more user. @throws TypeError when the resolver is closed */
  borrow(): DatabaseSet
  /** Uses this set from now on, and takes over one use of the caller. */
  replace(set: DatabaseSet): void
}

/** Reloads the databases of one resolver when their files change or on demand, and reports stale ones. */
export class Watcher {
  #staleness: StalenessTimer | null = null
  /** `null` if no source is a file, and after `stop`. */
  #reloader: Reloader | null = null
  #isWatching = false
  #openedAt = new Date()
  #reloads = 0
  #refusals = 0

  /**
   * @param files of the resolver's sources; `null` for bytes
   * @param set of the same databases
   * @throws InvalidDatabaseError when a canary has no location
   * @throws TypeError when `watch` is set and no source is a file, or a file cannot be watched
   */
  constructor(
    files: readonly (SourceFile | null)[],
    set: DatabaseSet,
    { intervalMs, canaries, staleAfterDays, onReload, onReloadError, onStale }: WatchSettings,
    resolver: WatcherHost,
  ) {
    if (intervalMs !== null && files.every((file) => file === null)) {
      throw new TypeError('watch needs a file: give a path or a file: URL')
    }
    if (intervalMs !== null) for (const file of files) if (file !== null) checkWatchable(file.path)
    checkCanaries(set, canaries)
    if (staleAfterDays !== null) {
      this.#staleness = new StalenessTimer(staleAfterDays, (databases) => onStale?.({ databases }))
      try {
        this.#staleness.watch(set.info)
      } catch (error) {
        this.stop()
        throw error
      }
    }
    if (files.every((file) => file === null)) return
    this.#isWatching = intervalMs !== null
    let previous = set.info
    this.#reloader = new Reloader(files, intervalMs, {
      canaries,
      open: resolver.open,
      borrow: resolver.borrow,
      replaced: (next) => {
        resolver.replace(next)
        this.#openedAt = new Date()
        this.#reloads++
        const event = { previous, current: next.info }
        previous = next.info
        callSafely(() => onReload?.(event))
        callSafely(() => this.#staleness?.watch(next.info))
      },
      refused: (error) => {
        this.#refusals++
        callSafely(() => onReloadError?.(error))
      },
    })
  }

  get status(): ResolverStatus {
    return {
      openedAt: this.#openedAt,
      watching: this.#isWatching,
      reloads: this.#reloads,
      refusals: this.#refusals,
      reloadError: this.#reloader?.error ?? null,
      stale: this.#staleness?.stale ?? [],
    }
  }

  /** Looks at the files at once, watched or not. Calls `onReload` or `onReloadError`. */
  async reload(): Promise<ReloadOutcome> {
    return (await this.#reloader?.reload()) ?? 'unchanged'
  }

  stop(): void {
    this.#staleness?.stop()
    this.#reloader?.stop()
    this.#isWatching = false
    this.#staleness = null
    this.#reloader = null
  }
}

/** A file may change between two looks, but not each time. */
const MAX_LOOKS = 3

/** @throws TypeError when the file has another state at each look, as in an Electron asar archive */
function checkWatchable(path: string): void {
  let previous = fileStateSync(path)
  for (let i = 0; i < MAX_LOOKS; i++) {
    const state = fileStateSync(path)
    if (state === previous) return
    previous = state
  }
  throw new TypeError(
    `watch cannot follow ${path}: its file system gives another state at each look, as inside an Electron asar archive; unpack the file (asarUnpack), or leave watch out`,
  )
}

/** Makes an error of a callback an uncaught exception, as with event listeners, so that watching continues. */
function callSafely(call: () => void): void {
  try {
    call()
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}
