// Adds up the JSON reports of vitest and refuses skipped tests that give no good reason: tsx scripts/test-counts.ts REPORT…

import { existsSync, readFileSync } from 'node:fs'

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    /** The path of the test file. */
    readonly name: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** The names of skipped tests without a good reason. */
  readonly unexpected: readonly string[]
}

/** A program beside which the test runs is missing, or the right to make a network namespace. */
const GOOD_REASON = /is not installed|mmdblookup|unshare/

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

if (process.argv[1] === import.meta.filename) {
  const reports = process.argv.slice(2).map((path): Report => JSON.parse(readFileSync(path, 'utf8')))
  const needsShared = (file: string): boolean => /\b(?:hasShared|hasLogs)\b/.test(readFileSync(file, 'utf8'))
  const { passed, failed, skipped, unexpected } = countTests(reports, needsShared, existsSync('../shared'))
  for (const name of unexpected) console.error(`skipped without a good reason: ${name}`)
  // Read by what runs `.ci/run`.
  console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`)
  if (unexpected.length > 0 || failed > 0) process.exitCode = 1
}
