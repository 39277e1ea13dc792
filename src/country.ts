// Entry: the URL of the embedded country database, which bundlers recognise as an asset and copy.
import { embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './realm.ts'

const country: PlatformUrl = /* @__PURE__ */ embeddedUrl('country', locate)

export default country

/** Bundlers and tracers look for exactly this form. @vercel/nft needs the `return`: it does not see short arrow functions. */
function locate(): URL {
  return new URL('../data/country.mmdb.gz', import.meta.url)
}
