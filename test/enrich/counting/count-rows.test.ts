import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countPlan } from '../../../src/enrich/count-plan.ts'
import { countTable } from '../../../src/enrich/counting/count-rows.ts'
import { GroupTotals } from '../../../src/enrich/counting/totals.ts'
import { NOTHING_ELSE } from '../counted.ts'

const ipv4 = fc.tuple(
  ...Array.from({ length: 4 }, () => fc.constantFrom<number>(0, 1, 2, 10, 19, 100, 200, 255)),
)
const word = fc.constantFrom(0, 1, 0x1000000, 0x2001_0db8, 0x10_0000, 0x0019_0001, -1)
const address = fc.oneof(
  ipv4.map((octets) => [0, 0, 0xffff, octets.reduce((bits, octet) => (bits << 8) | octet, 0)]),
  fc.tuple(word, word, word, word),
)

it.each(['ip', 'network/20/28'])('rows of %s with the same count are in the order of their texts', (by) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(address, fc.integer({ min: 1, max: 3 })), { maxLength: 60 }), (lines) => {
      const totals = new GroupTotals(countPlan({ by }))
      // The networks of each part are distinct, so a part has one address. One more part has lines without an address.
      for (const [each, count] of [...lines, [null, 2] as const]) {
        totals.add({
          values: [Int32Array.from(each ?? [])],
          groups: Int32Array.of(each === null ? 0 : 1),
          counts: Float64Array.of(count),
          ...NOTHING_ELSE,
        })
      }
      const { rows } = countTable(totals)
      const textOf = (row: (typeof rows)[number]): string => String(row[by])
      expect(rows.at(-1)).toEqual({ [by]: null, count: 2 })
      const known = rows.slice(0, -1)
      expect(known).toEqual([...known].sort((a, b) => b.count - a.count || (textOf(a) < textOf(b) ? -1 : 1)))
      expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(
        lines.reduce((sum, [, count]) => sum + count, 2),
      )
    }),
  )
})
