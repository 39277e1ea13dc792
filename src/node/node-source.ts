import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  BYTE_SOURCES,
  type ByteSource,
  byteSourceSize,
  bytesInMemory,
  isByteSource,
  isBytes,
  readBytes,
} from '../bytes/byte-source.ts'
import { extractUncompressed } from '../bytes/extract.ts'
import { isGzip } from '../bytes/file-kind.ts'
import { untilAborted } from '../bytes/long-work.ts'
import { embeddedFileOf } from '../embedded.ts'
import { openOverlays, readSchemas } from '../location/overlays.ts'
import { sourceAdvice } from '../misuse.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { type CommonOpenOptions, OPEN_OPTIONS, type Platform } from '../opening.ts'
import type { NamesOf } from '../option-names.ts'
import { isOfClass, type PlatformUrl } from '../realm.ts'
import { embeddedPath } from './embedded-file.ts'
import { nativeGunzip, nativeGunzipAsync } from './file-bytes.ts'
import { type FileOptions, openDatabase, openFile, openFileSync } from './open-files.ts'
import { WATCH_OPTIONS, type WatchOptions } from './watching.ts'

/** A source that Node can open: a path, a `file:` URL, or bytes in any form. */
export type NodeSource = string | PlatformUrl | ByteSource

/** Options of `Resolver.open` on Node. */
export interface NodeOpenOptions extends CommonOpenOptions, WatchOptions {
  /**
   * Databases of autonomous systems, for `asn`: `true` for the embedded one, or sources of others, as the first argument
   * has them. They are not asked for locations. With `watch`, their files are watched too. Default: none. Bundlers do not
   * see `true`: in a bundle, give the URL of `geofix/asn`.
   */
  readonly asn?: boolean | NodeSource | readonly NodeSource[] | undefined
}

const NODE_OPEN_OPTIONS: NamesOf<NodeOpenOptions> = { ...OPEN_OPTIONS, ...WATCH_OPTIONS }

/** A source whose URL was resolved: a path, or bytes in any form. */
export type PathOrBytes = string | ByteSource

/** Node opens files, and what the core opens. */
export const NODE: Platform<PathOrBytes, FileOptions> = {
  names: NODE_OPEN_OPTIONS,
  openOverlays,
  readSchemas,
  sizeOf,
  open: (source, settings) =>
    untilAborted(
      settings.signal,
      () => openSource(source, settings),
      (database) => database.release?.(),
    ),
  openSync(source, settings) {
    if (typeof source === 'string') return openFileSync(source, settings)
    if (!isBytes(source)) {
      throw new TypeError(
        `openSync takes a path, a file: URL, Uint8Array, ArrayBuffer or SharedArrayBuffer${sourceAdvice(source)}`,
      )
    }
    const bytes = bytesInMemory(source, settings)
    const unpacked = isGzip(bytes) ? nativeGunzip(bytes, undefined, settings.maxBytes) : bytes
    return openDatabase(extractUncompressed(unpacked), undefined, settings)
  },
}

async function openSource(source: PathOrBytes, settings: FileOptions): Promise<OpenDatabase> {
  if (typeof source === 'string') return openFile(source, settings)
  if (!isByteSource(source))
    throw new TypeError(`a database must be a path, a file: URL, ${BYTE_SOURCES}${sourceAdvice(source)}`)
  const bytes = await readBytes(source, settings)
  const unpacked = isGzip(bytes) ? await nativeGunzipAsync(bytes, undefined, settings.maxBytes) : bytes
  return openDatabase(extractUncompressed(unpacked), undefined, settings)
}

/** The size of a source in bytes; `null` if it is unknown before reading. */
function sizeOf(source: PathOrBytes): number | null {
  if (typeof source !== 'string') return byteSourceSize(source)
  try {
    const stats = statSync(source)
    return stats.isFile() ? stats.size : null
  } catch {
    // Opening it says why.
    return null
  }
}

/** Replaces the URL of a file by its path. @throws TypeError for other URLs */
export function pathOrBytes(source: NodeSource): PathOrBytes {
  // `C:\\city.mmdb` is a path, not a URL.
  if (typeof source === 'string')
    return /^[a-z][a-z0-9+.-]+:\/\//i.test(source) ? pathOrBytes(new URL(source)) : source
  if (!isOfClass(source, 'URL')) return source
  const embedded = embeddedFileOf(source)
  if (embedded !== undefined) return embeddedPath(source, embedded)
  if (source.protocol === 'file:') return fileURLToPath(source.href)
  throw new TypeError(`cannot open a ${source.protocol} URL, only file: URLs; fetch it and pass the Response`)
}
