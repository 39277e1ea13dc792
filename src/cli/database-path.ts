import { fileURLToPath } from 'node:url'
import { messageOf } from '../realm.ts'
import { UsageError } from './terminal.ts'

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
    throw new UsageError(`This is not a valid file URL: ${messageOf(error)}.`)
  }
}
