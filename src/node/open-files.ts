// Opens the files of databases. Resolvers in this thread share the database of the same unchanged file, with all that lookups
// have read.
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { ReadingOptions } from '../bytes/byte-source.ts'
import { extractUncompressed } from '../bytes/extract.ts'
import { isPacked, PACKED_MAGIC } from '../bytes/file-kind.ts'
import { ReadFailure } from '../errors.ts'
import { Database, type OpenDatabase } from '../mmdb/database.ts'
import type { BlockSource } from '../packed/block-file.ts'
import { OpenDatabases, openPackedBytes } from '../packed/open-bytes.ts'
import { PackedDatabase, type PackedOptions } from '../packed/packed-database.ts'
import { NATIVE_CODEC, readUnpacked, readUnpackedSync, systemCall } from './file-bytes.ts'

/** How a file is opened. `maxBytes` is the limit for its size, compressed and decompressed. */
export interface FileOptions extends PackedOptions, ReadingOptions {
  /**
   * Whether others replace the file while the database is in use. Windows cannot rename over a file that is open: there, a
   * packed file is read into memory then, and closed.
   */
  readonly isWatched?: boolean | undefined
}

/**
 * Opens a file, with the caller as one user of the database. A packed file is read by blocks. Others are decompressed on another
 * thread.
 *
 * @throws InvalidDatabaseError when the file cannot be read, is damaged or too large, or is not an MMDB database
 */
export async function openFile(path: string, options: FileOptions = {}): Promise<OpenDatabase> {
  const { database, key } = lookAtFile(path, options)
  return database ?? openWhole(await readUnpacked(path, options), path, options, key)
}

/** The synchronous form of {@link openFile}. */
export function openFileSync(path: string, options: FileOptions = {}): OpenDatabase {
  const { database, key } = lookAtFile(path, options)
  return database ?? openWhole(readUnpackedSync(path, options), path, options, key)
}

function openWhole(bytes: Uint8Array, path: string, options: FileOptions, key: string | null): OpenDatabase {
  const database = openDatabase(extractUncompressed(bytes, path), path, options)
  if (key !== null) open.add(key, database)
  return database
}

/** What a first look at a file gives. */
interface FirstLook {
  /** `null` when the whole file must be read to open it. */
  readonly database: OpenDatabase | null
  /** Identifies the file in its present state; `null` if resolvers cannot share it. */
  readonly key: string | null
}

const NOTHING: FirstLook = { database: null, key: null }

/**
 * Opens a file by blocks if it is packed. Gives the database of another resolver if the same unchanged file is open.
 *
 * @returns no database for other files, for pipes and devices, and for files that cannot be opened
 * @throws InvalidDatabaseError when the file cannot be read, or a packed file is damaged or too large
 */
export function lookAtFile(path: string, options: FileOptions = {}): FirstLook {
  const file = openToRead(path)
  if (file === null) return NOTHING
  let isKept = false
  let database: OpenDatabase | null = null
  try {
    const stats = systemCall(path, () => fstatSync(file, { bigint: true }))
    if (!stats.isFile()) return NOTHING
    const mustClose = options.isWatched === true && process.platform === 'win32'
    const key = keyOf(path, stats, options, mustClose)
    database = key === null ? null : open.find(key)
    if (database === null) {
      const head = new Uint8Array(PACKED_MAGIC.length)
      systemCall(path, () => readSync(file, head, 0, head.length, 0))
      if (!isPacked(head) || mustClose) return { database, key }
      const source = new PackedSource(file, path, Number(stats.size), () => key !== null && open.end(key))
      database = new PackedDatabase(source, NATIVE_CODEC, path, options)
      source.closeWhenDropped()
      isKept = true
      if (key !== null) open.add(key, database)
    }
    // The size of a source is that of its whole file too.
    options.onRead?.(Number(stats.size))
    return { database, key }
  } catch (error) {
    database?.release?.()
    throw error
  } finally {
    if (!isKept) closeSync(file)
  }
}

/** Opens a file. O_NONBLOCK keeps it from waiting for the writer of a named pipe. */
function openToRead(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch {
    return null
  }
}

/**
 * A file system can give two writes the same time. A file that was written this recently is not shared, because a later
 * write could leave its state as it is. Two seconds is the coarsest time of a file system (FAT).
 */
const MIN_AGE_MS = 2000

const open = new OpenDatabases<OpenDatabase>()

/**
 * The key of a file in its present state: equal for the same path, file, content and options.
 *
 * @param stats taken before the file is read
 * @returns `null` when the file was written just now
 */
function keyOf(
  path: string,
  { dev, ino, size, mtimeNs, ctimeNs, mtimeMs, ctimeMs }: BigIntStats,
  { maxBytes, cacheBytes }: FileOptions,
  mustClose: boolean,
): string | null {
  const written = mtimeMs > ctimeMs ? mtimeMs : ctimeMs
  if (Date.now() - Number(written) < MIN_AGE_MS) return null
  return [dev, ino, size, mtimeNs, ctimeNs, maxBytes, cacheBytes, mustClose, path].join(':')
}

/** Opens the bytes of an MMDB file, packed or not. Throws the errors of the constructors. */
export function openDatabase(bytes: Uint8Array, path?: string, options?: PackedOptions): OpenDatabase {
  return isPacked(bytes) ? openPackedBytes(bytes, NATIVE_CODEC, path, options) : new Database(bytes, path)
}

/** Closes the file of a database that is no longer used and was not closed. */
const closer = new FinalizationRegistry<number>((file) => closeSync(file))

/** Most blocks have fewer bytes. They are read into memory that every read uses again. */
const SCRATCH_BYTES = 2 ** 16

/**
 * A packed file on disk. It stays open, so a file that is renamed over it changes nothing. After a write into it, a block that does not
 * have its checksum tells so: bytes of two editions are never mixed.
 */
class PackedSource implements BlockSource {
  readonly size: number
  readonly #file: number
  readonly #path: string
  readonly #onClose: () => void
  readonly #modified: number
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  #isClosed = false

  /**
   * @param file the descriptor. The caller closes it if opening fails
   * @param size of the file in bytes
   */
  constructor(file: number, path: string, size: number, onClose: () => void) {
    this.size = size
    this.#file = file
    this.#path = path
    this.#onClose = onClose
    // The open file has always the same number and device.
    this.#modified = systemCall(path, () => fstatSync(file)).mtimeMs
  }

  /** From now on, the file is closed when nothing uses this source any more. */
  closeWhenDropped(): void {
    closer.register(this, this.#file, this)
  }

  close(): void {
    this.#isClosed = true
    closer.unregister(this)
    closeSync(this.#file)
    this.#onClose()
  }

  read(position: number, length: number): Uint8Array {
    // Another file can have got the number of the closed one.
    if (this.#isClosed) throw new ReadFailure('the file is closed', { path: this.#path })
    const isBlock = length <= SCRATCH_BYTES && length < this.size
    const bytes = isBlock ? this.#scratch.subarray(0, length) : new Uint8Array(length)
    let filled = 0
    systemCall(this.#path, () => {
      for (let count = -1; filled < length && count !== 0; filled += count) {
        count = readSync(this.#file, bytes, filled, length - filled, position + filled)
      }
    })
    // Blocks have checksums, so they need no look at the file: 1,000 lookups of a new process with the embedded database take 0.95 to
    // 0.98 of the time. Other checks come after reading, because an earlier write has changed the time.
    if (filled < length || !isBlock) this.checkUnchanged()
    return bytes
  }

  checkUnchanged(): void {
    const { size, mtimeMs } = systemCall(this.#path, () => fstatSync(this.#file))
    if (size !== this.size || mtimeMs !== this.#modified) {
      throw new ReadFailure(
        'the file was changed while it is open: open it again, and replace files by renaming others over them',
        { path: this.#path },
      )
    }
  }
}
