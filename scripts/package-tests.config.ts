// `npm run test:package`: the tests that start processes or use the built package, on samples of their cases.
import { defineConfig } from 'vitest/config'
import { isOfPackage, shortRun, testFiles } from './test-projects.ts'

export default defineConfig(shortRun(testFiles().filter(isOfPackage)))
