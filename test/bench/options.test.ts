import { describe, expect, it } from 'vitest'
import { parseOptions } from '../../scripts/bench/options.ts'

describe('parseOptions', () => {
  const DEFAULTS = { quick: false, json: null, only: '', guide: null, help: false }
  it.each([
    [[], {}],
    [['--quick'], { quick: true }],
    [['--json', 'report.json', '--only', 'IPv6'], { json: 'report.json', only: 'IPv6' }],
    [['--readers'], { only: 'readers' }],
    [['--help'], { help: true }],
    [['--guide', 'report.json'], { guide: 'report.json' }],
  ])('reads %j', (args, given) => {
    expect(parseOptions(args)).toEqual({ ...DEFAULTS, ...given })
  })

  it.each([
    [['--fast']], // unknown
    [['--json']], // without a path
    [['quick']], // not an option
  ])('refuses %j', (args) => {
    expect(() => parseOptions(args)).toThrow(TypeError)
  })
})
