// The package's main module imports a driver for every database. These parts need none of them.
declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  import type { RateLimiterMemory } from 'rate-limiter-flexible'

  const Limiter: typeof RateLimiterMemory
  export default Limiter
}

declare module 'rate-limiter-flexible/lib/RateLimiterCluster.js' {
  import type { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible'

  const Limiters: {
    readonly RateLimiterCluster: typeof RateLimiterCluster
    readonly RateLimiterClusterMaster: typeof RateLimiterClusterMaster
  }
  export default Limiters
}
