// The core loads this file when it meets a packed database, and before `openSync` for compressed ones and archives. Its decompression works on every platform.
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
