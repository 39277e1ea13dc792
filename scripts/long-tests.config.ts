// The part of the long run that the short run has not done: the long tests, but for those of engines, and every test whose
// cases or random examples the short run samples. `npm run test:all` and CI run it after `npm test`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import allTests from './all-tests.config.ts'

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

const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.test.ts'))

export default defineConfig({
  test: {
    ...allTests.test,
    include: tests.filter(
      (file) => !file.startsWith('test/engines/') && (file.endsWith('.long.test.ts') || isSampled(file)),
    ),
  },
})
