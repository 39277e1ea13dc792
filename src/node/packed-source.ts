import { closeSync, fstatSync, readSync } from 'node:fs'
import { isPacked } from '../bytes/extract.ts'
import { ReadFailure } from '../errors.ts'
import { Database, type OpenDatabase } from '../mmdb/database.ts'
import type { BlockSource } from '../packed/block-file.ts'
import { openPackedBytes } from '../packed/open-bytes.ts'
import type { PackedOptions } from '../packed/packed-database.ts'
import { systemCall } from './file-bytes.ts'
import { NATIVE_CODEC } from './native-gunzip.ts'

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

/** Closes the file of a database that is no longer used and was not closed. */
const closer = new FinalizationRegistry<number>((file) => closeSync(file))

/** Most blocks have fewer bytes. They are read into memory that every read uses again. */
const SCRATCH_BYTES = 2 ** 16

/**
 * A packed file on disk. It stays open, so a file that is renamed over it changes nothing. A write into it makes `read`
 * throw, so that bytes of two editions are never mixed.
 */
export class PackedSource implements BlockSource {
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
    const isSame = systemCall(this.#path, () => {
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
