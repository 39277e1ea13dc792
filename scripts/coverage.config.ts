// Measures which code of src the short run of the tests runs. Code that runs only in child processes does not count.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { leaveOutIndexDefaults } from './index-defaults.ts'

export default defineConfig({
  plugins: [leaveOutIndexDefaults()],
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: fileURLToPath(new URL('few-examples.ts', import.meta.url)) },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // These tests run no source in this process, or only repeat it on much data.
    exclude: [
      'test/architecture.test.ts',
      'test/bench/**',
      'test/data/**',
      'test/**/*.package.test.ts',
      'test/package/**',
      'test/readme.test.ts',
      'test/scripts/**',
      'test/mmdb/bad-data.test.ts',
      'test/location/every-network.test.ts',
      'test/**/*.long.test.ts',
    ],
    // Instrumented code is too slow for time limits.
    testNamePattern: /^(?!.*bounded time)/,
    env: { MOST_EXAMPLES: '100' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // Run in child processes only: tests with real pipes, closed descriptors, signals and several workers start the
      // command as a process.
      exclude: [
        'src/cli/count/count-command.ts',
        'src/cli/enrich/descriptors.ts',
        'src/cli/enrich/pipe-stream.ts',
        'src/cli/serve/cluster.ts',
        'src/cli/serve/reload-requests.ts',
        'src/cli/serve/serve-command.ts',
        'src/cli/serve/worker-metrics.ts',
        // Only the long tests read the types of all writers of Parquet.
        'src/cli/enrich/parquet/values.ts',
      ],
      reporter: [['text', { skipFull: true }], 'json'],
      reportOnFailure: true,
      // Without the `?? 0` that the type of an index into a typed array requires.
      thresholds: { branches: 94.5, functions: 97.5, lines: 98.8, statements: 98 },
    },
  },
})
