import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MOST_ROWS, rankedOf } from '../../../src/cli/report/ranked.ts'

it('ranks as sorting all rows does, also if many have the same count', () => {
  const some = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 400 })
  const many = fc.constant(Array.from({ length: 12_000 }, (_, index) => (index % 97 === 0 ? 2 : 1)))
  fc.assert(
    fc.property(fc.oneof({ arbitrary: some, weight: 20 }, many), fc.nat(3), (counts, other) => {
      const all = counts.map((count, index) => ({
        name: String((index * 7919) % 12_007).padStart(5, '0'),
        count,
        addresses: null,
        within: null,
        bytes: null,
      }))
      const asked: number[] = []
      const ranked = rankedOf(Float64Array.from(counts), other, (index) => {
        asked.push(index)
        const { name = '' } = all[index] ?? {}
        return { name, addresses: null, within: null, bytes: null }
      })
      const sorted = all.toSorted((a, b) => b.count - a.count || Number(a.name) - Number(b.name))
      expect(ranked.rows).toEqual(sorted.slice(0, MOST_ROWS))
      expect(ranked.all).toBe(counts.length)
      const lines = counts.reduce((sum, count) => sum + count, other)
      expect(ranked.rows.reduce((sum, { count }) => sum + count, ranked.otherLines)).toBe(lines)
      expect(ranked.isExact).toBe(other === 0)
      // No row is made that a smaller count keeps out.
      const least = sorted[MOST_ROWS - 1]?.count ?? 0
      expect(asked.every((index) => (counts[index] ?? 0) >= least)).toBe(true)
    }),
  )
})
