// Opens and checks the databases of a command.
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ByteCollector, DEFAULT_MAX_BYTES } from '../bytes/byte-limit.ts'
import { extractUncompressed } from '../bytes/extract.ts'
import { isGzip } from '../bytes/file-kind.ts'
import { embedded } from '../embedded.ts'
import { isGeofixError } from '../errors.ts'
import { DatabaseSet } from '../location/database-set.ts'
import { attachDatabases, type SharedDatabases } from '../location/shared-databases.ts'
import { useZoneOfProcess } from '../location/timezone.ts'
import type { OpenDatabase } from '../mmdb/database.ts'
import { nativeGunzipAsync, readUnpacked, unreadableFile } from '../node/file-bytes.ts'
import { openDatabase, openFile } from '../node/open-files.ts'
import { CommandFailure, ExitStatus } from './terminal.ts'

/**
 * Opens the databases of a command. A resolver would load code that commands do not need, such as that of watched files.
 *
 * Packed files are read by blocks when a lookup needs them, so all processes of a host share one copy: the page cache of the
 * system. A file that is overwritten makes the next read fail. Replace it by renaming another one over it.
 *
 * @param paths if empty, the embedded database
 * @param asn the databases of autonomous systems: paths, or `true` for the embedded one
 * @param isWhole whether to read each file once, whole, so that threads can share it and nothing changes if it is overwritten
 * @param signal stops waiting for the writer of a named pipe
 * @throws InvalidDatabaseError when a file cannot be read, is too large, is damaged or is not an MMDB database
 * @throws CommandFailure when one has no locations
 */
export async function openDatabases(
  paths: readonly string[],
  asn: boolean | readonly string[] = false,
  { isWhole = false, signal }: { readonly isWhole?: boolean; readonly signal?: AbortSignal } = {},
): Promise<DatabaseSet> {
  const open = async (path: string): Promise<OpenDatabase> => {
    // A named pipe can be read only once.
    const isPipe = isNamedPipe(path)
    if (!isWhole && !isPipe) return openFile(path, { maxBytes: DEFAULT_MAX_BYTES })
    const reading = isPipe ? readNamedPipe(path, signal) : readUnpacked(path, { signal })
    const bytes = await reading.catch((cause) => {
      throw isGeofixError(cause) ? cause : unreadableFile(path, cause)
    })
    return openDatabase(extractUncompressed(bytes, path), path)
  }
  const cities = paths.length > 0 ? paths : [fileURLToPath(embedded.city)]
  const systems = asn === true ? [fileURLToPath(embedded.asn)] : asn || []
  const databases = await Promise.all([...cities, ...systems].map(open))
  const set = new DatabaseSet(databases, { asnCount: systems.length })
  checkLocations(set)
  return set
}

function isNamedPipe(path: string): boolean {
  try {
    return statSync(path).isFIFO()
  } catch {
    // Opening it says why.
    return false
  }
}

/** Opens the databases that another thread has shared. @throws InvalidDatabaseError when one is not an MMDB database */
export function attachInThread(shared: SharedDatabases): DatabaseSet {
  const databases = attachDatabases(shared, {}, openDatabase)
  return new DatabaseSet(databases, { asnCount: shared.asn ?? 0 })
}

/** Reads a named pipe to its end, such as a shell's <(…), and decompresses gzip. */
async function readNamedPipe(path: string, signal?: AbortSignal): Promise<Uint8Array> {
  const { openPipeToRead } = await import('./enrich/pipe-stream.ts')
  const collector = new ByteCollector(DEFAULT_MAX_BYTES, path)
  for await (const chunk of await openPipeToRead(path, signal)) {
    if (chunk instanceof Uint8Array) collector.add(chunk)
  }
  const bytes = collector.bytes()
  return isGzip(bytes) ? nativeGunzipAsync(bytes, path) : bytes
}

/** @throws CommandFailure when a database has no locations, such as an ASN database */
export function checkLocations({ locationErrors }: DatabaseSet): void {
  const [error] = locationErrors
  if (error !== undefined) {
    throw new CommandFailure(`${error.message}, or leave this one out`, ExitStatus.failed, error)
  }
}

/** Finds offsets of time zones by the zone of this process. Only for its main thread: others cannot set it. */
export function useOwnZone(): void {
  const now = Date.now()
  // Runtimes other than Node may ignore it.
  if (minutesIn('Asia/Tokyo', now) - minutesIn('America/Phoenix', now) === 960) useZoneOfProcess(minutesIn)
}

function minutesIn(zone: string, instant: number): number {
  const { TZ: own } = process.env
  process.env.TZ = zone
  const minutes = 0 - new Date(instant).getTimezoneOffset()
  if (own === undefined) delete process.env.TZ
  else process.env.TZ = own
  return minutes
}
