import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { isOutOfMemory } from '../bytes/byte-limit.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { DatabaseSet } from '../location/database-set.ts'
import type { DatabaseInfo } from '../location/vendors.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { openEach } from '../opening.ts'
import { isError, messageOf } from '../realm.ts'
import {
  callSafely,
  type FileState,
  fileState,
  fileStateSync,
  isMissing,
  oneAtATime,
  type SourceFile,
} from './file-state.ts'
import { checkCanaries, tryReplacement } from './replacement-trial.ts'
import { type ResolverStatus, StalenessTimer, type WatchSettings } from './watching.ts'

/** What a reloader needs from its resolver. */
export interface ReloaderHost {
  /** Opens a file, with the caller as one user of the database. @throws InvalidDatabaseError */
  open(path: string): Promise<OpenDatabase>
  /** The databases in use, with the caller as one more user. @throws TypeError when the resolver is closed */
  borrow(): DatabaseSet
  /** Uses this set from now on, and takes over one use of the caller. */
  replace(set: DatabaseSet): void
}

/** The result of a reload on demand. */
export type ReloadOutcome = 'replaced' | 'unchanged' | 'refused'

/** Files that were opened, and their databases. */
interface Replacement {
  readonly files: readonly (SourceFile | null)[]
  readonly set: DatabaseSet
}

/**
 * Replaces the databases of one resolver when their files change, or on demand, and reports stale ones. It polls the files: file
 * system events do not work on network file systems and container mounts, and miss symbolic links that change. All files are
 * replaced together: no new file is used while one of them is bad.
 */
export class Reloader {
  #files: readonly (SourceFile | null)[]
  readonly #settings: WatchSettings
  readonly #host: ReloaderHost
  readonly #staleness: StalenessTimer | null = null
  #info: readonly DatabaseInfo[]
  /** The states of the files when they were last looked at. */
  #seen: readonly FileState[]
  /** The states of the files that were refused last; empty when they were accepted. */
  #refused: readonly FileState[] = []
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  /** If two tasks replace the databases, the task that looked first must not end last. */
  readonly #alone = oneAtATime()
  // For the status.
  #openedAt = Date.now()
  #reloads = 0
  #refusals = 0
  #error: InvalidDatabaseError | null = null

  /**
   * @param files of the resolver's sources; `null` for bytes
   * @param set of the same databases
   * @throws InvalidDatabaseError when a canary has no location
   * @throws TypeError when `watch` is set and no source is a file, or a file cannot be watched
   */
  constructor(
    files: readonly (SourceFile | null)[],
    set: DatabaseSet,
    settings: WatchSettings,
    host: ReloaderHost,
  ) {
    const { intervalMs, canaries, staleAfterDays, onStale } = settings
    if (intervalMs !== null) {
      if (files.every((file) => file === null))
        throw new TypeError('watch needs a file: give a path or a file: URL')
      for (const file of files) if (file !== null) checkWatchable(file.path)
    }
    checkCanaries(set, canaries)
    this.#files = files
    this.#settings = settings
    this.#host = host
    this.#info = set.info
    this.#seen = this.#opened
    if (staleAfterDays !== null) {
      this.#staleness = new StalenessTimer(staleAfterDays, (databases) => onStale?.({ databases }))
      try {
        this.#staleness.watch(set.info)
      } catch (error) {
        this.stop()
        throw error
      }
    }
    this.#schedule()
  }

  get status(): ResolverStatus {
    return {
      openedAt: new Date(this.#openedAt),
      watching: this.#settings.intervalMs !== null && !this.#stopped,
      reloads: this.#reloads,
      refusals: this.#refusals,
      reloadError: this.#error,
      stale: this.#stopped ? [] : (this.#staleness?.stale ?? []),
    }
  }

  stop(): void {
    this.#stopped = true
    this.#error = null
    clearTimeout(this.#timer)
    this.#staleness?.stop()
  }

  /**
   * Looks at the files at once, with or without polls. Does not wait until they stay the same: the caller knows that they are
   * written. Files that were refused are tried again, and reported again.
   */
  reload(): Promise<ReloadOutcome> {
    return this.#alone(async () => {
      const states = await this.#states()
      if (this.#stopped) return 'unchanged'
      this.#seen = states
      this.#refused = []
      if (!same(states, this.#opened)) return this.#reload(states, true)
      this.#accept()
      return 'unchanged'
    })
  }

  get #opened(): readonly FileState[] {
    return this.#files.map((file) => file?.state ?? '')
  }

  #schedule(): void {
    const { intervalMs } = this.#settings
    if (intervalMs === null) return
    this.#timer = setTimeout(() => this.#alone(() => this.#poll()), intervalMs).unref()
  }

  async #poll(): Promise<void> {
    const states = await this.#states()
    if (this.#stopped) return
    if (!same(states, this.#seen)) {
      // It may still be being written: wait until two polls see the same.
      this.#seen = states
    } else if (same(states, this.#opened)) {
      this.#accept()
    } else if (!same(states, this.#refused) || (isTemporary(this.#error) && !states.some(isMissing))) {
      await this.#reload(states)
    }
    if (!this.#stopped) this.#schedule()
  }

  /** @param reportsChange whether a file that changes while it is read is refused, rather than left to the next poll */
  async #reload(states: readonly FileState[], reportsChange = false): Promise<ReloadOutcome> {
    const outcome = await this.#openAndTry(states).catch(asInvalidDatabase)
    const later = await this.#states()
    if (!same(later, states) || this.#stopped) {
      if (!(outcome instanceof InvalidDatabaseError)) outcome.set.release()
      if (!reportsChange || this.#stopped) return 'unchanged'
      const changed = this.#files.find((_, index) => later[index] !== states[index])
      const message = 'it changed while it was read: replace files by renaming, then reload again'
      return this.#refuse(new InvalidDatabaseError(message, { path: changed?.path }), states)
    }
    if (outcome instanceof InvalidDatabaseError) return this.#refuse(outcome, states)
    const { files, set } = outcome
    this.#accept()
    this.#files = files
    this.#host.replace(set)
    this.#openedAt = Date.now()
    this.#reloads++
    const event = { previous: this.#info, current: set.info }
    this.#info = set.info
    callSafely(() => this.#settings.onReload?.(event))
    // The callback may have closed the resolver.
    if (!this.#stopped) callSafely(() => this.#staleness?.watch(set.info))
    return 'replaced'
  }

  #accept(): void {
    this.#error = null
    this.#refused = []
  }

  #refuse(error: InvalidDatabaseError, states: readonly FileState[]): 'refused' {
    // Reading `stack` lets V8 release the frames it has captured, which hold the refused database in memory.
    for (let each: unknown = error; isError(each); each = each.cause) String(each.stack)
    this.#error = error
    if (!same(states, this.#refused)) {
      this.#refused = states
      this.#refusals++
      callSafely(() => this.#settings.onReloadError?.(error))
    }
    return 'refused'
  }

  /** Opens the files that have changed and tries them with the others. @throws InvalidDatabaseError */
  async #openAndTry(states: readonly FileState[]): Promise<Replacement> {
    const files = this.#files.map((file, index) => file && { path: file.path, state: states[index] ?? '' })
    const previous = this.#host.borrow()
    try {
      const databases = await this.#openChanged(files, previous.databases)
      const set = new DatabaseSet(databases, previous.options)
      try {
        await tryReplacement(set, previous, this.#settings.canaries)
      } catch (error) {
        set.release()
        throw error
      }
      return { files, set }
    } finally {
      previous.release()
    }
  }

  /**
   * @param previous the databases in use
   * @returns the databases of unchanged files, and newly opened databases of changed files. The caller has one use of each
   */
  #openChanged(
    files: readonly (SourceFile | null)[],
    previous: readonly OpenDatabase[],
  ): Promise<readonly OpenDatabase[]> {
    return openEach(previous.entries(), async ([index, database]) => {
      const file = files[index] ?? null
      if (file === null || file.state === this.#files[index]?.state) {
        database.retain?.()
        return database
      }
      const opened = await this.#open(file.path)
      await setImmediate()
      return opened
    })
  }

  async #open(path: string): Promise<OpenDatabase> {
    // Reading a pipe would wait for its writer.
    const isFile = await stat(path).then(
      (stats) => stats.isFile(),
      () => true,
    )
    if (!isFile) throw new InvalidDatabaseError('it is no longer a regular file', { path })
    return this.#host.open(path)
  }

  /** Sequential, so that a file system that hangs blocks only one of Node's few threads. */
  async #states(): Promise<FileState[]> {
    const states: FileState[] = []
    for (const file of this.#files) states.push(file === null ? '' : await fileState(file.path))
    return states
  }
}

function same(some: readonly FileState[], others: readonly FileState[]): boolean {
  return some.length === others.length && some.every((state, index) => state === others[index])
}

/** Whether to retry an unchanged file: system errors and a lack of memory can be temporary. */
function isTemporary(error: InvalidDatabaseError | null): boolean {
  const cause = error?.cause
  return isOutOfMemory(cause) || (isError(cause) && 'syscall' in cause)
}

function asInvalidDatabase(error: unknown): InvalidDatabaseError {
  if (error instanceof InvalidDatabaseError) return error
  return new InvalidDatabaseError(`it cannot be opened: ${messageOf(error)}`, { cause: error })
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
