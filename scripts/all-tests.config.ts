// Every test, on all of its cases, with new random examples each time unless EXAMPLES_SEED is set.
// `scripts/long-tests.config.ts` is the part of it that `npm test` has not done.
import { defineConfig } from 'vitest/config'
import { PUT_BACK } from './test-projects.ts'

export default defineConfig({
  test: {
    ...PUT_BACK,
    include: ['test/**/*.test.ts'],
    setupFiles: ['scripts/examples-seed.ts'],
    // See test/effort.ts.
    env: { GEOFIX_TESTS: 'all' },
    // Far more than any test needs: machines differ, and a busy one proves nothing wrong.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    pool: 'forks',
    maxWorkers: '100%',
  },
})
