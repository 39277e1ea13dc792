import { describe, expect, it } from 'vitest'
import { compareLines } from '../../scripts/bench/enrich/agreement.ts'

const PARIS =
  'a\tline\t{"ip":"1.2.3.4","country":{"code":"FR"},"region":{"code":"FR-IDF"},"city":"Paris","coordinates":{"latitude":48.0,"longitude":2},"timezone":{"id":"Europe/Paris"}}'
const SAME = 'a\tline\tFR\tIDF\tParis\t48\t2\tEurope/Paris'
const NULL = 'a\tline\tnull'
const EMPTY = 'a\tline\t\t\t\t\t\t'

describe('compareLines', () => {
  it.each([
    ['the same, numbers written in another way', PARIS, SAME, { located: 1, same: 1 }],
    ['another city', PARIS, SAME.replace('Paris', 'Lyon'), { located: 1, same: 0, onlyOne: 0 }],
    [
      'unknown fields',
      PARIS.replace('"FR-IDF"', 'null'),
      SAME.replace('IDF', ''),
      { located: 1, same: 1, difference: null },
    ],
    ['a location from one', PARIS, EMPTY, { located: 0, onlyOne: 1, difference: null }],
    ['a location from none', NULL, EMPTY, { located: 0, same: 0, onlyOne: 0 }],
  ])('counts %s', (_, ours, theirs, expected) => {
    expect(compareLines([ours], [theirs])).toMatchObject(expected)
  })

  it('shows the first difference', () => {
    const [lyon, nice] = [SAME.replace('Paris', 'Lyon'), SAME.replace('Paris', 'Nice')]
    const { difference } = compareLines([PARIS, PARIS, PARIS], [SAME, lyon, nice])
    expect(difference).toBe(`${PARIS} and ${lyon}`)
  })

  it('requires the same number of lines', () => {
    expect(() => compareLines([PARIS], [])).toThrow('1 lines, but 0 in the other output')
  })
})
