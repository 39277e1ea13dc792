import { type FileHandle, open, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createGunzip } from 'node:zlib'
import { allocate, ByteCollector, checkSize, DEFAULT_MAX_BYTES } from '../../bytes/byte-limit.ts'
import { extractUncompressed } from '../../bytes/extract.ts'
import { isGzip } from '../../bytes/gzip-member.ts'
import { InvalidDatabaseError, isGeofixError } from '../../errors.ts'
import { DatabaseSet } from '../../location/database-set.ts'
import { Database } from '../../mmdb/database.ts'
import { readPipe } from '../../node/file-bytes.ts'
import { readOnlyMember, trailingBytes, unreadableGzip } from '../../node/native-gunzip.ts'

/** A database file in memory that all threads of the process see. Goes to workers without a copy. */
export interface SharedDatabase {
  /** The MMDB file, decompressed. */
  readonly bytes: Uint8Array<SharedArrayBuffer>
  /** Of the file, for messages; `undefined` for the embedded database. */
  readonly path: string | undefined
}

/** Pieces in which is decompressed. Bytes. */
const CHUNK = 1024 * 1024

/** Parts of a file that are read at the same time: memory that is used for the first time is slow to fill. */
const PARTS = 4

/**
 * Reads a database into shared memory, and decompresses it right there: no second copy is made.
 *
 * @param source a path, or the URL of an embedded database
 * @param maxBytes that it may have, packed or unpacked
 * @param signal ends the wait for the writer of a named pipe
 * @throws InvalidDatabaseError when it cannot be read, is too large, or its wrapping is damaged
 */
export async function loadShared(
  source: string | URL,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: AbortSignal,
): Promise<SharedDatabase> {
  const path = typeof source === 'string' ? source : fileURLToPath(source)
  const packed = await readShared(path, maxBytes, signal)
  const bytes = isGzip(packed) ? await gunzipShared(packed, path, maxBytes) : packed
  return { bytes: sharedView(extractUncompressed(bytes, path), bytes.buffer), path }
}

/** Opens what was loaded, in any thread. @throws InvalidDatabaseError when a file is no MMDB database */
export function openShared(databases: readonly SharedDatabase[]): DatabaseSet {
  return new DatabaseSet(databases.map(({ bytes, path }) => new Database(bytes, path)))
}

async function readShared(
  path: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array<SharedArrayBuffer>> {
  let opened: FileHandle | undefined
  try {
    if ((await stat(path)).isFIFO()) return sharedCopy(await readNamedPipe(path, maxBytes, signal), path)
    const handle = await open(path)
    opened = handle
    const facts = await handle.stat()
    // The size of a device is known at its end.
    if (!facts.isFile()) return sharedCopy(await readPipe(handle, path, maxBytes), path)
    checkSize(facts.size, maxBytes, path)
    const bytes = sharedBytes(facts.size, path)
    const size = Math.ceil(bytes.length / PARTS)
    const parts = Array.from({ length: PARTS }, (_, part) => readPart(handle, bytes, part * size, size))
    await Promise.all(parts)
    return bytes
  } catch (cause) {
    if (isGeofixError(cause)) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidDatabaseError(`it cannot be read: ${why}`, { path, cause })
  } finally {
    await opened?.close()
  }
}

/** Everything that a named pipe holds, such as a shell's <(…). */
async function readNamedPipe(path: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
  const { openPipeToRead } = await import('./pipe-stream.ts')
  const collector = new ByteCollector(maxBytes, path)
  for await (const piece of await openPipeToRead(path, signal)) {
    if (piece instanceof Uint8Array) collector.add(piece)
  }
  return collector.bytes()
}

/** @throws Error when the file has become shorter */
async function readPart(handle: FileHandle, bytes: Uint8Array, start: number, size: number): Promise<void> {
  const end = Math.min(start + size, bytes.length)
  for (let at = start; at < end; ) {
    const { bytesRead } = await handle.read(bytes, at, end - at, at)
    if (bytesRead === 0) throw new Error('it became shorter while it was read')
    at += bytesRead
  }
}

/** The checks are those of `nativeGunzip`: one member, whole, with nothing behind it. */
async function gunzipShared(
  packed: Uint8Array,
  path: string,
  maxBytes: number,
): Promise<Uint8Array<SharedArrayBuffer>> {
  const { length } = readOnlyMember(packed, path, maxBytes)
  const bytes = sharedBytes(length, path)
  const gunzip = createGunzip({ chunkSize: CHUNK })
  gunzip.end(packed)
  let filled = 0
  try {
    for await (const chunk of gunzip) {
      if (!(chunk instanceof Uint8Array)) continue
      if (filled + chunk.length > length) throw new Error('more bytes come out than its trailer promises')
      bytes.set(chunk, filled)
      filled += chunk.length
    }
  } catch (cause) {
    throw unreadableGzip(cause, path)
  }
  if (filled !== length || gunzip.bytesWritten !== packed.length) {
    throw trailingBytes(path)
  }
  return bytes
}

function sharedBytes(length: number, path: string): Uint8Array<SharedArrayBuffer> {
  return allocate(length, (size) => new Uint8Array(new SharedArrayBuffer(size)), path)
}

function sharedCopy(bytes: Uint8Array, path: string): Uint8Array<SharedArrayBuffer> {
  const shared = sharedBytes(bytes.length, path)
  shared.set(bytes)
  return shared
}

/** The same part of the memory, with its type. */
function sharedView(part: Uint8Array, buffer: SharedArrayBuffer): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(buffer, part.byteOffset, part.byteLength)
}
