// Modules of packages that are imported alone, and have no types of their own.

// The package's main module imports a driver for every database. This part needs none of them.
declare module 'rate-limiter-flexible/lib/RateLimiterCluster.js' {
  import type { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible'

  const Limiters: {
    readonly RateLimiterCluster: typeof RateLimiterCluster
    readonly RateLimiterClusterMaster: typeof RateLimiterClusterMaster
  }
  export default Limiters
}
