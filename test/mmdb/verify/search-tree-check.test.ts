import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { damagedFile, InvalidDatabaseError } from '../../../src/errors.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { checkSearchTree, FaultList } from '../../../src/mmdb/verify.ts'
import { type Child, encode, handMadeTree, type Node } from '../hand-made.ts'

const DATA = Buffer.concat([encode('x'), encode('y')])
const X: Child = { data: 0 }
const Y: Child = { data: 2 }

function checked(nodes: readonly Node[], ipVersion = 4): { faults: string[]; records: number[] } {
  const database = new Database(handMadeTree(nodes, DATA, { ip_version: ipVersion }))
  const faults = new FaultList()
  const marks = checkSearchTree(database.tree, database.data, faults)
  return {
    faults: faults.faults.map(({ message }) => message),
    records: [...marks.keys()].filter((at) => marks[at] !== 0),
  }
}

/** Bits of the longest path from a node; infinite in a cycle. */
function longest(
  nodes: readonly Node[],
  node = 0,
  known = new Map<number, number>(),
  above = new Set<number>(),
): number {
  if (above.has(node)) return Number.POSITIVE_INFINITY
  const before = known.get(node)
  if (before !== undefined) return before
  above.add(node)
  const bits = (nodes[node] ?? []).map((child) =>
    typeof child === 'number' ? 1 + longest(nodes, child, known, above) : 1,
  )
  above.delete(node)
  known.set(node, Math.max(...bits))
  return Math.max(...bits)
}

function reached(nodes: readonly Node[]): Set<number> {
  const found = new Set([0])
  for (const node of found) {
    for (const child of nodes[node] ?? []) if (typeof child === 'number') found.add(child)
  }
  return found
}

/** A chain of nodes, each leading to the next by one of its records, and what the others lead to. */
function chain(length: number, other: Child, bit = 0): Node[] {
  return Array.from({ length }, (_, node): Node => {
    const next = node + 1 < length ? node + 1 : X
    return bit === 0 ? [next, other] : [other, next]
  })
}

const TOO_DEEP = 'the search tree has paths of more than 32 bits, the length of an address'

describe('checkSearchTree', () => {
  it.each([
    [32, 4, []],
    [33, 4, [TOO_DEEP]],
    [128, 6, []],
    [129, 6, [TOO_DEEP.replace('32', '128')]],
    [10_000, 4, [TOO_DEEP]],
  ])('checks a chain of %i nodes, IPv%i', (length, ipVersion, faults) => {
    for (const bit of [0, 1]) {
      for (const other of [null, Y])
        expect(checked(chain(length, other, bit), ipVersion).faults).toEqual(faults)
    }
  })

  it('finds no fault in a tree without nodes', () => {
    expect(checked([])).toEqual({ faults: [], records: [] })
  })

  it('agrees with a walk along every path', () => {
    const random = fc.integer({ min: 1, max: 60 }).chain((length) => {
      const near = (node: number): fc.Arbitrary<Child> =>
        node + 1 < length
          ? fc.integer({ min: node + 1, max: Math.min(node + 3, length - 1) })
          : fc.constant(X)
      const leaf = fc.constantFrom<Child>(X, Y, null)
      const back = fc.nat(length - 1)
      const child = (node: number, backs: number): fc.Arbitrary<Child> =>
        fc.oneof(
          { weight: 85, arbitrary: near(node) },
          { weight: 15, arbitrary: leaf },
          { weight: backs, arbitrary: back },
        )
      return fc
        .constantFrom(0, 0, 1)
        .chain((backs) =>
          fc.tuple(...Array.from({ length }, (_, node) => fc.tuple(child(node, backs), child(node, backs)))),
        )
    })
    let [deep, all] = [0, 0]
    fc.assert(
      fc.property(random, (tree) => {
        all++
        const isTooDeep = longest(tree) > 32
        if (isTooDeep) deep++
        const found = reached(tree)
        const left = tree.length - found.size
        const { faults, records } = checked(tree)
        expect(faults).toEqual(
          isTooDeep
            ? [TOO_DEEP]
            : left > 0
              ? [`no path leads to ${left} of ${tree.length} nodes of the search tree`]
              : [],
        )
        if (isTooDeep) return
        const names = new Set([...found].flatMap((node) => tree[node] ?? []))
        expect(records).toEqual([names.has(X) ? [0] : [], names.has(Y) ? [2] : []].flat())
      }),
      { numRuns: 2000 },
    )
    expect(deep / all).toBeGreaterThan(0.05)
    expect(deep / all).toBeLessThan(0.95)
  })
})

describe('a list of faults', () => {
  it('lists the same fault at the same offset once', () => {
    const list = new FaultList()
    list.add('bent', 7)
    list.add('bent', 7)
    list.add('bent', 8)
    list.add('torn', 7)
    list.add('torn')
    list.add('torn')
    expect(list.faults).toEqual([
      { message: 'bent', offset: 7 },
      { message: 'bent', offset: 8 },
      { message: 'torn', offset: 7 },
      { message: 'torn', offset: null },
    ])
    expect(list.count).toBe(4)
  })

  it('keeps a hundred, and counts the rest', () => {
    const list = new FaultList()
    for (let offset = 0; offset < 250; offset++) list.add('bent', offset)
    expect(list.faults.map(({ offset }) => offset)).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect(list.count).toBe(250)
  })

  it('adds the fault of an InvalidDatabaseError, without the advice', () => {
    const list = new FaultList()
    const attempts = [
      () => {},
      () => {
        throw damagedFile('bent', { offset: 7, path: '/x.mmdb' })
      },
      () => {
        throw damagedFile('torn')
      },
      () => {
        throw damagedFile('at the start', { offset: 0 })
      },
      () => {
        throw new InvalidDatabaseError('it is empty')
      },
    ]
    expect(attempts.map((each) => list.attempt(each))).toEqual([true, false, false, false, false])
    expect(list.faults).toEqual([
      { message: 'bent', offset: 7 },
      { message: 'torn', offset: null },
      { message: 'at the start', offset: 0 },
      { message: 'it is empty', offset: null },
    ])
  })

  it('lets other errors through', () => {
    const error = new RangeError('of the code itself')
    const list = new FaultList()
    expect(() =>
      list.attempt(() => {
        throw error
      }),
    ).toThrow(error)
    expect(list.faults).toEqual([])
  })
})
