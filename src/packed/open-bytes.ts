import type { BlockCodec } from '../bytes/gunzip.ts'
import { sourceOf } from './block-file.ts'
import { HEADER_BYTES } from './format.ts'
import { PackedDatabase, type PackedOptions } from './packed-database.ts'

/** Keeps each holder as long as its target. */
const holders = new WeakMap<object, unknown>()

/**
 * A weak reference to something that is closed when nobody needs it any more. A `WeakRef` keeps its target until the job ends,
 * which for a synchronous program is its whole run. {@link clear} lets the target go at once.
 */
export class ClearableRef<Target extends object> {
  readonly #holder: WeakRef<{ target: Target | undefined }>

  constructor(target: Target) {
    const holder: { target: Target | undefined } = { target }
    holders.set(target, holder)
    this.#holder = new WeakRef(holder)
  }

  /** The target; `undefined` when it was cleared or collected. */
  deref(): Target | undefined {
    return this.#holder.deref()?.target
  }

  clear(): void {
    const holder = this.#holder.deref()
    if (holder !== undefined) holder.target = undefined
  }
}

/** An open packed file in memory. */
interface OpenBytes {
  /** Equal for the same part of the same memory, opened in the same way. */
  readonly key: string
  /** A copy. The header has the checksum of the directory, and the directory has the checksums of all blocks. */
  readonly header: Uint8Array
  readonly codec: BlockCodec
  readonly database: ClearableRef<PackedDatabase>
}

const open = new WeakMap<ArrayBufferLike, readonly OpenBytes[]>()

/**
 * Opens a packed file in memory. Resolvers of the same bytes share one database, with its directory and its decoded
 * blocks. The caller has one use of it.
 *
 * @param tables memory of decoded blocks that threads share
 * @throws InvalidDatabaseError when the file's header, directory or metadata is damaged, or the file is too large
 */
export function openPackedBytes(
  bytes: Uint8Array,
  codec: BlockCodec,
  path?: string,
  options: PackedOptions = {},
  tables?: SharedArrayBuffer,
): PackedDatabase {
  const { buffer, byteOffset, byteLength } = bytes
  const key = [byteOffset, byteLength, options.maxBytes, options.cacheBytes, path].join(':')
  const live = (open.get(buffer) ?? []).filter(({ database }) => database.deref() !== undefined)
  for (const each of live) {
    const database = each.database.deref()
    // Other bytes can have been written into the memory since.
    const isSame =
      each.key === key && each.codec === codec && each.header.every((byte, i) => byte === bytes[i])
    if (!isSame || database?.isShared !== (tables !== undefined)) continue
    if (database.retain()) return database
  }
  const close = (): void => reference.clear()
  const database = new PackedDatabase({ ...sourceOf(bytes), close }, codec, path, options)
  const reference = new ClearableRef(database)
  if (tables !== undefined) database.attachTables(tables)
  const header = Uint8Array.from(bytes.subarray(0, HEADER_BYTES))
  open.set(buffer, [...live, { key, header, codec, database: reference }])
  return database
}
