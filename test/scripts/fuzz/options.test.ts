import { expect, it } from 'vitest'
import { parseOptions } from '../../../scripts/fuzz/options.ts'

it('npm run fuzz has another seed each time', () => {
  expect(new Set([1, 2, 3, 4].map(() => parseOptions([], []).seed)).size).toBeGreaterThan(1)
})
