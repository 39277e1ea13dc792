// The tests of engines, `npm run test:engines`, one after another: each uses all processors.
import { defineConfig } from 'vitest/config'
import allTests from './all-tests.config.ts'
import { slice, testFiles } from './test-projects.ts'

const ofEngines = testFiles().filter((file) => file.startsWith('test/engines/'))

export default defineConfig({
  test: { ...allTests.test, include: slice(ofEngines), fileParallelism: false },
})
