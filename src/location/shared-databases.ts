import { allocate } from '../bytes/byte-limit.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { isOfClass, isUint8Array } from '../realm.ts'
import type { Overlay } from './overlay-records.ts'
import { attachOffsets, shareOffsets } from './shared-offsets.ts'

/** What `share()` gives: open databases in memory that threads share. Send it to a worker with `postMessage`. */
export interface SharedDatabases {
  /** The version of this object's form. */
  readonly geofix: 1
  readonly databases: readonly SharedDatabase[]
  /** Memory for the offsets of time zones that lookups find, so that threads share them. */
  readonly offsets?: SharedArrayBuffer | undefined
  /** Those of the option `overlays`, which are copied. */
  readonly overlays?: readonly Overlay[] | undefined
}

/** One database in memory that threads share. */
export interface SharedDatabase {
  /** The MMDB file, packed or not: a view of a `SharedArrayBuffer`. */
  readonly bytes: Uint8Array
  /** The path of the file, for messages. */
  readonly path: string | undefined
  /** Memory for what lookups find in the search tree, so that threads share it. */
  readonly tables?: SharedArrayBuffer | undefined
}

/**
 * Shares databases with other threads. Those that are not in shared memory yet are copied into it.
 *
 * @throws TypeError when the platform has no shared memory, as on a page that is not cross-origin isolated
 * @throws InvalidDatabaseError when there is not enough memory for the copy
 */
export function shareDatabases(
  databases: readonly OpenDatabase[],
  overlays?: readonly Overlay[],
): SharedDatabases {
  if (typeof SharedArrayBuffer === 'undefined') {
    throw new TypeError(
      'share needs SharedArrayBuffer, which browsers have on pages that are cross-origin isolated: send the headers "Cross-Origin-Opener-Policy: same-origin" and "Cross-Origin-Embedder-Policy: require-corp" with the page',
    )
  }
  return {
    geofix: 1,
    offsets: shareOffsets(),
    overlays,
    databases: databases.map((database) => {
      const { bytes, path } = database
      return { bytes: inSharedMemory(bytes, path), path, tables: database.shareTables?.() }
    }),
  }
}

/**
 * Opens databases that another thread has shared.
 *
 * @param open opens the bytes of a file, packed or not
 * @throws TypeError when the value is not what {@link shareDatabases} gave, or its memory is not shared
 */
export function attachDatabases(
  shared: SharedDatabases,
  open: (bytes: Uint8Array, path?: string, tables?: SharedArrayBuffer) => OpenDatabase,
): OpenDatabase[] {
  const { databases, offsets } = checked(shared)
  if (offsets !== undefined) attachOffsets(offsets)
  return databases.map(({ bytes, path, tables }) => open(bytes, path, tables))
}

function checked(shared: unknown): SharedDatabases {
  if (isSharedDatabases(shared)) return shared
  throw new TypeError(
    'attach takes what share() of a resolver gave, sent to a thread of the same process with postMessage',
  )
}

function isSharedDatabases(value: unknown): value is SharedDatabases {
  return (
    typeof value === 'object' &&
    value !== null &&
    'geofix' in value &&
    value.geofix === 1 &&
    'databases' in value &&
    Array.isArray(value.databases) &&
    value.databases.every(isSharedDatabase) &&
    (!('offsets' in value) || value.offsets === undefined || isOfClass(value.offsets, 'SharedArrayBuffer'))
  )
}

function isSharedDatabase(value: unknown): value is SharedDatabase {
  return (
    typeof value === 'object' &&
    value !== null &&
    'bytes' in value &&
    isUint8Array(value.bytes) &&
    isOfClass(value.bytes.buffer, 'SharedArrayBuffer') &&
    (!('tables' in value) || value.tables === undefined || isOfClass(value.tables, 'SharedArrayBuffer'))
  )
}

function inSharedMemory(bytes: Uint8Array, path: string | undefined): Uint8Array {
  if (isOfClass(bytes.buffer, 'SharedArrayBuffer')) return bytes
  const copy = allocate(bytes.length, (length) => new Uint8Array(new SharedArrayBuffer(length)), path)
  copy.set(bytes)
  return copy
}
