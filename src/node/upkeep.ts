import type { InvalidDatabaseError } from '../errors.ts'
import type { DatabaseInfo } from '../location/database-info.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import type { Database } from '../mmdb/database.ts'
import { AgeWatch } from './age-watch.ts'
import { checkCanaries } from './candidate.ts'
import type { OpenSource } from './node-source.ts'
import { Reloader } from './reloader.ts'
import type { WatchSettings } from './watch-options.ts'

/** How a resolver's databases are doing, for monitoring. A picture of one moment. */
export interface ResolverStatus {
  /** When what answers now was opened. */
  readonly openedAt: Date
  /** Whether the files are followed: with the option `watch`, until `close()`. */
  readonly watching: boolean
  /** How many replacements were taken since opening. */
  readonly reloads: number
  /** How many were refused since opening. */
  readonly refusals: number
  /** Why the files as they were found last do not answer, but those before them; `null` when they do. */
  readonly reloadError: InvalidDatabaseError | null
  /** The databases that are older than `staleAfter`; none without that option. */
  readonly stale: readonly DatabaseInfo[]
}

/** What upkeep needs of its resolver. */
export interface UpkeepHost {
  /** Opens a file as the resolver opened its first ones. @throws InvalidDatabaseError */
  open(path: string): Promise<Database>
  /** From now on this set answers. */
  replace(set: DatabaseSet): void
}

/** Keeps the databases of one resolver fresh, or says that they are not. */
export class Upkeep {
  #ages: AgeWatch | null = null
  #reloader: Reloader | null = null
  #openedAt = new Date()
  #reloads = 0
  #refusals = 0

  /**
   * @param sources what the resolver was opened with
   * @param set made of them
   * @throws InvalidDatabaseError when a canary has no location
   * @throws TypeError when files are to be watched and there is none
   */
  constructor(
    sources: readonly OpenSource[],
    set: DatabaseSet,
    { interval, canaries, staleAfter, onReload, onReloadError, onStale }: WatchSettings,
    resolver: UpkeepHost,
  ) {
    if (interval !== null && sources.every(({ file }) => file === null)) {
      throw new TypeError('watch follows files: give a path or a file: URL')
    }
    checkCanaries(set, canaries)
    if (staleAfter !== null) {
      this.#ages = new AgeWatch(staleAfter, (databases) => onStale?.({ databases }))
      try {
        this.#ages.judge(set.info)
      } catch (error) {
        this.stop()
        throw error
      }
    }
    if (interval === null) return
    let previous = set.info
    this.#reloader = new Reloader(sources, set, interval, {
      canaries,
      open: resolver.open,
      replaced: (next) => {
        resolver.replace(next)
        this.#openedAt = new Date()
        this.#reloads++
        const event = { previous, current: next.info }
        previous = next.info
        undisturbed(() => onReload?.(event))
        undisturbed(() => this.#ages?.judge(next.info))
      },
      refused: (error) => {
        this.#refusals++
        undisturbed(() => onReloadError?.(error))
      },
    })
  }

  get status(): ResolverStatus {
    return {
      openedAt: this.#openedAt,
      watching: this.#reloader !== null,
      reloads: this.#reloads,
      refusals: this.#refusals,
      reloadError: this.#reloader?.error ?? null,
      stale: this.#ages?.stale ?? [],
    }
  }

  stop(): void {
    this.#ages?.stop()
    this.#reloader?.stop()
    this.#ages = null
    this.#reloader = null
  }
}

/** What a program's function throws is an uncaught exception, as with event listeners, and none of ours. */
function undisturbed(call: () => void): void {
  try {
    call()
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}
