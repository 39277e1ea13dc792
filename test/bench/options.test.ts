import { describe, expect, it } from 'vitest'
import { parseOptions } from '../../scripts/bench/options.ts'

describe('parseOptions', () => {
  it.each([
    [[], { quick: false, json: null, only: '', guide: null, help: false }],
    [['--quick'], { quick: true, json: null, only: '', guide: null, help: false }],
    [
      ['--json', 'report.json', '--only', 'IPv6'],
      { quick: false, json: 'report.json', only: 'IPv6', guide: null, help: false },
    ],
    [['--readers'], { quick: false, json: null, only: 'readers', guide: null, help: false }],
    [['--help'], { quick: false, json: null, only: '', guide: null, help: true }],
    [['--guide', 'report.json'], { quick: false, json: null, only: '', guide: 'report.json', help: false }],
  ])('reads %j', (args, options) => {
    expect(parseOptions(args)).toEqual(options)
  })

  it.each([
    [['--fast']], // unknown
    [['--json']], // without a path
    [['quick']], // not an option
  ])('refuses %j', (args) => {
    expect(() => parseOptions(args)).toThrow(TypeError)
  })
})
