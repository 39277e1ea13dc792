// Entry: as country.ts, for Node, and for React Server Components of a server on Node.
import { join } from 'node:path'
import { besideThisPackage, embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './realm.ts'

const country: PlatformUrl = /* @__PURE__ */ embeddedUrl('country', locate)

export default country

/** Turbopack replaces `process.turbopack` by `true`, and `__dirname` by a path. No other ES module has them. */
declare const process: { readonly turbopack?: boolean }
declare const __dirname: string

/**
 * Turbopack publishes a file that a Server Component names by `new URL`. It leaves out a branch that it knows to be dead.
 * It copies the file that `join` names to the folder of the server, at the same path as in the project.
 */
function locate(name: string): URL {
  if (process.turbopack) {
    join(__dirname, '../data/country.mmdb.gz')
    return besideThisPackage(name)
  }
  return new URL('../data/country.mmdb.gz', import.meta.url)
}
