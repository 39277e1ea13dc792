// What of src the tests run, in their own process: what only processes of their own run does not count.
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
    // Those that run no source in this process, or the same source on heaps of data, are left to `npm test`.
    exclude: [
      'test/architecture.test.ts',
      'test/bench/**',
      'test/data/**',
      'test/package/**',
      'test/readme.test.ts',
      'test/scripts/**',
      'test/cli/enrich/signals.test.ts',
      'test/mmdb/bad-data.test.ts',
      'test/location/every-network.test.ts',
    ],
    // Code that is counted is slow: times say nothing.
    testNamePattern: /^(?!.*bounded time)/,
    env: { MOST_EXAMPLES: '100' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: [['text', { skipFull: true }], 'json'],
      reportOnFailure: true,
      // What is left are mostly the zeros behind `??`, which stand there for the type of an index into a typed array.
      thresholds: { branches: 95, functions: 99, lines: 99, statements: 99 },
    },
  },
})
