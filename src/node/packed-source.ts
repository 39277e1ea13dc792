import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { isPacked, PACKED_MAGIC } from '../bytes/extract.ts'
import { ReadFailure } from '../errors.ts'
import { Database, type OpenDatabase } from '../mmdb/database.ts'
import type { BlockSource } from '../packed/block-file.ts'
import { openPackedBytes } from '../packed/open-bytes.ts'
import { PackedDatabase, type PackedOptions } from '../packed/packed-database.ts'
import { messageOf } from '../realm.ts'
import { NATIVE_CODEC } from './native-gunzip.ts'
import {
  endSharing,
  type FileOptions,
  fileKey,
  mustClose,
  openedDatabase,
  shareOpened,
} from './open-files.ts'

/** Closes the file of a database that is no longer used and was not closed. */
const closer = new FinalizationRegistry<number>((file) => closeSync(file))

/** Opens the bytes of an MMDB file, packed or not. Throws the errors of the constructors. */
export function openDatabase(
  bytes: Uint8Array,
  path?: string,
  options?: PackedOptions,
  tables?: SharedArrayBuffer,
): OpenDatabase {
  return isPacked(bytes)
    ? openPackedBytes(bytes, NATIVE_CODEC, path, options, tables)
    : new Database(bytes, path, tables)
}

/** What a first look at a file gives. */
export interface FirstLook {
  /** `null` when the whole file must be read to open it. */
  readonly database: OpenDatabase | null
  /** The size of the file in bytes; 0 if it is unknown. */
  readonly size: number
  /** For `shareOpened`, when the file has been read; `null` if resolvers cannot share it. */
  readonly key: string | null
}

const NOTHING: FirstLook = { database: null, size: 0, key: null }

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
  try {
    const stats = reading(path, () => fstatSync(file, { bigint: true }))
    if (!stats.isFile()) return NOTHING
    const size = Number(stats.size)
    const key = fileKey(path, stats, options)
    const opened = openedDatabase(key)
    if (opened !== null) return { database: opened, size, key }
    const head = new Uint8Array(PACKED_MAGIC.length)
    reading(path, () => readSync(file, head, 0, head.length, 0))
    if (!isPacked(head) || mustClose(options)) return { database: null, size, key }
    const source = new PackedSource(file, path, stats, key)
    const database = new PackedDatabase(source, NATIVE_CODEC, path, options)
    closer.register(source, file, source)
    isKept = true
    return { database: shareOpened(key, database), size, key }
  } finally {
    if (!isKept) closeSync(file)
  }
}

/** With O_NONBLOCK, this does not wait for the writer of a named pipe. */
function openToRead(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch {
    return null
  }
}

/** Most blocks have fewer bytes. They are read into memory that every read uses again. */
const SCRATCH_BYTES = 2 ** 16

/**
 * A packed file on disk. It stays open, so a file that is renamed over it changes nothing. A write into it makes `read`
 * throw, so that bytes of two editions are never mixed.
 */
class PackedSource implements BlockSource {
  readonly size: number
  readonly #file: number
  readonly #path: string
  readonly #modified: number
  readonly #scratch = new Uint8Array(SCRATCH_BYTES)
  #isClosed = false

  constructor(
    file: number,
    path: string,
    stats: BigIntStats,
    readonly key: string | null,
  ) {
    this.size = Number(stats.size)
    this.#file = file
    this.#path = path
    // The open file has always the same number and device.
    this.#modified = reading(path, () => fstatSync(file)).mtimeMs
  }

  close(): void {
    this.#isClosed = true
    closer.unregister(this)
    closeSync(this.#file)
    endSharing(this.key)
  }

  read(position: number, length: number): Uint8Array {
    // Another file can have got the number of the closed one.
    if (this.#isClosed) throw new ReadFailure('the file is closed', { path: this.#path })
    const isBlock = length <= SCRATCH_BYTES && length < this.size
    const bytes = isBlock ? this.#scratch.subarray(0, length) : new Uint8Array(length)
    let filled = 0
    const isSame = reading(this.#path, () => {
      for (let count = -1; filled < length && count !== 0; filled += count) {
        count = readSync(this.#file, bytes, filled, length - filled, position + filled)
      }
      // Check after reading: an earlier write has changed the time.
      const { size, mtimeMs } = fstatSync(this.#file)
      return size === this.size && mtimeMs === this.#modified
    })
    if (filled < length || !isSame) {
      throw new ReadFailure(
        'the file was changed while it is open: open it again, and replace files by renaming others over them',
        { path: this.#path },
      )
    }
    return bytes
  }
}

/** Runs a system call. @throws InvalidDatabaseError when it fails */
function reading<Result>(path: string, call: () => Result): Result {
  try {
    return call()
  } catch (error) {
    throw unreadableFile(path, error)
  }
}

/** The error for a file that the operating system cannot read. */
export function unreadableFile(path: string, cause: unknown): ReadFailure {
  return new ReadFailure(`it cannot be read: ${messageOf(cause)}`, { path, cause })
}
