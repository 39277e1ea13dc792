import { fileURLToPath } from 'node:url'
import { UsageError } from './command-failure.ts'

/**
 * The path of a database as written on the command line: a path, or a `file:` URL.
 *
 * @throws UsageError when it is another URL: nothing is fetched
 */
export function databasePath(text: string): string {
  // `C:\\city.mmdb` is a path.
  const [, scheme] = /^([a-z][a-z0-9+.-]+:)\/\//i.exec(text) ?? []
  if (scheme === undefined) return text
  if (scheme.toLowerCase() !== 'file:') {
    throw new UsageError(`${scheme} URLs are not opened: download the file, and write its path.`)
  }
  try {
    return fileURLToPath(text)
  } catch (error) {
    throw new UsageError(`It is no path: ${error instanceof Error ? error.message : String(error)}.`)
  }
}
