import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { Database } from '../../src/mmdb/database.ts'
import { countNetworks, firstRecords } from '../../src/mmdb/networks.ts'
import { NO_RECORD } from '../../src/mmdb/search-tree.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { writtenDatabases } from '../fuzz/targets/writer.ts'
import { OWN_DATABASES } from '../own-databases.ts'
import { bytesOf, encode, handMade, handMadeTree, type Node } from './hand-made.ts'

/** Counts the paths that end in a record one by one, except those below an alias of IPv4. */
function naiveCount({ tree, metadata }: Database): number {
  // ::ffff:0:0/96, 2001::/32 and 2002::/16, bit by bit.
  const aliases = ['0'.repeat(80) + '1'.repeat(16), `0010000000000001${'0'.repeat(16)}`, '0010000000000010']
  let count = 0
  const walk = (value: number, bits: string): void => {
    if (
      metadata.ipVersion === 6 &&
      aliases.includes(bits) &&
      value === tree.ipv4Root &&
      tree.walk(0, 0, 95) < metadata.nodeCount
    )
      return
    if (value < metadata.nodeCount) {
      walk(tree.child(value, 0), `${bits}0`)
      walk(tree.child(value, 1), `${bits}1`)
    } else if (tree.record(value) !== NO_RECORD) count++
  }
  walk(0, '')
  return count
}

describe('countNetworks', () => {
  it('counts as a naive walk does', () => {
    fc.assert(
      fc.property(writtenDatabases, (bytes) => {
        const database = new Database(bytes)
        expect(countNetworks(database)).toBe(naiveCount(database))
      }),
      { numRuns: 200 },
    )
  })

  it.each(Object.entries(OWN_DATABASES))('counts the networks of %s', (_, make) => {
    const database = new Database(make())
    expect(countNetworks(database)).toBe(naiveCount(database))
  })

  it.each([
    ['a node that leads to itself', '000000 000001', 1],
    ['two nodes that lead to each other', '000001 000002 000000 000002', 2],
  ])('refuses %s', (_, tree, nodes) => {
    const database = new Database(handMade(encode('x'), { node_count: nodes }, bytesOf(tree)))
    expect(() => countNetworks(database)).toThrow(InvalidDatabaseError)
    expect(() => countNetworks(database)).toThrow('the search tree has paths of more than 32 bits')
  })

  it('refuses a tree that leads outside the data section', () => {
    const database = new Database(handMade(encode('x'), {}, bytesOf('000011 0fffff')))
    expect(() => countNetworks(database)).toThrow('which is not a record')
  })

  it('counts 0 in a tree without nodes, and 1 in a tree with one record', () => {
    expect(countNetworks(new Database(handMade(encode('x'), { node_count: 0 }, new Uint8Array())))).toBe(0)
    expect(countNetworks(new Database(handMade(encode('x'))))).toBe(1)
  })

  it('counts shared subtrees without walking them again', () => {
    // 32 nodes, each leading to the next by both bits: 2^32 networks.
    const nodes = Array.from({ length: 31 }, (_, node): Node => [node + 1, node + 1])
    const database = new Database(handMadeTree([...nodes, [{ data: 0 }, { data: 0 }]], encode('x')))
    expect(countNetworks(database)).toBe(2 ** 32)
  })
})

describe('firstRecords', () => {
  it('returns distinct records in the order of networks, up to a limit', () => {
    const writer = new MmdbWriter({ databaseType: 'Test', ipVersion: 4 })
    for (const [octet, record] of [
      [9, 'c'],
      [1, 'a'],
      [5, 'b'],
      [7, 'a'],
    ] as const)
      writer.insert(`${octet}.0.0.0/8`, record)
    const database = new Database(writer.toBytes())
    const first = (limit: number): unknown[] =>
      [...firstRecords(database, limit)].map((offset) => database.record(offset))
    expect(first(10)).toEqual(['a', 'b', 'c'])
    expect(first(2)).toEqual(['a', 'b'])
    expect(first(0)).toEqual([])
  })

  it('ends in a cyclic tree, and in one without nodes', () => {
    const loop = new Database(handMade(encode('x'), {}, bytesOf('000000 000000')))
    expect([...firstRecords(loop, 10)]).toEqual([])
    expect([
      ...firstRecords(new Database(handMade(encode('x'), { node_count: 0 }, new Uint8Array())), 10),
    ]).toEqual([])
  })
})
