import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countPlan } from '../../../src/enrich/count-plan.ts'
import { DistinctAddresses, Groups } from '../../../src/enrich/counting/groups.ts'
import { GroupTotals } from '../../../src/enrich/counting/totals.ts'
import { FieldCoder } from '../../../src/enrich/locating/dimension-coders.ts'
import { NOTHING_ELSE } from '../counted.ts'

describe('DistinctAddresses', () => {
  const pair = fc.tuple(fc.nat(3), fc.nat(40))
  const added = (pairs: readonly (readonly [number, number])[], most?: number): DistinctAddresses => {
    const distinct = new DistinctAddresses(most)
    for (const [group, address] of pairs) distinct.add(group, Int32Array.of(0, 0, 0xffff, address))
    return distinct
  }

  it('is exact below its limit, also of several threads', () => {
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 200 }), fc.array(pair, { maxLength: 200 }), (first, second) => {
        const distinct = added(first)
        const other = added(second)
        distinct.merge(other.pairs, other.halvings, Int32Array.of(3, 2, 1, -1))
        const sets = [0, 1, 2, 3].map(() => new Set<number>())
        for (const [group, address] of first) sets[group]?.add(address)
        for (const [group, address] of second) if (group < 3) sets[3 - group]?.add(address)
        expect([...distinct.counts(4)]).toEqual(sets.map(({ size }) => size))
        expect(distinct.halvings).toBe(0)
      }),
    )
  })

  it('estimates beyond its limit, from the same sample in all threads', () => {
    const addresses = Array.from(
      { length: 100_000 },
      (_, index) => [index % 2, Math.imul(index, 2654435761)] as const,
    )
    const all = added(addresses, 4096)
    const half = added(addresses.slice(0, 60_000), 4096)
    const rest = added(addresses.slice(60_000), 4096)
    half.merge(rest.pairs, rest.halvings, Int32Array.of(0, 1))
    expect([...half.counts(2)]).toEqual([...all.counts(2)])
    expect(all.halvings).toBeGreaterThan(3)
    // Four times the standard error that the note states.
    const allowed = 4 * Math.sqrt((2 ** all.halvings - 1) * 50_000)
    for (const count of all.counts(2)) expect(Math.abs(count - 50_000)).toBeLessThan(allowed)
  })
})

describe('FieldCoder', () => {
  it('refuses new texts when it may not add them, or they exceed its memory', () => {
    const source = { bytes: Buffer.from('abcdefgh'), start: 0, end: 0, findCounted: () => true }
    const coder = new FieldCoder(0, source, 5)
    const code = (start: number, end: number, mayAdd: boolean): number =>
      Object.assign(source, { start, end }) && coder.code(mayAdd)
    expect(code(0, 3, true)).toBe(1)
    expect(code(3, 5, false)).toBe(-1)
    expect(code(3, 8, true)).toBe(-1)
    expect(code(3, 5, true)).toBe(2)
    expect(code(0, 3, false)).toBe(1)
    expect(coder.values()).toEqual([[null], ['abc'], ['de']])
  })
})

describe('Groups', () => {
  const code = fc.oneof(fc.nat(3), fc.constantFrom(32_766, 32_767, 65_535, 65_536, 2 ** 31 - 1))
  const lines = fc.array(fc.tuple(code, code, fc.boolean()), { maxLength: 200 })

  it('counts the lines of each pair of codes, whether it searches for a new one or not', () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 12 }), (all, maxGroups) => {
        const counts = new Groups(countPlan({ by: 'country,reason', maxGroups }))
        const expected = new Map<string, number>()
        let other = 0
        for (const [first, second, mayAppend] of all) {
          counts.next.set([first, second])
          const key = `${first} ${second}`
          const isNew = !expected.has(key)
          counts.count(2, isNew && mayAppend)
          if (isNew && expected.size === maxGroups) other += 2
          else expected.set(key, (expected.get(key) ?? 0) + 2)
        }
        const groups = Array.from(counts.lines, (count, group) => [
          counts.codes.subarray(2 * group, 2 * group + 2).join(' '),
          count,
        ])
        expect(groups).toEqual([...expected])
        expect(counts.other).toBe(other)
      }),
    )
  })
})

describe('GroupTotals', () => {
  const part = (values: string[], codes: number[], counts: number[]) => ({
    values: [values.map((each) => [each]), [[null]]],
    groups: Int32Array.from(codes.flatMap((code) => [code, 0])),
    counts: Float64Array.from(counts),
    ...NOTHING_ELSE,
    other: 1,
  })

  it('adds up parts by their values, and counts as other lines what is too much', () => {
    const totals = new GroupTotals(countPlan({ by: 'user,reason', maxGroups: 2 }))
    totals.add(part(['a', 'b'], [0, 1], [5, 3]))
    totals.add(part(['b', 'c'], [1, 0], [7, 2]))
    expect([...totals.groups()].map(({ values, count }) => [...values, count])).toEqual([
      ['a', null, 5],
      ['b', null, 5],
    ])
    expect(totals.other).toBe(1 + 1 + 7)
  })

  it('has the span of all parts', () => {
    const totals = new GroupTotals(countPlan({ by: 'user,reason' }))
    for (const [first, last] of [
      [10, 20],
      [5, 15],
    ] as const)
      totals.add({ ...part(['a'], [0], [1]), localTimes: { lines: 2, first, last } })
    totals.add(part(['a'], [0], [1]))
    expect(totals.localTimes).toMatchObject({ lines: 4, first: 5, last: 20 })
    expect(totals.instants).toMatchObject({ lines: 0, first: Infinity, last: -Infinity })
  })

  it('takes the groups of the first part as they are, and adds others to them', () => {
    const totals = new GroupTotals(countPlan({ by: 'ip,reason', unique: true }))
    const words = (...last: number[]): Int32Array =>
      Int32Array.from(last.flatMap((each) => [0, 0, 0xffff, each]))
    const first = { ...part([], [1, 2], [5, 3]), values: [words(1, 2), [[null]]] }
    totals.add({ ...first, pairs: Int32Array.of(0, 0, 0, 0xffff, 1, 1, 0, 0, 0xffff, 2) })
    const second = { ...part([], [0, 1, 2], [1, 1, 1]), values: [words(3, 1), [[null]]] }
    totals.add({ ...second, pairs: Int32Array.of(1, 0, 0, 0xffff, 3, 2, 0, 0, 0xffff, 1) })
    expect([...totals.groups()].map(({ values, count }) => [...values, count])).toEqual([
      ['0.0.0.1', null, 6],
      ['0.0.0.2', null, 3],
      [null, null, 1],
      ['0.0.0.3', null, 1],
    ])
    expect(totals.other).toBe(2)
  })

  it.each(['into an empty total', 'into another part'])('adds the sums of groups %s', (kind) => {
    const totals = new GroupTotals({ ...countPlan({ by: 'user,reason' }), summed: 0 })
    const summed = (values: string[], ...sums: number[]) => ({
      ...part(values, [0, 1], [1, 1]),
      sums: Float64Array.from(sums),
    })
    if (kind === 'into another part') totals.add(summed(['b', 'a'], 5, 10, 20))
    totals.add(summed(['a', 'c'], 1, 3, 4))
    expect([...(totals.sums ?? [])]).toEqual(kind === 'into another part' ? [10, 23, 4] : [3, 4])
    expect(totals.sum).toBe(kind === 'into another part' ? 43 : 8)
  })

  it.each([
    ['no sums', null],
    ['what is not a number, in a group', Float64Array.of(0, 1, Number.NaN)],
    ['what is not a number, in other groups', Float64Array.of(Number.NaN, 1, 1)],
  ])('has no sums if a part has %s', (_, sums) => {
    for (const first of [sums, Float64Array.of(0, 1, 1)]) {
      const totals = new GroupTotals({ ...countPlan({ by: 'user,reason' }), summed: 0 })
      for (const each of [first, sums]) totals.add({ ...part(['a', 'b'], [0, 1], [1, 1]), sums: each })
      expect([totals.sum, totals.sums]).toEqual([null, null])
    }
  })

  it('is one group if different bytes that are not UTF-8 become one text', () => {
    const totals = new GroupTotals(countPlan({ by: 'user,reason' }))
    totals.add(part(['\ufffd', 'a', '\ufffd'], [0, 1, 2], [5, 3, 2]))
    expect([...totals.groups()].map(({ values, count }) => [...values, count])).toEqual([
      ['\ufffd', null, 7],
      ['a', null, 3],
    ])
  })
})
