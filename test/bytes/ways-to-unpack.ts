import { gunzip, gunzipInPieces } from '../../src/bytes/gunzip.ts'
import { nativeGunzip, nativeGunzipAsync, readUnpacked, readUnpackedSync } from '../../src/node/file-bytes.ts'
import { makeFile } from '../temporary.ts'

/** Decompresses a gzip file, or throws. */
export type Unpack = (packed: Uint8Array, maxBytes?: number) => Promise<Uint8Array>

/**
 * Every function that decompresses a gzip file.
 *
 * @param path of a file that may be written, for the ways that read one
 */
export function waysToUnpack(path: string): [name: string, unpack: Unpack][] {
  const write = (bytes: Uint8Array): string => makeFile(path, bytes)
  return [
    ['portable', async (packed, max) => gunzip(packed, undefined, max)],
    ['in pieces', (packed, max) => gunzipInPieces(packed, max)],
    ['native', async (packed, max) => nativeGunzip(packed, undefined, max)],
    ['native, in the background', (packed, max) => nativeGunzipAsync(packed, undefined, max)],
    ['from a file', (packed, maxBytes) => readUnpacked(write(packed), { maxBytes })],
    ['from a file at once', async (packed, maxBytes) => readUnpackedSync(write(packed), { maxBytes })],
  ]
}
