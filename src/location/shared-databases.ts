import { allocate } from '../bytes/byte-limit.ts'
import { Database, type OpenDatabase } from '../mmdb/database.ts'
import type { PackedOptions } from '../packed/packed-database.ts'
import { isOfClass, isUint8Array } from '../realm.ts'
import { DatabaseSet } from './database-set.ts'
import type { SchemaFields } from './schema.ts'
import { attachOffsets, shareOffsets } from './timezone.ts'

/** Open databases in memory that threads share, made by `share()`. Send them to a worker with `postMessage`. */
export interface SharedDatabases {
  /** The version of this object's form. */
  readonly geofix: 1
  readonly databases: readonly SharedDatabase[]
  /** How many of the databases, the last ones, are those of the option `asn`. */
  readonly asn?: number | undefined
  /** Whether the option `registeredCountry` is set. */
  readonly registeredCountry?: boolean | undefined
  /** Memory for the offsets of time zones that lookups find, so that threads share them. */
  readonly offsets?: SharedArrayBuffer | undefined
  /** The database that was made from the option `overlays`. */
  readonly overlays?: SharedDatabase | undefined
  /** Copies of the schemas of the option `schema`, one for each database; `null` if the vendor is recognised. */
  readonly schemas?: readonly (SchemaFields | null)[] | undefined
}

/** One database in memory that threads share. */
export interface SharedDatabase {
  /** The MMDB file, packed or not: a view of a `SharedArrayBuffer`. */
  readonly bytes: Uint8Array
  /** The path of the file, for messages. */
  readonly path: string | undefined
  /** Memory for the decoded blocks of a packed file, so that threads share them. */
  readonly tables?: SharedArrayBuffer | undefined
}

/** How databases are shared. */
export interface ShareOptions {
  /**
   * Whether threads share the decoded blocks of packed databases. Each block is then decoded once, and kept; room for all blocks of
   * the embedded city database takes 148 MB. With `false`, each thread decodes the blocks that its lookups need, and keeps as many
   * as `cacheBytes` of `attach` allows. Default: true.
   */
  readonly expand?: boolean | undefined
}

/**
 * Shares databases with other threads. Those that are not in shared memory yet are copied into it.
 *
 * @returns what other threads attach, and a set of the databases in shared memory: those of the set, or copies of them
 * @throws TypeError when the platform has no shared memory, as on a page that is not cross-origin isolated, or the option
 *   is not true or false
 * @throws InvalidDatabaseError when there is not enough memory for the copy, or a file is damaged or cannot be read
 */
export function shareDatabases(
  set: DatabaseSet,
  { expand = true }: ShareOptions = {},
): { readonly shared: SharedDatabases; readonly set: DatabaseSet } {
  if (typeof expand !== 'boolean') throw new TypeError('expand must be true or false')
  if (typeof SharedArrayBuffer === 'undefined') {
    throw new TypeError(
      'share needs SharedArrayBuffer, which browsers have on pages that are cross-origin isolated: send the headers "Cross-Origin-Opener-Policy: same-origin" and "Cross-Origin-Embedder-Policy: require-corp" with the page',
    )
  }
  const copies = set.databases.map(inSharedMemory)
  const shared = (copy: OpenDatabase): SharedDatabase => {
    const { bytes, path } = copy
    return { bytes, path, tables: expand && !(copy instanceof Database) ? copy.shareTables() : undefined }
  }
  const { schemas = [], asnCount = 0, registeredCountry } = set.options
  const overlays = set.options.overlays ? inSharedMemory(set.options.overlays) : null
  const all: SharedDatabases = {
    geofix: 1,
    offsets: shareOffsets(),
    overlays: overlays === null ? undefined : shared(overlays),
    asn: asnCount > 0 ? asnCount : undefined,
    schemas: schemas.length > 0 ? schemas : undefined,
    registeredCountry,
    databases: copies.map(shared),
  }
  // Last, because a step above can fail.
  for (const copy of copies) if (set.databases.includes(copy)) copy.retain?.()
  return { shared: all, set: new DatabaseSet(copies, { ...set.options, overlays }) }
}

/**
 * Opens databases that another thread has shared.
 *
 * @param shared see {@link checkShared}
 * @param open opens the bytes of a file, packed or not
 */
export function attachDatabases(
  { databases, offsets }: SharedDatabases,
  { cacheBytes }: PackedOptions,
  open: (bytes: Uint8Array, path: string | undefined, options: PackedOptions) => OpenDatabase,
): OpenDatabase[] {
  if (offsets !== undefined) attachOffsets(offsets)
  return databases.map(({ bytes, path, tables }) => open(bytes, path, { cacheBytes, tables }))
}

/** The overlays that another thread has shared; `null` for none. */
export function attachOverlays(shared: SharedDatabases | undefined): OpenDatabase | null {
  return shared?.overlays === undefined ? null : new Database(shared.overlays.bytes)
}

/** @throws TypeError when the value is not what {@link shareDatabases} gave, or its memory is not shared */
export function checkShared(shared: unknown): SharedDatabases {
  if (isSharedDatabases(shared)) return shared
  throw new TypeError(
    'attach takes what share() of a resolver gave, sent to a thread of the same process with postMessage',
  )
}

function isSharedDatabases(value: unknown): value is SharedDatabases {
  const { geofix, databases, asn = 0, overlays, offsets } = membersOf(value)
  return (
    geofix === 1 &&
    Array.isArray(databases) &&
    databases.every(isSharedDatabase) &&
    Number.isInteger(asn) &&
    Number(asn) >= 0 &&
    Number(asn) <= databases.length &&
    (overlays === undefined || isSharedDatabase(overlays)) &&
    isSharedMemory(offsets)
  )
}

function isSharedDatabase(value: unknown): value is SharedDatabase {
  const { bytes, tables } = membersOf(value)
  return isUint8Array(bytes) && isOfClass(bytes.buffer, 'SharedArrayBuffer') && isSharedMemory(tables)
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' ? { ...value } : {}
}

function isSharedMemory(value: unknown): boolean {
  return value === undefined || isOfClass(value, 'SharedArrayBuffer')
}

/** The database itself if it is in shared memory, or a copy that is. */
function inSharedMemory(database: OpenDatabase): OpenDatabase {
  const { bytes, path } = database
  if (isOfClass(bytes.buffer, 'SharedArrayBuffer')) return database
  const copy = allocate(bytes.length, (length) => new Uint8Array(new SharedArrayBuffer(length)), path)
  copy.set(bytes)
  return database.withBytes(copy)
}
