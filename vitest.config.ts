// `npm test`: the tests of the source, which start no process and need no build, on samples of their cases.
// `scripts/package-tests.config.ts` has the tests of the package, `scripts/all-tests.config.ts` all cases of both.
import { defineConfig } from 'vitest/config'
import { isLong, isOfPackage, shortRun, testFiles } from './scripts/test-projects.ts'

const ofSource = testFiles().filter((file) => !isLong(file) && !isOfPackage(file))

export default defineConfig(shortRun(ofSource, ['scripts/no-processes.ts']))
