// The package's main module imports a driver for every database. These parts need none of them.
declare module 'rate-limiter-flexible/lib/component/MemoryStorage/MemoryStorage.js' {
  import type { RateLimiterRes } from 'rate-limiter-flexible'

  /** What `RateLimiterMemory` counts with, without its promises. */
  export default class MemoryStorage {
    incrby(key: string, points: number, seconds: number): RateLimiterRes
  }
}

declare module 'rate-limiter-flexible/lib/RateLimiterCluster.js' {
  import type { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible'

  const Limiters: {
    readonly RateLimiterCluster: typeof RateLimiterCluster
    readonly RateLimiterClusterMaster: typeof RateLimiterClusterMaster
  }
  export default Limiters
}
