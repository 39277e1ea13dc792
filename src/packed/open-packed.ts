// The code that the core loads on demand: to read a packed database, and to decompress gzip and archives. It works on every
// platform.
import { PORTABLE_CODEC } from '../bytes/gunzip.ts'
import { openPackedBytes } from './open-bytes.ts'
import type { PackedDatabase, PackedOptions } from './packed-database.ts'

/** Opens a packed file in memory. Throws the errors of {@link openPackedBytes}. */
export function openPacked(
  bytes: Uint8Array,
  path?: string,
  options?: PackedOptions,
  tables?: SharedArrayBuffer,
): PackedDatabase {
  return openPackedBytes(bytes, PORTABLE_CODEC, path, options, tables)
}

export { extractUncompressed } from '../bytes/extract.ts'
export { gunzip } from '../bytes/gunzip.ts'
