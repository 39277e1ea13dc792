import { fileURLToPath } from 'node:url'
import { UsageError } from './terminal.ts'

/**
 * The path of a database that the command line names by path or by `file:` URL.
 *
 * @throws UsageError for other URLs: nothing is downloaded
 */
export function databasePath(text: string): string {
  // `C:\\city.mmdb` is a path.
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
