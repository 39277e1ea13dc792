// Adds up the JSON reports of vitest, names their slowest files and their failed tests, and refuses skipped tests that give no good reason:
// tsx scripts/test-counts.ts REPORT…

import { existsSync, readFileSync } from 'node:fs'
import { basename, relative } from 'node:path'

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    /** The path of the test file. */
    readonly name: string
    /** In milliseconds. */
    readonly startTime: number
    readonly endTime: number
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages?: readonly string[]
    }[]
    /** Why the file as a whole failed, such as a failed import. */
    readonly message?: string
  }[]
}

export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** The names of skipped tests without a good reason. */
  readonly unexpected: readonly string[]
}

/** A program beside which the test runs is missing. */
const GOOD_REASON = /is not installed|mmdblookup/

/**
 * @param needsShared whether a test file reads `../shared`
 * @param hasShared whether `../shared` is there; without it, tests that read it may be skipped
 */
export function countTests(
  reports: readonly Report[],
  needsShared: (file: string) => boolean,
  hasShared: boolean,
): TestCounts {
  const files = reports.flatMap(({ testResults }) => testResults)
  const skipped = files.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'pending' || status === 'skipped' || status === 'todo')
      .map(({ fullName }) => ({ fullName, file: name })),
  )
  return {
    passed: reports.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0),
    failed: reports.reduce((sum, { numFailedTests }) => sum + numFailedTests, 0),
    skipped: skipped.length,
    unexpected: skipped
      .filter(({ fullName, file }) => !GOOD_REASON.test(fullName) && (hasShared || !needsShared(file)))
      .map(({ fullName }) => fullName),
  }
}

/** The slowest test files of a run: their seconds and their paths. */
export function slowestFiles({ testResults }: Report, most: number): string[] {
  return testResults
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, most)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${relative('.', name)}`)
}

/** The failed tests of a run, each with its file and the beginning of what it says. */
export function failures({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, assertionResults, message = '' }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const texts = failed.map(
      ({ fullName, failureMessages = [] }) => `${fullName}\n${failureMessages.join('\n')}`,
    )
    if (texts.length === 0 && message !== '') texts.push(message)
    return texts.map((text) => `${relative('.', name)}: ${text.slice(0, 1000)}`)
  })
}

if (process.argv[1] === import.meta.filename) {
  const paths = process.argv.slice(2).filter((path) => {
    const isThere = existsSync(path)
    // A run that ended before its report.
    if (!isThere) console.error(`there is no ${path}`)
    if (!isThere) process.exitCode = 1
    return isThere
  })
  const reports = paths.map((path): Report => JSON.parse(readFileSync(path, 'utf8')))
  for (const [index, report] of reports.entries()) {
    console.log(`\n== the slowest files of ${basename(paths[index] ?? '', '.json')}`)
    console.log(slowestFiles(report, 20).join('\n'))
  }
  const needsShared = (file: string): boolean => /\b(?:hasShared|hasLogs)\b/.test(readFileSync(file, 'utf8'))
  const { passed, failed, skipped, unexpected } = countTests(reports, needsShared, existsSync('../shared'))
  for (const failure of reports.flatMap(failures)) console.error(`\nfailed: ${failure}`)
  for (const name of unexpected) console.error(`skipped without a good reason: ${name}`)
  // Read by what runs `.ci/run`.
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
  if (unexpected.length > 0 || failed > 0) process.exitCode = 1
}
