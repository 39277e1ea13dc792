import { describe, expect, it } from 'vitest'
import { parseOptions } from '../../scripts/bench/options.ts'

describe('parseOptions', () => {
  it.each([
    [[], { quick: false, json: null, only: '', help: false }],
    [['--quick'], { quick: true, json: null, only: '', help: false }],
    [
      ['--json', 'report.json', '--only', 'IPv6'],
      { quick: false, json: 'report.json', only: 'IPv6', help: false },
    ],
    [['--help'], { quick: false, json: null, only: '', help: true }],
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
