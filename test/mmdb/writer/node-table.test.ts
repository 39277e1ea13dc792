import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../../scripts/bench/addresses.ts'
import { EMPTY, type Link, linkToValue, NodeTable } from '../../../src/mmdb/writer/node-table.ts'

describe('NodeTable', () => {
  it('stores every pair of links once, in a table of any size', () => {
    const table = new NodeTable()
    const known = new Map<string, Link>()
    const random = seeded(3)
    const link = (): Link => Math.floor(random() * 140) - 70
    for (let i = 0; i < 20_000; i++) {
      const [left, right] = [link(), link()]
      const node = table.node(left, right)
      if (left === right && left <= 0) {
        expect(node).toBe(left)
        continue
      }
      const before = known.get(`${left} ${right}`)
      if (before !== undefined) expect(node).toBe(before)
      else {
        known.set(`${left} ${right}`, node)
        expect(node).toBe(known.size)
      }
    }
    expect(known.size).toBeGreaterThan(10_000)
    expect(table.end).toBe(known.size + 1)
    for (const [pair, node] of known) expect(`${table.left(node)} ${table.right(node)}`).toBe(pair)
  })

  it('finds the last link that was set for a network or around it', () => {
    const network = fc
      .tuple(fc.nat(255), fc.integer({ min: 1, max: 8 }))
      .map(([first, length]) => ({ word: ((first >>> (8 - length)) << (32 - length)) >>> 0, length }))
    fc.assert(
      fc.property(fc.array(network, { maxLength: 12 }), (networks) => {
        const table = new NodeTable()
        let root: Link = EMPTY
        const expected = new Array<Link>(256).fill(EMPTY)
        for (const [index, { word, length }] of networks.entries()) {
          const before = root
          const was = table.find(before, Uint32Array.of(word), length)
          root = table.replace(root, Uint32Array.of(word), length, linkToValue(index))
          // The earlier tree has not changed.
          expect(table.find(before, Uint32Array.of(word), length)).toBe(was)
          expected.fill(linkToValue(index), word >>> 24, (word >>> 24) + 2 ** (8 - length))
        }
        for (const [first, link] of expected.entries()) {
          expect(table.find(root, Uint32Array.of(first * 2 ** 24), 8)).toBe(link)
        }
      }),
    )
  })
})
