import { describe, expect, it } from 'vitest'
import { parseOptions } from '../../../scripts/fuzz/options.ts'

const parse = (...args: string[]) => parseOptions(args, ['address', 'gzip'])

describe('the options of npm run fuzz', () => {
  it('have defaults, and another seed each time', () => {
    expect(parse()).toMatchObject({ minutes: 5, only: null, replay: null, help: false })
    expect(Number.isSafeInteger(parse().seed)).toBe(true)
    expect(new Set([1, 2, 3, 4].map(() => parse().seed)).size).toBeGreaterThan(1)
  })

  it.each([
    [['--minutes', '0'], '--minutes'],
    [['--minutes', 'x'], '--minutes'],
    [['--only', 'zip'], 'one of address, gzip'],
    [['--seed', '1.5'], '--seed'],
    [['--other'], '--other'],
    [['more'], 'more'],
  ])('%j is refused', (args, message) => {
    expect(() => parse(...args)).toThrow(TypeError)
    expect(() => parse(...args)).toThrow(message)
  })
})
