// The short run, `npm test`: every rule, on samples. `scripts/all-tests.config.ts` is the long one.
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { testProjects } from './scripts/test-projects.ts'

const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'))

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
    projects: testProjects(tests),
    env: { MOST_EXAMPLES: '100' },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // One more than processors, because many tests wait: for a timer, a file or another process.
    maxWorkers: availableParallelism() + 1,
  },
})
