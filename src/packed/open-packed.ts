// What the core loads for a packed database: the reader, with decompression that works on every platform.
import { PORTABLE_CODEC } from '../bytes/deflate.ts'
import { PackedDatabase, type PackedOptions } from './packed-database.ts'
import { sourceOf } from './packed-file.ts'

/** Opens a packed file in memory. Throws as the constructor of {@link PackedDatabase}. */
export function openPacked(bytes: Uint8Array, path?: string, options?: PackedOptions): PackedDatabase {
  return new PackedDatabase(sourceOf(bytes), PORTABLE_CODEC, path, options)
}
