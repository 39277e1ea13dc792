// Entry: as country.ts, for Node, and for React Server Components of a server on Node.
import { join } from 'node:path'
import { besideThisPackage, embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './realm.ts'

const country: PlatformUrl = /* @__PURE__ */ embeddedUrl('country', locate)

export default country

declare const process: { readonly turbopack?: boolean }
declare const __dirname: string

/** In the form that city-server.ts explains. */
function locate(name: string): URL {
  if (process.turbopack) {
    join(__dirname, '../data/country.mmdb.gz')
    return besideThisPackage(name)
  }
  return new URL('../data/country.mmdb.gz', import.meta.url)
}
