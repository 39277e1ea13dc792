// Entry: the URL of the embedded city database, which bundlers recognise as an asset and copy.
import { embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './realm.ts'

const city: PlatformUrl = /* @__PURE__ */ embeddedUrl('city', locate)

export default city

/** Bundlers and tracers look for exactly this form. @vercel/nft needs the `return`: it does not see short arrow functions. */
function locate(): URL {
  return new URL('../data/city.mmdb.packed', import.meta.url)
}
