// The databases that the command line names: their paths, and whether they have locations.
import { fileURLToPath } from 'node:url'
import type { DatabaseSet } from '../location/database-set.ts'
import { CommandFailure, ExitStatus, UsageError } from './terminal.ts'

/**
 * Reads a path or a `file:` URL of a database.
 *
 * @throws UsageError for other URLs: geofix downloads nothing
 */
export function databasePath(text: string): string {
  // `C:\city.mmdb` is a path, not a URL.
  const [, scheme] = /^([a-z][a-z0-9+.-]+:)\/\//i.exec(text) ?? []
  if (scheme === undefined) return text
  if (scheme.toLowerCase() !== 'file:') {
    throw new UsageError(`${scheme} URLs are not supported: download the file, then give its path.`)
  }
  try {
    return fileURLToPath(text)
  } catch (error) {
    throw new UsageError(
      `This is not a valid file URL: ${error instanceof Error ? error.message : String(error)}.`,
    )
  }
}

/** @throws CommandFailure when a database has no locations, such as an ASN database */
export function checkLocations({ locationErrors }: DatabaseSet): void {
  const [error] = locationErrors
  if (error !== undefined) {
    throw new CommandFailure(`${error.message}, or leave this one out`, ExitStatus.failed, error)
  }
}
