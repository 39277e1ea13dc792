import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { untilAborted } from '../bytes/abort.ts'
import { DEFAULT_MAX_BYTES, newShareableBytes } from '../bytes/byte-limit.ts'
import {
  asUint8Array,
  BYTE_SOURCES,
  type ByteSource,
  type Bytes,
  byteSourceSize,
  isByteSource,
  isBytes,
  readBytes,
} from '../bytes/byte-source.ts'
import { extractDatabase, extractUncompressed } from '../bytes/extract.ts'
import { isGzip } from '../bytes/gzip-member.ts'
import { embeddedFileOf } from '../embedded.ts'
import { isGeofixError } from '../errors.ts'
import { sourceAdvice } from '../misuse.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import type { PlatformUrl } from '../platform-types.ts'
import { isOfClass } from '../realm.ts'
import { embeddedPath } from './embedded-file.ts'
import { readUnpacked, readWholeSync } from './file-bytes.ts'
import { type FileState, fileState, fileStateSync } from './file-state.ts'
import { nativeGunzip, nativeGunzipAsync } from './native-gunzip.ts'
import { type ReadOptions, shareOpened } from './open-files.ts'
import { lookAtFile, openDatabase, unreadableFile } from './packed-source.ts'

/** A source that Node can open: a path, a `file:` URL, or bytes in any form. */
export type NodeSource = string | PlatformUrl | ByteSource

/** A source that can be opened synchronously. */
export type SyncSource = string | PlatformUrl | Bytes

/** The file of a source. */
export interface SourceFile {
  readonly path: string
  /** Before the file was read. */
  readonly state: FileState
}

/** An opened source. */
export interface OpenSource {
  /** With the caller as one user, who releases it. */
  readonly database: OpenDatabase
  /** `null` for bytes. */
  readonly file: SourceFile | null
}

/**
 * Opens a file or bytes. Files are decompressed on another thread.
 *
 * @throws InvalidDatabaseError when a file cannot be read, is damaged or too large, or is not an MMDB database
 * @throws TypeError when the source is of an unsupported kind
 * @throws the reason of `signal`, and what `progress` throws
 */
export async function openSource(source: NodeSource, options: ReadOptions = {}): Promise<OpenSource> {
  return untilAborted(options.signal, async () => {
    if (!isFile(source)) {
      const bytes = extractUncompressed(await unpackedOther(source, options))
      return { database: openDatabase(bytes, undefined, options), file: null }
    }
    const path = pathOf(source)
    const state = await fileState(path)
    try {
      return { database: await openFile(path, options), file: { path, state } }
    } catch (error) {
      const { progress } = options
      throw progress?.failure === undefined ? error : progress.failure.error
    }
  })
}

/** The synchronous form of {@link openSource}. @throws TypeError for sources other than {@link SyncSource} */
export function openSourceSync(source: NodeSource, options: ReadOptions = {}): OpenSource {
  options.progress?.add(sourceSize(source) ?? 0)
  const { maxBytes = DEFAULT_MAX_BYTES } = options
  if (!isFile(source)) {
    const bytes = extractDatabase(bytesOf(source), nativeGunzip, undefined, maxBytes)
    return { database: openDatabase(bytes, undefined, options), file: null }
  }
  const path = pathOf(source)
  const state = fileStateSync(path)
  const { database, key } = lookAtFile(path, options)
  if (database !== null) return { database, file: { path, state } }
  const bytes = extractDatabase(read(path, maxBytes), nativeGunzip, path, maxBytes)
  return { database: shareOpened(key, openDatabase(bytes, path, options)), file: { path, state } }
}

/** Opens a file, with the caller as one user of the database. Throws the errors of {@link openSource}. */
export async function openFile(path: string, options: ReadOptions = {}): Promise<OpenDatabase> {
  const { database, size, key } = lookAtFile(path, options)
  if (database !== null) {
    // `total` is the size of the whole file too.
    options.progress?.add(size)
    return database
  }
  const bytes = await readFileUnpacked(path, options)
  return shareOpened(key, openDatabase(extractUncompressed(bytes, path), path, options))
}

/** Makes the path of a file absolute. Other sources stay as they are. */
export function absolute<Source extends NodeSource>(source: Source): Source | string {
  return isFile(source) ? resolve(pathOf(source)) : source
}

/** Opens several sources. Throws the errors of {@link openSource}. */
export async function openDatabases(sources: readonly NodeSource[]): Promise<OpenDatabase[]> {
  const databases: OpenDatabase[] = []
  for (const source of sources) databases.push((await openSource(source)).database)
  return databases
}

async function unpackedOther(
  source: ByteSource,
  { maxBytes, signal, progress }: ReadOptions,
): Promise<Uint8Array> {
  if (!isByteSource(source))
    throw new TypeError(`a database must be a path, a file: URL, ${BYTE_SOURCES}${sourceAdvice(source)}`)
  const bytes = await readBytes(source, maxBytes, signal, progress)
  return isGzip(bytes) ? await nativeGunzipAsync(bytes, undefined, maxBytes) : bytes
}

/** The size of a source in bytes; `null` if it is unknown before reading. */
export function sourceSize(source: NodeSource): number | null {
  if (!isFile(source)) return byteSourceSize(source)
  const path = pathOf(source)
  try {
    const stats = statSync(path)
    return stats.isFile() ? stats.size : null
  } catch {
    // Opening it says why.
    return null
  }
}

function isFile(source: NodeSource): source is string | URL {
  return typeof source === 'string' || isOfClass(source, 'URL')
}

function pathOf(file: string | URL): string {
  if (typeof file === 'string') return isUrl(file) ? pathOf(new URL(file)) : file
  const embedded = embeddedFileOf(file)
  if (embedded !== undefined) return embeddedPath(file, embedded)
  if (file.protocol === 'file:') return fileURLToPath(file.href)
  throw new TypeError(`cannot open a ${file.protocol} URL, only file: URLs; fetch it and pass the Response`)
}

/** `C:\\city.mmdb` is a path, not a URL. */
function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(text)
}

function bytesOf(source: unknown): Uint8Array {
  if (isBytes(source)) return asUint8Array(source)
  throw new TypeError(
    `openSync takes a path, a file: URL, Uint8Array, ArrayBuffer or SharedArrayBuffer${sourceAdvice(source)}`,
  )
}

function read(path: string, maxBytes: number): Uint8Array {
  try {
    return readWholeSync(path, maxBytes)
  } catch (error) {
    throw isGeofixError(error) ? error : unreadableFile(path, error)
  }
}

async function readFileUnpacked(
  path: string,
  { maxBytes, signal, progress }: ReadOptions,
): Promise<Uint8Array> {
  try {
    return await readUnpacked(path, maxBytes, signal, newShareableBytes, progress)
  } catch (error) {
    throw isGeofixError(error) ? error : unreadableFile(path, error)
  }
}
