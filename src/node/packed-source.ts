import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { isPacked, PACKED_MAGIC } from '../bytes/extract.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { Database, type OpenDatabase } from '../mmdb/database.ts'
import { PackedDatabase, type PackedOptions } from '../packed/packed-database.ts'
import { type BlockSource, sourceOf } from '../packed/packed-file.ts'
import { messageOf } from '../realm.ts'
import { NATIVE_CODEC } from './native-gunzip.ts'

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
    ? new PackedDatabase(sourceOf(bytes), NATIVE_CODEC, path, options)
    : new Database(bytes, path, tables)
}

/**
 * Opens a file by blocks if it is packed.
 *
 * @returns `null` for other files, for pipes and devices, and for files that cannot be opened
 * @throws InvalidDatabaseError when a packed file is damaged or too large
 */
export function openPackedFile(path: string, options?: PackedOptions): PackedDatabase | null {
  const file = openRegularFile(path)
  if (file === null) return null
  let database: PackedDatabase | null = null
  try {
    const head = new Uint8Array(PACKED_MAGIC.length)
    readSync(file, head, 0, head.length, 0)
    if (!isPacked(head)) return null
    const source = new PackedSource(file, path)
    database = new PackedDatabase(source, NATIVE_CODEC, path, options)
    closer.register(source, file, source)
    return database
  } finally {
    if (database === null) closeSync(file)
  }
}

/** Opens a file if it is a regular one. With O_NONBLOCK, this does not wait for the writer of a named pipe. */
function openRegularFile(path: string): number | null {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch {
    return null
  }
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  return null
}

/**
 * A packed file on disk. It stays open, so a file that is renamed over it changes nothing. A write into it makes `read`
 * throw, so that bytes of two editions are never mixed.
 */
class PackedSource implements BlockSource {
  readonly size: number
  readonly #file: number
  readonly #path: string
  readonly #state: string
  #isClosed = false

  constructor(file: number, path: string) {
    const stats = fstatSync(file)
    this.size = stats.size
    this.#file = file
    this.#path = path
    this.#state = stateOf(stats)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    closer.unregister(this)
    closeSync(this.#file)
  }

  read(position: number, length: number): Uint8Array {
    // Another file can have got the number of the closed one.
    if (this.#isClosed) throw new InvalidDatabaseError('the file is closed', { path: this.#path })
    const bytes = new Uint8Array(length)
    let isSame: boolean
    let filled = 0
    try {
      for (let count = -1; filled < length && count !== 0; filled += count) {
        count = readSync(this.#file, bytes, filled, length - filled, position + filled)
      }
      // Check after reading: an earlier write has changed the state.
      isSame = stateOf(fstatSync(this.#file)) === this.#state
    } catch (error) {
      throw unreadable(this.#path, error)
    }
    if (filled < length || !isSame) {
      throw new InvalidDatabaseError(
        'the file was changed while it is open: open it again, and replace files by renaming others over them',
        { path: this.#path },
      )
    }
    return bytes
  }
}

/** The error for a file that the operating system cannot read. */
export function unreadable(path: string, cause: unknown): InvalidDatabaseError {
  return new InvalidDatabaseError(`it cannot be read: ${messageOf(cause)}`, { path, cause })
}

/** Without `ctime`, which also changes when another file is renamed over this one. */
function stateOf({ dev, ino, size, mtimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs].join(':')
}
