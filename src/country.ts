// Entry: the URL of the embedded country database, which bundlers recognise as an asset and copy. Write it exactly so: they
// look for this expression.
import { embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './platform-types.ts'

const country: PlatformUrl = /* @__PURE__ */ embeddedUrl(
  'country',
  () => new URL('../data/country.mmdb.gz', import.meta.url),
)

export default country
