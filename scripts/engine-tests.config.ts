// The tests of engines, `npm run test:engines`, one after another: each uses all processors.
import { defineConfig } from 'vitest/config'
import allTests from './all-tests.config.ts'

export default defineConfig({
  test: { ...allTests.test, include: ['test/engines/**/*.test.ts'], fileParallelism: false },
})
