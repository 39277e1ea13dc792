import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Coverage, checkCoverage, coverageTable } from '../../../scripts/build-data/coverage.ts'

const path = join(import.meta.dirname, '../../../data/manifest.json')
const { coverage }: { coverage: Coverage } = JSON.parse(readFileSync(path, 'utf8'))

describe('checkCoverage', () => {
  it('accepts the published data', () => expect(() => checkCoverage(coverage, [])).not.toThrow())

  it('refuses too few region codes', () => {
    const poor = { ...coverage, regionCodes: { ...coverage.regionCodes, networks: 0.9899 } }
    expect(() => checkCoverage(poor, [])).toThrow(
      'only 98.99% of the networks that name a region have a region code',
    )
  })

  it('refuses an unused alias', () => {
    expect(() => checkCoverage(coverage, ['XX|Nowhere'])).toThrow('the source does not have XX|Nowhere')
  })
})

it('prints every figure', () => {
  const table = coverageTable(coverage)
  for (const text of ['networks', 'with time zone', 'region code by alias']) {
    expect(table).toContain(text)
  }
})
