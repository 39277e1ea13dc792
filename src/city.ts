// Entry: the URL of the embedded city database, which bundlers recognise as an asset and copy. Write it exactly so: they
// look for this expression.
import { embeddedUrl } from './embedded.ts'
import type { PlatformUrl } from './platform-types.ts'

const city: PlatformUrl = /* @__PURE__ */ embeddedUrl(
  'city',
  () => new URL('../data/city.mmdb.gz', import.meta.url),
)

export default city
