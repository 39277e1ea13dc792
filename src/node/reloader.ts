import { stat } from 'node:fs/promises'
import type { Address } from '../address/address.ts'
import { isOutOfMemory } from '../bytes/byte-limit.ts'
import { InvalidDatabaseError } from '../errors.ts'
import type { Database } from '../mmdb/database.ts'
import { isError, messageOf } from '../realm.ts'
import { DatabaseSet } from '../record/database-set.ts'
import { checkCandidate } from './candidate.ts'
import { type FileState, fileState, isMissing } from './file-state.ts'
import type { OpenSource } from './node-source.ts'

/** What a reloader needs of the resolver whose files it follows. */
export interface ReloaderHost {
  readonly canaries: readonly Address[]
  /** @throws InvalidDatabaseError */
  open(path: string): Promise<Database>
  /** From now on this set is to answer. */
  replaced(set: DatabaseSet): void
  /** The files cannot take the place of what is open. Once for each state of them. */
  refused(error: InvalidDatabaseError): void
}

/**
 * Follows the files of a resolver by looking at their state again and again: notices of the system would not
 * come from network file systems and container mounts, and miss links that are pointed elsewhere. All
 * files are tried together: while one of them is bad, none is taken.
 */
export class Reloader {
  #error: InvalidDatabaseError | null = null
  #sources: readonly OpenSource[]
  #set: DatabaseSet
  readonly #interval: number
  readonly #host: ReloaderHost
  /** The states of the files at the last look. */
  #seen: readonly FileState[]
  /** Those of the files that were refused, if they were. */
  #refused: readonly FileState[] = []
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /**
   * @param set what answers, made of the sources
   * @param interval milliseconds between two looks
   */
  constructor(sources: readonly OpenSource[], set: DatabaseSet, interval: number, host: ReloaderHost) {
    this.#sources = sources
    this.#set = set
    this.#interval = interval
    this.#host = host
    this.#seen = this.#opened
    this.#schedule()
  }

  /** Why the files as they were found last do not answer; `null` when they do. */
  get error(): InvalidDatabaseError | null {
    return this.#error
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  get #opened(): readonly FileState[] {
    return this.#sources.map(({ file }) => file?.state ?? '')
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.#look(), this.#interval).unref()
  }

  async #look(): Promise<void> {
    const states = await this.#states()
    if (this.#stopped) return
    if (!same(states, this.#seen)) {
      // Perhaps still being written: at the next look it may have come to rest.
      this.#seen = states
    } else if (same(states, this.#opened)) {
      this.#accept()
    } else if (!same(states, this.#refused) || (canPass(this.#error) && !states.some(isMissing))) {
      await this.#reload(states)
    }
    if (!this.#stopped) this.#schedule()
  }

  async #reload(states: readonly FileState[]): Promise<void> {
    const outcome = await this.#candidate(states).catch(asInvalidDatabase)
    // What was written to while it was read is neither sound nor damaged.
    if (!same(await this.#states(), states) || this.#stopped) return
    if (outcome instanceof InvalidDatabaseError) this.#refuse(outcome, states)
    else {
      this.#accept()
      this.#sources = outcome.sources
      this.#set = outcome.set
      this.#host.replaced(outcome.set)
    }
  }

  #accept(): void {
    this.#error = null
    this.#refused = []
  }

  #refuse(error: InvalidDatabaseError, states: readonly FileState[]): void {
    // Until it is read for the first time, V8 keeps what stood on the stack: all of the refused database.
    for (let each: unknown = error; isError(each); each = each.cause) String(each.stack)
    this.#error = error
    if (same(states, this.#refused)) return
    this.#refused = states
    this.#host.refused(error)
  }

  /** The sources with the files that have changed opened anew. @throws InvalidDatabaseError */
  async #candidate(states: readonly FileState[]): Promise<{ sources: OpenSource[]; set: DatabaseSet }> {
    const sources: OpenSource[] = []
    for (const [index, source] of this.#sources.entries()) {
      const { file } = source
      const state = states[index]
      if (file === null || state === undefined || state === file.state) sources.push(source)
      else sources.push({ database: await this.#open(file.path), file: { path: file.path, state } })
    }
    const set = new DatabaseSet(sources.map(({ database }) => database))
    await checkCandidate(set, this.#set, this.#host.canaries)
    return { sources, set }
  }

  async #open(path: string): Promise<Database> {
    // A pipe would be waited for.
    const isFile = await stat(path).then(
      (stats) => stats.isFile(),
      () => true,
    )
    if (!isFile) throw new InvalidDatabaseError('it is no regular file any more', { path })
    return this.#host.open(path)
  }

  /** One after the other: on a file system that hangs, each look would hold one of Node's few threads. */
  async #states(): Promise<FileState[]> {
    const states: FileState[] = []
    for (const { file } of this.#sources) states.push(file === null ? '' : await fileState(file.path))
    return states
  }
}

function same(some: readonly FileState[], others: readonly FileState[]): boolean {
  return some.length === others.length && some.every((state, index) => state === others[index])
}

/** Whether the system refused to read the file, or had no memory: that can pass without a change of the file. */
function canPass(error: InvalidDatabaseError | null): boolean {
  const cause = error?.cause
  return isOutOfMemory(cause) || (isError(cause) && 'syscall' in cause)
}

function asInvalidDatabase(error: unknown): InvalidDatabaseError {
  if (error instanceof InvalidDatabaseError) return error
  return new InvalidDatabaseError(`it cannot be opened: ${messageOf(error)}`, { cause: error })
}
