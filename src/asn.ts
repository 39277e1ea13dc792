// Entry: the URL of the embedded database of autonomous systems, which bundlers recognise as an asset and copy.
import { embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './realm.ts'

const asn: PlatformUrl = /* @__PURE__ */ embeddedUrl('asn', locate)

export default asn

/** Bundlers and tracers look for exactly this form. @vercel/nft needs the `return`: it does not see short arrow functions. */
function locate(): URL {
  return new URL('../data/asn.mmdb.packed', import.meta.url)
}
