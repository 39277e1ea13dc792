import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { untilAborted } from '../bytes/abort.ts'
import { DEFAULT_MAX_BYTES } from '../bytes/byte-limit.ts'
import {
  BYTE_SOURCES,
  type ByteSource,
  type Bytes,
  isByteSource,
  isBytes,
  readBytes,
  viewOf,
} from '../bytes/byte-source.ts'
import { extractDatabase, extractUncompressed } from '../bytes/extract.ts'
import { isGzip } from '../bytes/gzip-member.ts'
import { InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { Database } from '../mmdb/database.ts'
import { isOfClass, messageOf } from '../realm.ts'
import { readUnpacked } from './file-bytes.ts'
import { type FileState, fileState, fileStateSync } from './file-state.ts'
import { nativeGunzip, nativeGunzipAsync } from './native-gunzip.ts'
import { readWholeSync } from './whole-file.ts'

/** What Node can open: a path, a `file:` URL, or bytes in any form. */
export type NodeSource = string | URL | ByteSource

/** What can be opened at once. */
export type SyncSource = string | URL | Bytes

/** A source, opened. */
export interface OpenSource {
  readonly database: Database
  /** Where it was read from, and the file's state before that; `null` for bytes, which nobody replaces. */
  readonly file: { readonly path: string; readonly state: FileState } | null
}

/**
 * Opens a file or bytes; files are decompressed on another thread.
 *
 * @param maxBytes that it may have, compressed or not
 * @throws InvalidDatabaseError when a file cannot be read, is damaged or too large, or is no MMDB database
 * @throws TypeError when the source is of no supported kind
 * @throws the signal's reason
 */
export async function openSource(
  source: NodeSource,
  maxBytes = DEFAULT_MAX_BYTES,
  signal?: AbortSignal,
): Promise<OpenSource> {
  return untilAborted(signal, async () => {
    if (!isFile(source)) {
      return {
        database: new Database(extractUncompressed(await unpackedOther(source, maxBytes, signal))),
        file: null,
      }
    }
    const path = pathOf(source)
    const state = await fileState(path)
    return { database: await openFile(path, maxBytes, signal), file: { path, state } }
  })
}

/** The same at once. */
export function openSourceSync(source: SyncSource, maxBytes: number): OpenSource {
  if (!isFile(source)) {
    return {
      database: new Database(extractDatabase(bytesOf(source), nativeGunzip, undefined, maxBytes)),
      file: null,
    }
  }
  const path = pathOf(source)
  const state = fileStateSync(path)
  const bytes = extractDatabase(read(path, maxBytes), nativeGunzip, path, maxBytes)
  return { database: new Database(bytes, path), file: { path, state } }
}

/** Opens a file; errors as {@link openSource}. */
export async function openFile(path: string, maxBytes: number, signal?: AbortSignal): Promise<Database> {
  const bytes = await readFileUnpacked(path, maxBytes, signal)
  return new Database(extractUncompressed(bytes, path), path)
}

/** A file by its absolute path, which leads to it also when the program changes its folder. */
export function absolute<Source extends NodeSource>(source: Source): Source | string {
  return isFile(source) ? resolve(pathOf(source)) : source
}

/** Opens several; errors as {@link openSource}. */
export async function openDatabases(sources: readonly NodeSource[]): Promise<Database[]> {
  const databases: Database[] = []
  for (const source of sources) databases.push((await openSource(source)).database)
  return databases
}

async function unpackedOther(
  source: ByteSource,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  if (!isByteSource(source))
    throw new TypeError(`a database is given as a path, a file: URL, ${BYTE_SOURCES}`)
  const bytes = await readBytes(source, maxBytes, signal)
  return isGzip(bytes) ? await nativeGunzipAsync(bytes, undefined, maxBytes) : bytes
}

function isFile(source: NodeSource): source is string | URL {
  return typeof source === 'string' || isOfClass(source, 'URL')
}

function pathOf(file: string | URL): string {
  if (typeof file === 'string') return isUrl(file) ? pathOf(new URL(file)) : file
  if (file.protocol === 'file:') return fileURLToPath(file.href)
  throw new TypeError(`${file.protocol} URLs are not opened, only file: ones; fetch it and give the Response`)
}

/** `C:\\city.mmdb` is a path. */
function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(text)
}

function bytesOf(source: unknown): Uint8Array {
  if (isBytes(source)) return viewOf(source)
  throw new TypeError('openSync takes a path, a file: URL, Uint8Array, ArrayBuffer or SharedArrayBuffer')
}

function read(path: string, maxBytes: number): Uint8Array {
  try {
    return readWholeSync(path, maxBytes)
  } catch (error) {
    throw isGeofixError(error) ? error : unreadable(path, error)
  }
}

async function readFileUnpacked(
  path: string,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  try {
    return await readUnpacked(path, maxBytes, signal)
  } catch (error) {
    throw isGeofixError(error) ? error : unreadable(path, error)
  }
}

function unreadable(path: string, cause: unknown): InvalidDatabaseError {
  return new InvalidDatabaseError(`it cannot be read: ${messageOf(cause)}`, { path, cause })
}
