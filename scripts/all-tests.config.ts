// The long run, a part of `npm run test:all`: every test, on all of its cases, with new random examples each time
// unless EXAMPLES_SEED is set.
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
