import { fileURLToPath } from 'node:url'
import { DEFAULT_MAX_BYTES, maxBytesOf } from '../bytes/byte-limit.ts'
import { type ByteSource, type Bytes, isBytes, readBytes, viewOf } from '../bytes/byte-source.ts'
import { isGzip } from '../bytes/gzip-member.ts'
import { unpack, unwrap } from '../bytes/unpack.ts'
import { ClientWalk } from '../client/client-address.ts'
import { embedded } from '../embedded.ts'
import { InvalidDatabaseError, isGeofixError } from '../errors.ts'
import { Database } from '../mmdb/database.ts'
import { atLeastOne, type OpenOptions, Resolver } from '../resolver.ts'
import { readUnpacked } from './file-bytes.ts'
import { nativeGunzip, nativeGunzipAsync } from './native-gunzip.ts'
import { readWholeSync } from './whole-file.ts'

/** What Node can open: a path, a `file:` URL, or bytes in any form. */
export type NodeSource = string | URL | ByteSource

/** A resolver that also opens files, and by default the city database that the package carries. */
export class NodeResolver extends Resolver {
  /**
   * Opens a database, or several as one: an IPv4 file and an IPv6 file for instance. Raw `.mmdb`, gzip and a
   * vendor's `.tar.gz` are told apart by their bytes, not by names. Given bytes are not copied and must not
   * change. Decompression runs on another thread.
   *
   * @param source default: the embedded city database
   * @throws InvalidDatabaseError when a file cannot be read, is damaged, or is no MMDB database
   * @throws TypeError when a source is of no supported kind, or there is none, or an option is wrong
   */
  static override async open(
    source: NodeSource | readonly NodeSource[] = embedded.city,
    options?: OpenOptions,
  ): Promise<NodeResolver> {
    const clients = new ClientWalk(options)
    const maxBytes = maxBytesOf(options?.maxBytes)
    return new NodeResolver(await openDatabases(atLeastOne(source), maxBytes), clients)
  }

  /** The same at once, for paths, `file:` URLs and bytes. Blocks until the database is decompressed. */
  static openSync(
    source: string | URL | Bytes | readonly (string | URL | Bytes)[] = embedded.city,
    options?: OpenOptions,
  ): NodeResolver {
    const clients = new ClientWalk(options)
    const maxBytes = maxBytesOf(options?.maxBytes)
    const databases = atLeastOne(source).map((each) => {
      if (!isFile(each)) return new Database(unpack(bytesOf(each), nativeGunzip, undefined, maxBytes))
      const path = pathOf(each)
      return new Database(unpack(read(path, maxBytes), nativeGunzip, path, maxBytes), path)
    })
    return new NodeResolver(databases, clients)
  }
}

/** Opens files and bytes as databases; errors as {@link NodeResolver.open}. */
export async function openDatabases(
  sources: readonly NodeSource[],
  maxBytes = DEFAULT_MAX_BYTES,
): Promise<Database[]> {
  const databases: Database[] = []
  for (const source of sources) {
    if (isFile(source)) {
      const path = pathOf(source)
      databases.push(new Database(unwrap(await readFileUnpacked(path, maxBytes), path), path))
    } else {
      databases.push(new Database(unwrap(await unpackedOther(source, maxBytes))))
    }
  }
  return databases
}

async function unpackedOther(source: ByteSource, maxBytes: number): Promise<Uint8Array> {
  const bytes = await readOther(source, maxBytes)
  return isGzip(bytes) ? await nativeGunzipAsync(bytes, undefined, maxBytes) : bytes
}

/** @throws TypeError when it is of no supported kind */
async function readOther(source: ByteSource, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readBytes(source, maxBytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new TypeError(`a database is given as a path or a file: URL too; ${error.message}`, {
      cause: error,
    })
  }
}

function isFile(source: NodeSource): source is string | URL {
  return typeof source === 'string' || source instanceof URL
}

function pathOf(file: string | URL): string {
  if (typeof file === 'string') return isUrl(file) ? pathOf(new URL(file)) : file
  if (file.protocol === 'file:') return fileURLToPath(file)
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

async function readFileUnpacked(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readUnpacked(path, maxBytes)
  } catch (error) {
    throw isGeofixError(error) ? error : unreadable(path, error)
  }
}

function unreadable(path: string, cause: unknown): InvalidDatabaseError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new InvalidDatabaseError(`it cannot be read: ${why}`, { path, cause })
}
