import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UNKNOWN_FOLDER } from '../embedded.ts'
import { InvalidDatabaseError } from '../errors.ts'

const RECIPES = 'https://www.npmjs.com/package/geofix#where-it-runs'

/**
 * The path of an embedded database: in the package, or beside the bundle that contains this module, because a bundler
 * moves the code away from `data/`.
 *
 * @param url of the database, as `embedded` or `geofix/city` gives it
 * @param file its name
 * @throws InvalidDatabaseError when the file is not found, with what to do
 */
export function embeddedPath(url: URL, file: string): string {
  const own = pathOf(url.href)
  if (own !== undefined && mayExist(own)) return own
  const folders = bundleFolders()
  for (const folder of folders) {
    for (const path of [join(folder, file), join(folder, 'data', file)]) if (mayExist(path)) return path
  }
  throw new InvalidDatabaseError(
    `the embedded database is missing, because this code was bundled without it (looked in ${folders.join(', ')})`,
    { path: own === undefined || url.href.startsWith(UNKNOWN_FOLDER) ? file : own },
    `copy node_modules/geofix/data/${file} there, or mark geofix as external, or pass a source to open; see ${RECIPES}`,
  )
}

/** Where a bundle may be: this code itself, in ESM or CommonJS, then the main script, then a single executable. */
function bundleFolders(): string[] {
  const files = [
    pathOf(import.meta.url),
    typeof __filename === 'string' ? __filename : undefined,
    process.argv[1],
    process.execPath,
  ]
  return [...new Set(files.flatMap((each) => (each === undefined ? [] : [dirname(each)])))]
}

/** Also where asking is not permitted: opening the file then says so. */
function mayExist(path: string): boolean {
  try {
    return existsSync(path)
  } catch {
    return true
  }
}

function pathOf(url: string | undefined): string | undefined {
  try {
    return url === undefined ? undefined : fileURLToPath(url)
  } catch {
    return undefined
  }
}
