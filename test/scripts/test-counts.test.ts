import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { countTests, failures } from '../../scripts/test-counts.ts'

const report = (file: string, ...tests: [fullName: string, status: string][]) => ({
  numPassedTests: tests.filter(([, status]) => status === 'passed').length,
  numFailedTests: tests.filter(([, status]) => status === 'failed').length,
  testResults: [
    {
      name: file,
      startTime: 0,
      endTime: 0,
      assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
    },
  ],
})

const readsShared = (file: string): boolean => file === 'shared.test.ts'

describe('countTests', () => {
  it('adds up the reports', () => {
    const reports = [
      report('a.test.ts', ['one', 'passed'], ['two', 'failed']),
      report('b.test.ts', ['three', 'passed'], ['bun: bun is not installed', 'pending']),
    ]
    expect(countTests(reports, readsShared, true)).toEqual({
      passed: 2,
      failed: 1,
      skipped: 1,
      unexpected: [],
    })
  })

  it.each([
    // file, name, whether ../shared is there, whether the skip is accepted
    ['a.test.ts', 'some test', true, false],
    ['a.test.ts', 'some test', false, false],
    ['a.test.ts', 'nginx is not installed', true, true],
    ['shared.test.ts', 'a fixture', false, true],
    ['shared.test.ts', 'a fixture', true, false],
  ])('of %s skips %o while ../shared is there: %o', (file, name, hasShared, isAccepted) => {
    for (const status of ['pending', 'skipped', 'todo']) {
      const { unexpected } = countTests([report(file, [name, status])], readsShared, hasShared)
      expect(unexpected).toEqual(isAccepted ? [] : [name])
    }
  })
})

it('failures has the failed tests and files, with what they say', () => {
  const file = { startTime: 0, endTime: 0 }
  const testResults = [
    {
      ...file,
      name: resolve('test/a.test.ts'),
      assertionResults: [
        { fullName: 'one', status: 'passed', failureMessages: [] },
        { fullName: 'two', status: 'failed', failureMessages: [`expected 1 to be 2${' '.repeat(2000)}`] },
      ],
    },
    { ...file, name: resolve('test/b.test.ts'), assertionResults: [], message: 'cannot find module c' },
    { ...file, name: resolve('test/c.test.ts'), assertionResults: [], message: '' },
  ]
  const [test, whole, ...others] = failures({ numPassedTests: 1, numFailedTests: 1, testResults })
  expect(test?.trim()).toBe('test/a.test.ts: two\nexpected 1 to be 2')
  expect(test?.length).toBeLessThan(1100)
  expect(whole).toBe('test/b.test.ts: cannot find module c')
  expect(others).toEqual([])
})
