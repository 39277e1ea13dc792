import type { BlockCodec } from '../bytes/gunzip.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { sourceOf } from './block-file.ts'
import { HEADER_BYTES } from './directory.ts'
import { PackedDatabase, type PackedOptions } from './packed-database.ts'

/** Keeps each holder as long as its database. */
const holders = new WeakMap<object, unknown>()

/**
 * Open databases by keys that are equal for the same bytes, opened in the same way. A `WeakRef` keeps its target until the job
 * ends, which for a synchronous program is its whole run. {@link end} lets a database go at once.
 */
export class OpenDatabases<Open extends OpenDatabase> {
  readonly #holders = new Map<string, WeakRef<{ database: Open | null }>>()
  /** Removes the entries of databases that were dropped and not closed. */
  readonly #dropped = new FinalizationRegistry<string>((key) => {
    if (this.#holders.get(key)?.deref() === undefined) this.#holders.delete(key)
  })

  /** The database of a key, with the caller as one more user; `null` when there is none. */
  find(key: string): Open | null {
    const database = this.#holders.get(key)?.deref()?.database ?? null
    return database?.retain?.() === false ? null : database
  }

  add(key: string, database: Open): void {
    const holder = { database }
    holders.set(database, holder)
    this.#holders.set(key, new WeakRef(holder))
    this.#dropped.register(database, key)
  }

  /** Lets a database go whose last user has gone. */
  end(key: string): void {
    const holder = this.#holders.get(key)?.deref()
    if (holder !== undefined) holder.database = null
    this.#holders.delete(key)
  }
}

/** The packed files in each memory. */
const open = new WeakMap<ArrayBufferLike, OpenDatabases<PackedDatabase>>()

/**
 * Opens a packed file in memory. Resolvers of the same bytes share one database, with its directory and its decoded
 * blocks. The caller has one use of it.
 *
 * @throws InvalidDatabaseError when the file's header, directory or metadata is damaged, or the file is too large
 */
export function openPackedBytes(
  bytes: Uint8Array,
  codec: BlockCodec,
  path?: string,
  options: PackedOptions = {},
): PackedDatabase {
  const { buffer, byteOffset, byteLength } = bytes
  // Other bytes can be written into the memory later. The header has the checksum of the directory, and the directory has the
  // checksums of all blocks.
  const header = bytes.subarray(0, HEADER_BYTES).join()
  const { maxBytes, cacheBytes, tables } = options
  const key = [byteOffset, byteLength, header, tables !== undefined, maxBytes, cacheBytes, path].join(':')
  const others = open.get(buffer) ?? new OpenDatabases()
  open.set(buffer, others)
  const known = others.find(key)
  if (known !== null) return known
  const source = { ...sourceOf(bytes), close: () => others.end(key) }
  const database = new PackedDatabase(source, codec, path, options)
  others.add(key, database)
  return database
}
