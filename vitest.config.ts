// The short run, `npm test`: every rule, on samples. `scripts/all-tests.config.ts` is the long one.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^fast-check$/,
        replacement: fileURLToPath(new URL('scripts/few-examples.ts', import.meta.url)),
      },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.long.test.ts'],
    env: { MOST_EXAMPLES: '100' },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Vitest leaves one processor idle by default, which is half of two.
    maxWorkers: '100%',
  },
})
