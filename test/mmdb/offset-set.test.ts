import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OffsetSet } from '../../src/mmdb/offset-set.ts'

describe('a set of offsets', () => {
  it('is what a Set is', () => {
    const offset = fc.integer({ min: 100, max: 179 })
    fc.assert(
      fc.property(fc.array(offset), (offsets) => {
        const set = new OffsetSet(100, 180)
        const expected = new Set<number>()
        for (const each of offsets) {
          expect(set.add(each)).toBe(!expected.has(each))
          expected.add(each)
        }
        for (let each = 90; each < 190; each++) expect(set.has(each)).toBe(expected.has(each))
        expect([...set]).toEqual([...expected].sort((a, b) => a - b))
      }),
    )
  })

  it('can be of nothing', () => {
    expect([...new OffsetSet(10, 10)]).toEqual([])
    expect([...new OffsetSet(10, 5)]).toEqual([])
    expect(new OffsetSet(10, 5).has(10)).toBe(false)
  })
})
