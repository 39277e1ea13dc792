import { describe, expect, it } from 'vitest'
import { compareLines } from '../../scripts/bench/enrich/agreement.ts'

const PARIS = '{"id":1,"location":{"city":"Paris","coordinates":{"latitude":48.0}}}'

describe('compareLines', () => {
  it.each([
    ['the same, numbers written in another way', PARIS, PARIS.replace('48.0', '48'), { located: 1, same: 1 }],
    ['another city', PARIS, PARIS.replace('Paris', 'Lyon'), { located: 1, same: 0, onlyOne: 0 }],
    ['a location from one', PARIS, '{"id":1,"location":null}', { located: 0, onlyOne: 1, difference: null }],
    ['a location from none', '{"location":null}', '{"location":null}', { located: 0, same: 0, onlyOne: 0 }],
  ])('counts %s', (_, ours, theirs, expected) => {
    expect(compareLines([ours], [theirs])).toMatchObject(expected)
  })

  it('shows the first difference', () => {
    const [lyon, nice] = [PARIS.replace('Paris', 'Lyon'), PARIS.replace('Paris', 'Nice')]
    const { difference } = compareLines([PARIS, PARIS, PARIS], [PARIS, lyon, nice])
    expect(difference).toBe(`${PARIS} and ${lyon}`)
  })

  it('requires the same number of lines', () => {
    expect(() => compareLines([PARIS], [])).toThrow('1 lines, but 0 in the other output')
  })
})
