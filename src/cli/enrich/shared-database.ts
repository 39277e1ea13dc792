import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { allocate, ByteCollector, DEFAULT_MAX_BYTES } from '../../bytes/byte-limit.ts'
import { extractUncompressed, isPacked } from '../../bytes/extract.ts'
import { isGzip } from '../../bytes/gzip-member.ts'
import { isGeofixError } from '../../errors.ts'
import { DatabaseSet } from '../../location/database-set.ts'
import { readUnpacked } from '../../node/file-bytes.ts'
import { NATIVE_CODEC, nativeGunzipAsync } from '../../node/native-gunzip.ts'
import { openDatabase, unreadable } from '../../node/packed-source.ts'
import { expandFile } from '../../packed/expand.ts'
import { PackedFile, sourceOf } from '../../packed/packed-file.ts'

/** A database in memory that all threads of the process share. Workers receive it without a copy. */
export interface SharedDatabase {
  /** The MMDB file, packed or not. */
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** The path of the file, for messages. */
  readonly path: string | undefined
}

/**
 * Reads a database file into shared memory, and decompresses it.
 *
 * @param source a path, or the URL of an embedded database
 * @param maxBytes limit for the file, compressed and decompressed
 * @param signal stops waiting for the writer of a named pipe
 * @throws InvalidDatabaseError when the file cannot be read, is too large, or is damaged
 */
export async function loadShared(
  source: string | URL,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: AbortSignal,
): Promise<SharedDatabase> {
  const path = typeof source === 'string' ? source : fileURLToPath(source)
  const bytes = await readFile(path, maxBytes, signal)
  return { bytes: shared(extractUncompressed(bytes, path), path), path }
}

/**
 * The limit of the decoded blocks of a packed database, in bytes. It has room for all IPv4 networks and the whole data of a
 * city database, and for those IPv6 networks that a log has: with half of it, a million lines take a third more time.
 */
const CACHE_BYTES = 201_326_592

/**
 * The same database for several threads: each of them would decode the blocks of a packed one for itself, and keep them.
 * Takes a second of processor time for a packed city database. One thread is faster with the packed one at any size.
 *
 * @throws InvalidDatabaseError when the database is packed and damaged
 */
export function expanded({ bytes, path }: SharedDatabase): SharedDatabase {
  if (!isPacked(bytes)) return { bytes, path }
  return {
    bytes: expandFile(new PackedFile(sourceOf(bytes), NATIVE_CODEC, path), sharedBytes) ?? bytes,
    path,
  }
}

/** Opens loaded databases, in any thread. @throws InvalidDatabaseError when a file is not an MMDB database */
export function openShared(databases: readonly SharedDatabase[]): DatabaseSet {
  return new DatabaseSet(
    databases.map(({ bytes, path }) => openDatabase(bytes, path, { cacheBytes: CACHE_BYTES })),
  )
}

async function readFile(path: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
  try {
    if ((await stat(path)).isFIFO()) return await readNamedPipe(path, maxBytes, signal)
    return await readUnpacked(path, maxBytes, signal, sharedBytes)
  } catch (cause) {
    throw isGeofixError(cause) ? cause : unreadable(path, cause)
  }
}

/** Reads a named pipe to its end, such as a shell's <(…), and decompresses gzip. */
async function readNamedPipe(path: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
  const { openPipeToRead } = await import('./pipe-stream.ts')
  const collector = new ByteCollector(maxBytes, path)
  for await (const chunk of await openPipeToRead(path, signal)) {
    if (chunk instanceof Uint8Array) collector.add(chunk)
  }
  const bytes = collector.bytes()
  return isGzip(bytes) ? nativeGunzipAsync(bytes, path, maxBytes) : bytes
}

function sharedBytes(length: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(length))
}

/** Copies bytes into shared memory if they are not in shared memory already. */
function shared(bytes: Uint8Array, path: string): Uint8Array<SharedArrayBuffer> {
  const { buffer, byteOffset, length } = bytes
  if (buffer instanceof SharedArrayBuffer) return new Uint8Array(buffer, byteOffset, length)
  const copy = allocate(length, sharedBytes, path)
  copy.set(bytes)
  return copy
}
