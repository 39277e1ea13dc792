// Entry: as asn.ts, for Node, and for React Server Components of a server on Node.
import { join } from 'node:path'
import { besideThisPackage, embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './realm.ts'

const asn: PlatformUrl = /* @__PURE__ */ embeddedUrl('asn', locate)

export default asn

declare const process: { readonly turbopack?: boolean }
declare const __dirname: string

/** In the form that city-server.ts explains. */
function locate(name: string): URL {
  if (process.turbopack) {
    join(__dirname, '../data/asn.mmdb.packed')
    return besideThisPackage(name)
  }
  return new URL('../data/asn.mmdb.packed', import.meta.url)
}
