import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: fileURLToPath(new URL('few-examples.ts', import.meta.url)) },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/package/**',
      'test/bench/**',
      'test/scripts/**',
      'test/data/**',
      'test/readme.test.ts',
      'test/architecture.test.ts',
      'test/record/every-network.test.ts',
      'test/cli/enrich/signals.test.ts',
      'test/mmdb/bad-data.test.ts',
      'test/mmdb/conformance.test.ts',
    ],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reportsDirectory: '.cache/coverage',
      reporter: ['text', 'json'],
      reportOnFailure: true,
    },
  },
})
