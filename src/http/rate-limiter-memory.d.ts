// The package's main module imports a driver for every database. This one needs none of them.
declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  import type { RateLimiterMemory } from 'rate-limiter-flexible'

  const Limiter: typeof RateLimiterMemory
  export default Limiter
}
