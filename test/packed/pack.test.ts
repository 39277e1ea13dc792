import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/bench/addresses.ts'
import { InvalidDatabaseError } from '../../src/errors.ts'
import { Database } from '../../src/mmdb/database.ts'
import { countNetworks } from '../../src/mmdb/networks.ts'
import { verify } from '../../src/mmdb/verify.ts'
import { openDatabase } from '../../src/node/open-files.ts'
import { pack, unpack } from '../../src/packed/pack.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { effort, sampled } from '../effort.ts'
import { writtenDatabases } from '../fuzz/targets/writer.ts'
import { type Child, encode, handMade, handMadeTree, type Node } from '../mmdb/hand-made.ts'
import { offsetAt } from '../mmdb/questions.ts'
import { OWN_BAD_DATABASES, OWN_DATABASES, OWN_ODD_DATABASES } from '../own-databases.ts'
import { hasShared, SHARED, sharedBytes } from '../shared.ts'
import { expectSameAnswers } from './same-answers.ts'

const fixtures = hasShared
  ? ['mmdb', 'mmdb-bad'].flatMap((folder) =>
      readdirSync(`${SHARED}fixtures/${folder}`).map((name) => `${folder}/${name}`),
    )
  : []

/** The value at the start of the data section. */
const X: Child = { data: 0 }

function opened(bytes: Uint8Array): Database | null {
  try {
    return new Database(bytes)
  } catch {
    return null
  }
}

/** Packs, and compares everything that the packed file and the unpacked one say with the original. */
function expectLossless(bytes: Uint8Array): void {
  const packed = pack(bytes)
  expect(pack(bytes)).toEqual(packed)
  const original = new Database(bytes)
  const database = openDatabase(packed)
  expectSameAnswers(bytes, database)
  const unpacked = unpack(packed)
  expectSameAnswers(bytes, new Database(unpacked))
  const { metadata } = original
  expect(database.metadata).toEqual(metadata)
  expect(new Database(unpacked).metadata).toEqual(metadata)
  expect(unpacked.subarray(metadata.start)).toEqual(bytes.subarray(metadata.start))
  expect(verify(database)).toEqual(verify(original))
  // In the packed file, a value of the tree that is not a record does not end the sample.
  if (verify(original).faults.some(({ message }) => message.includes('which is not a record'))) return
  const records = [...database.firstRecords(1000)]
  expect(records).toEqual([...original.firstRecords(1000)].sort((a, b) => a - b))
  expect([...database.firstRecords(3)]).toEqual(records.slice(0, 3))
}

/** @param hasLoop whether the search tree has a loop: such files open, and are the only ones that cannot be packed then */
function expectKept(bytes: Uint8Array, hasLoop: boolean): void {
  if (opened(bytes) === null) expect(() => pack(bytes)).toThrow(InvalidDatabaseError)
  else if (hasLoop) expect(() => pack(bytes)).toThrow('the search tree has paths of more than')
  else expectLossless(bytes)
}

describe('packing', () => {
  const own = { ...OWN_DATABASES, ...OWN_BAD_DATABASES, ...OWN_ODD_DATABASES }
  it.each(Object.entries(own))('keeps all of %s that opens', (name, make) => {
    expectKept(make(), name === 'a tree that leads to itself')
  })

  it.skipIf(!hasShared).each(sampled(fixtures, 12))('keeps all of %s that opens', (name) => {
    expectKept(sharedBytes(`fixtures/${name}`), name.includes('broken-search-tree'))
  })
})

describe('packing', () => {
  it('keeps unused nodes, unless they are much more than the rest of the file', () => {
    const withUnused = (count: number): Uint8Array =>
      handMadeTree([[X, null], ...new Array<Node>(count).fill([0, 0])], encode('all'))
    expectLossless(withUnused(10_000))
    expect(() => pack(withUnused(100_000))).toThrow('it has too many nodes that no path leads to')
  })

  it('keeps databases of any records, networks, record sizes and families', () => {
    fc.assert(fc.property(writtenDatabases, expectLossless), { numRuns: effort({ short: 15, long: 400 }) })
  })

  it.each([255, 256, 257, 5000])('keeps networks that use each of %i values in turn', (count) => {
    const writer = new MmdbWriter({ databaseType: 'Test', ipVersion: 4 })
    for (let i = 0; i < 2 * count; i++) writer.insert(`1.${i >>> 8}.${i & 255}.0/24`, i % count)
    expectLossless(writer.toBytes())
  })

  it('keeps networks of more sizes than the table of lengths has rows', () => {
    const random = seeded(5)
    for (const ipVersion of [4, 6] as const) {
      const writer = new MmdbWriter({ databaseType: 'Test', ipVersion })
      // Neighbours with one value are one run of any length.
      for (let i = 0, value = 0; i < 5000; i++) {
        if (random() < 0.02) value++
        writer.insert(ipVersion === 4 ? `1.${i >>> 8}.${i & 255}.0/24` : `2001:${i.toString(16)}::/32`, value)
      }
      expectLossless(writer.toBytes())
    }
  })

  it('keeps a record that is not in the data section, as a fault', () => {
    const bytes = handMade(encode('x'), {}, Uint8Array.of(0, 0, 17, 0x7f, 0xff, 0xff))
    expectLossless(bytes)
    for (const database of [new Database(bytes), openDatabase(pack(bytes))]) {
      const count = () => (database instanceof Database ? countNetworks(database) : database.countNetworks())
      expect(count).toThrow(InvalidDatabaseError)
      expect(database.record(offsetAt(database, 0))).toBe('x')
      expect(() => offsetAt(database, 2 ** 31)).toThrow('which is not a record')
    }
  })

  it('keeps an empty database, and one without nodes', () => {
    expectLossless(new MmdbWriter({ databaseType: 'Test' }).toBytes())
    expectLossless(handMade(encode('x'), { node_count: 0 }, new Uint8Array()))
    expectLossless(handMade(encode('x')))
  })

  it('refuses a tree with more networks than memory could hold', () => {
    // Each node has the next one on both sides: 2 ** 32 networks.
    const nodes = Array.from({ length: 31 }, (_, node): Node => [node + 1, node + 1])
    const bytes = handMadeTree([...nodes, [X, null]], encode('x'))
    expect(() => pack(bytes)).toThrow('its search tree repeats subtrees too often to be packed')
  })

  it('keeps subtrees that several paths lead to', () => {
    // Nodes 0 to 6 choose one of eight parents, 7 to 14. On its left, each has node 15, with 128 networks.
    const choices = Array.from({ length: 7 }, (_, node): Node => [2 * node + 1, 2 * node + 2])
    const parents = Array.from({ length: 8 }, (_, data): Node => [15, { data }])
    const chain = Array.from({ length: 6 }, (_, i): Node => [16 + i, 16 + i])
    expectLossless(handMadeTree([...choices, ...parents, ...chain, [X, null]], new Uint8Array(8).fill(0xa0)))
  })

  it('keeps trees that join only some of their equal subtrees', () => {
    for (let seed = 0; seed < effort({ short: 8, long: 300 }); seed++) {
      const random = seeded(seed)
      const nodes: Node[] = []
      const node = (left: Child, right: Child): number => nodes.push([left, right]) - 1
      const known = new Map<string, number>()
      const subtree = (depth: number): readonly [link: Child, shape: string] => {
        if (depth === 0) return random() < 0.5 ? [null, 'n'] : [X, 'x']
        const [left, leftShape] = subtree(depth - 1)
        const [right, rightShape] = subtree(depth - 1)
        const shape = `(${leftShape}${rightShape})`
        const made = known.get(shape)
        if (made !== undefined && random() < 0.7) return [made, shape]
        const link = node(left, right)
        known.set(shape, link)
        return [link, shape]
      }
      const ipVersion = seed % 2 === 0 ? 4 : 6
      let [root] = subtree(6)
      if (ipVersion === 6) {
        // ::/96 is the tree, ::ffff:0:0/96 leads to its node, and other networks share nodes.
        let alias = root
        for (let depth = 96; depth > 81; depth--) alias = node(null, alias)
        for (let depth = 95; depth >= 0; depth--)
          root = node(root, depth === 80 ? alias : depth < 4 ? subtree(4)[0] : null)
      }
      // A subtree that was made can be replaced by one that is known: number those that are used.
      const used = new Map([[root, 0]])
      const childrenOf = (link: Child): readonly Child[] =>
        typeof link === 'number' ? (nodes[link] ?? []) : []
      for (const [link] of used)
        for (const child of childrenOf(link))
          if (typeof child === 'number' && !used.has(child)) used.set(child, used.size)
      const numbered = (link: Child = null): Child => used.get(link) ?? link
      const tree = Array.from(used.keys(), (link): Node => {
        const [left, right] = childrenOf(link)
        return [numbered(left), numbered(right)]
      })
      const bytes = handMadeTree(tree, encode('x'), { ip_version: ipVersion })
      expect(verify(new Database(bytes)).faults).toEqual([])
      expectLossless(bytes)
      expect(countNetworks(new Database(unpack(pack(bytes))))).toBe(countNetworks(new Database(bytes)))
    }
  })

  it('keeps the data section where it is not a sequence of values', () => {
    for (const junk of [Uint8Array.of(0, 200, 1), new Uint8Array(140_000).fill(0xff)]) {
      expectLossless(handMade(Buffer.concat([encode('x'), junk])))
    }
    // A value that is larger than two blocks.
    expectLossless(
      new MmdbWriter({ databaseType: 'Test' })
        .insert('1.0.0.0/8', { text: 'é'.repeat(100_000), more: ['x'.repeat(70_000), 'y'] })
        .toBytes(),
    )
  })

  it('refuses what is packed already, and what is not a database', () => {
    const packed = pack(new MmdbWriter({ databaseType: 'Test' }).toBytes())
    expect(() => pack(packed)).toThrow('it is packed already')
    expect(() => pack(new Uint8Array(10))).toThrow(InvalidDatabaseError)
    expect(() => pack(Buffer.from('Invalid license key'))).toThrow('begins with "Invalid license key"')
    expect(() => unpack(new Uint8Array(10))).toThrow('it is not a packed database')
  })
})
