// Mutation testing: every change of the source must fail a test. `npm run mutation -- address mmdb/writer`, or one file
// (`src/mmdb/format.ts`), or all of FOLDERS by default; `--short` is for CI. Exit status 1 below a score of 85.
// Reports: .cache/mutation.
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { FOLDERS, type Folder, SHORT } from './folders.ts'

const CACHE = '.cache/mutation'

for (const [name, folder] of chosen(process.argv.slice(2))) await mutate(name.replaceAll('/', '-'), folder)

function chosen(names: readonly string[]): [name: string, folder: Folder][] {
  if (names.includes('--short')) return [['short', SHORT]]
  if (names.length === 0) return Object.entries(FOLDERS)
  return names.map((name) => {
    const folder = FOLDERS[name] ?? fileOnly(name)
    if (folder === undefined) {
      throw new Error(`${name} is not one of ${Object.keys(FOLDERS).join(', ')}, a file in them, or --short`)
    }
    return [name, folder]
  })
}

/** One file, with the tests of its folder. */
function fileOnly(path: string): Folder | undefined {
  const folder = FOLDERS[dirname(path).replace(/^src\//, '')]
  return folder && existsSync(path) ? { mutate: [path], tests: folder.tests } : undefined
}

async function mutate(name: string, folder: Folder): Promise<void> {
  // Stryker changes a copy in a folder of the project. Tests expect the shared vectors next to that copy.
  const sandboxes = `${CACHE}/${name}`
  rmSync(sandboxes, { recursive: true, force: true })
  mkdirSync(sandboxes, { recursive: true })
  symlinkSync(resolve('../shared'), `${sandboxes}/shared`)
  process.env.MUTATION_TESTS = folder.tests.join(' ')
  await new Stryker({
    mutate: [...folder.mutate],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    // Code that runs at import would need all tests for each mutant.
    ignoreStatic: true,
    concurrency: 2,
    // Stryker ends most endless loops earlier, by counting hits.
    timeoutMS: 20_000,
    tempDirName: sandboxes,
    cleanTempDir: 'always',
    ignorePatterns: ['.cache', 'coverage', 'data/city.mmdb.packed', 'dist'],
    reporters: ['clear-text', 'progress-append-only', 'json'],
    jsonReporter: { fileName: `${CACHE}/${name}.json` },
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    thresholds: { high: 95, low: 85, break: 85 },
  }).runMutationTest()
}
