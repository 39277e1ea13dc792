import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from './package/project.ts'

const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
const guide = readFileSync(join(ROOT, 'src/README.md'), 'utf8')

/** A product or a power of whole numbers, as constants are written. */
function numberOf(expression: string): number {
  const [base = '', exponent = '1'] = expression.split('**')
  const product = (factors: string) =>
    factors.split('*').reduce((value, factor) => value * Number(factor.replaceAll('_', '').trim()), 1)
  const [power = '', less = '0'] = exponent.split('-')
  return product(base) ** Number(power) - Number(less)
}

describe('SECURITY.md', () => {
  const tests = [...new Set(Array.from(text.matchAll(/`(test\/[\w./-]+)`/g), ([, file = '']) => file))]

  it('has at most 1,500 words', () => expect(text.split(/\s+/).length).toBeLessThanOrEqual(1500))

  it('names tests', () => expect(tests.length).toBeGreaterThan(15))

  it.each(tests)('names a test that is there: %s', (file) => {
    expect(existsSync(join(ROOT, file))).toBe(true)
  })

  const bounds = Array.from(
    guide.matchAll(/^\| ([^|]+) \| ([\d,]+)[^|]* \| `(src\/[\w./-]+)` `(\w+)` \|$/gm),
    ([, what = '', most = '', file = '', name = '']) => ({
      what,
      most: Number(most.replaceAll(',', '')),
      file,
      name,
    }),
  )

  it('has bounds', () => expect(bounds.length).toBeGreaterThan(15))

  it.each(bounds)('knows the bound of $what', ({ most, file, name }) => {
    const code = readFileSync(join(ROOT, file), 'utf8')
    const [, expression = ''] = new RegExp(`^(?:export )?const ${name} = (.+)$`, 'm').exec(code) ?? []
    expect(numberOf(expression)).toBe(most)
  })
})
