// The databases of the files that are open in this thread. Resolvers of the same unchanged file share one of them, with
// all that lookups have read.
import type { BigIntStats } from 'node:fs'
import { ClearableRef } from '../bytes/clearable-ref.ts'
import type { ProgressMeter } from '../bytes/progress.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import type { PackedOptions } from '../packed/packed-database.ts'
import type { SignalLike } from '../platform-types.ts'

/** How a file is opened. */
export interface FileOptions extends PackedOptions {
  /**
   * Whether others replace the file while the database is in use. Windows cannot rename over a file that is open: there, a
   * packed file is read into memory then, and closed.
   */
  readonly isWatched?: boolean | undefined
}

/** How a source is read and opened. `maxBytes` is the limit for its size, compressed and decompressed. */
export interface ReadOptions extends FileOptions {
  readonly signal?: SignalLike | undefined
  /** Gets the number of bytes read. */
  readonly progress?: ProgressMeter | undefined
}

/** Whether a file must not stay open. */
export function mustClose({ isWatched = false }: FileOptions): boolean {
  return isWatched && process.platform === 'win32'
}

/**
 * A file system can give two writes the same time. A file that was written this recently is not shared, because a later
 * write could leave its state as it is. Two seconds is the coarsest time of a file system (FAT).
 */
const MIN_AGE_MS = 2000

const open = new Map<string, ClearableRef<OpenDatabase>>()

/** Removes the entries of databases that were dropped and not closed. */
const dropped = new FinalizationRegistry<string>((key) => {
  if (open.get(key)?.deref() === undefined) open.delete(key)
})

/**
 * The key of a file in its present state: equal for the same path, file, content and options.
 *
 * @param stats taken before the file is read
 * @returns `null` when the file was written just now
 */
export function fileKey(path: string, stats: BigIntStats, options: FileOptions = {}): string | null {
  const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs, ctimeMs } = stats
  const written = mtimeMs > ctimeMs ? mtimeMs : ctimeMs
  if (Date.now() - Number(written) < MIN_AGE_MS) return null
  return [
    dev,
    ino,
    size,
    mtimeNs,
    ctimeNs,
    options.maxBytes,
    options.cacheBytes,
    mustClose(options),
    path,
  ].join(':')
}

/** The open database of a file, with the caller as one more user; `null` when there is none. */
export function openedDatabase(key: string | null): OpenDatabase | null {
  if (key === null) return null
  const database = open.get(key)?.deref()
  if (database === undefined || database.retain?.() === false) return null
  return database
}

/** Lets later resolvers of the same file share a database. */
export function shareOpened<Opened extends OpenDatabase>(key: string | null, database: Opened): Opened {
  if (key !== null) {
    open.set(key, new ClearableRef<OpenDatabase>(database))
    dropped.register(database, key)
  }
  return database
}

/** Lets the database of a file go whose last user has gone. */
export function endSharing(key: string | null): void {
  if (key === null) return
  open.get(key)?.clear()
  open.delete(key)
}
