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
  const ends = endsOf(url)
  const found = [
    ...folders.flatMap((folder) => [file, join('data', file), ...ends].map((end) => join(folder, end))),
    ...inProject(ends),
  ].find(mayExist)
  if (found !== undefined) return found
  if (own !== undefined && mayExist(join(dirname(own), 'country.mmdb.gz'))) {
    throw new InvalidDatabaseError(
      'this package has only the database of countries',
      { path: own },
      'pass embedded.country or a file of your own to open, or install geofix in place of geofix-core',
    )
  }
  throw new InvalidDatabaseError(
    `the embedded database is missing, because this code was bundled without it (looked in ${folders.join(', ')})`,
    { path: own === undefined || url.href.startsWith(UNKNOWN_FOLDER) ? file : own },
    `use the plugin esbuild() or rollup() of geofix/bundler, or copy node_modules/geofix/data/${file} there, or mark geofix as ` +
      `external (in Next.js, serverExternalPackages: ['geofix'] in next.config), or pass a source to open; see ${RECIPES}`,
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

/**
 * The ends of a URL's path, the shortest first: `c.gz`, `media/c.gz` and `static/media/c.gz` of `/static/media/c.gz`. A bundler
 * that serves its output gives a URL from there, and the folder of the bundle can be anywhere below.
 */
function endsOf({ pathname }: URL): string[] {
  const names = decoded(pathname).split('/').filter(Boolean)
  return names.map((_, index) => names.slice(names.length - 1 - index).join('/'))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The server of a web framework runs in the project, or in a copy that has the same folders. */
function inProject(ends: readonly string[]): string[] {
  try {
    const project = process.cwd()
    return ends.filter((end) => end.startsWith('node_modules/')).map((end) => join(project, end))
  } catch {
    // The folder was deleted, or asking for it is not permitted.
    return []
  }
}

/** `true` also if the system does not permit to ask. The error of opening the file then says so. */
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
