import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../../scripts/bench/addresses.ts'
import { EMPTY, type Link, linkToValue, NodeTable, treePathOf } from '../../../src/mmdb/writer/node-table.ts'

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

describe('treePathOf', () => {
  it.each<[network: string, six: [number[], number], four: [number[], number] | null]>([
    ['1.2.3.0/24', [[0, 0, 0, 0x01020300], 120], [[0x01020300], 24]],
    ['0.0.0.0/0', [[0, 0, 0, 0], 96], [[0], 0]],
    ['::ffff:1.2.3.0/120', [[0, 0, 0, 0x01020300], 120], [[0x01020300], 24]],
    // All mapped addresses are all of IPv4; a larger network is IPv6.
    ['::ffff:0:0/96', [[0, 0, 0, 0], 96], [[0], 0]],
    ['::fffe:0:0/95', [[0, 0, 0xfffe, 0], 95], null],
    ['::/0', [[0, 0, 0, 0], 0], null],
    ['1::ffff:0:0/96', [[0x10000, 0, 0xffff, 0], 96], null],
    ['0:0:1::ffff:0:0/96', [[0, 0x10000, 0xffff, 0], 96], null],
    ['::1:ffff:0:0/96', [[0, 0, 0x1ffff, 0], 96], null],
    ['2001:db8::/32', [[0x20010db8, 0, 0, 0], 32], null],
  ])('%s', (network, six, four) => {
    const place = (ipVersion: 4 | 6): [number[], number] => {
      const { words, prefixLength } = treePathOf(network, ipVersion)
      return [[...words], prefixLength]
    }
    expect(place(6)).toEqual(six)
    if (four !== null) expect(place(4)).toEqual(four)
    else {
      expect(() => place(4)).toThrow(
        new TypeError(`${network} is an IPv6 network, but the database has ipVersion 4`),
      )
    }
  })
})
