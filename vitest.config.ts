// `npm test`: the tests of the source, which start no process and need no build, on samples of their cases.
// `scripts/package-tests.config.ts` has the tests of the package, `scripts/all-tests.config.ts` all cases of both.
import { defineConfig } from 'vitest/config'
import { leaveOutIndexDefaults } from './scripts/index-defaults.ts'
import { isLong, isOfPackage, shortRun, testFiles } from './scripts/test-projects.ts'

const ofSource = testFiles().filter((file) => !isLong(file) && !isOfPackage(file))
const { test, ...config } = shortRun(ofSource, ['scripts/no-processes.ts'])

export default defineConfig({
  ...config,
  // Projects do not know whether the coverage is measured.
  plugins: process.argv.includes('--coverage') ? [leaveOutIndexDefaults()] : [],
  test: {
    ...test,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // Run in child processes only, by tests of the package: with real pipes, closed descriptors, signals and several workers.
      exclude: [
        'src/cli/count/count-command.ts',
        // Puts the files of the built package into an archive.
        'src/cli/engine-command.ts',
        'src/cli/enrich/descriptors.ts',
        'src/cli/enrich/pipe-stream.ts',
        // Runs in worker threads only.
        'src/cli/enrich/worker.ts',
        'src/cli/serve/cluster.ts',
        'src/cli/serve/reload-requests.ts',
        'src/cli/serve/serve-command.ts',
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
