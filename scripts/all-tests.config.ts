// Every test, on all of its cases, with new random examples each time unless EXAMPLES_SEED is set.
// `scripts/long-tests.config.ts` is the part of it that `npm test` has not done.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['scripts/examples-seed.ts'],
    // See test/effort.ts.
    env: { GEOFIX_TESTS: 'all' },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: '100%',
  },
})
