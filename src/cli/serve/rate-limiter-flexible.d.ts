// The package's main module imports a driver for every database. These parts need none of them.
declare module 'rate-limiter-flexible/lib/RateLimiterCluster.js' {
  import type { RateLimiterCluster, RateLimiterClusterMaster } from 'rate-limiter-flexible'

  const Limiters: {
    readonly RateLimiterCluster: typeof RateLimiterCluster
    readonly RateLimiterClusterMaster: typeof RateLimiterClusterMaster
  }
  export default Limiters
}

declare module 'rate-limiter-flexible/lib/RateLimiterRedis.js' {
  export { RateLimiterRedis as default } from 'rate-limiter-flexible'
}

declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  export { RateLimiterMemory as default } from 'rate-limiter-flexible'
}
