// The part of the long run that the short runs have not done: the long tests, except those of engines, and every test whose
// cases or random examples the short runs sample. `npm run test:all` runs it after the short runs; CI runs a slice of it.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import allTests from './all-tests.config.ts'
import { isLong, slice, testFiles } from './test-projects.ts'

/** What makes a test do more in the long run. */
const SAMPLES = /from '(?:fast-check|[./]*\/effort\.ts)'/
const IMPORTS = /from '(\.[^']*\.ts)'/g

const known = new Map<string, boolean>()

/** Whether a test, or a file beside the tests that it imports, samples its cases. */
function isSampled(file: string): boolean {
  const answer = known.get(file)
  if (answer !== undefined) return answer
  known.set(file, false)
  const text = readFileSync(file, 'utf8')
  const imported = [...text.matchAll(IMPORTS)].map(([, path = '']) => join(dirname(file), path))
  // Tests also quote programs, whose imports are of files elsewhere.
  const beside = imported.filter((path) => path.startsWith('test/') && existsSync(path))
  const result = SAMPLES.test(text) || beside.some(isSampled)
  known.set(file, result)
  return result
}

const long = testFiles().filter((file) => isLong(file) && !file.startsWith('test/engines/'))
const sampled = testFiles().filter((file) => !isLong(file) && isSampled(file))

export default defineConfig({
  test: { ...allTests.test, include: [...slice(long), ...slice(sampled)] },
})
