// SearchTree is the oracle: PrefixIndex must return the same results and errors, at the first lookup and later.
import { describe, expect, it, vi } from 'vitest'
import { seeded } from '../../../scripts/bench/addresses.ts'
import { formatIPv4, formatIPv6 } from '../../../src/address/ip-text.ts'
import { InvalidDatabaseError } from '../../../src/errors.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { PrefixIndex } from '../../../src/mmdb/search-tree.ts'
import { MmdbWriter } from '../../../src/writer.ts'
import { effort } from '../../effort.ts'
import { lazily } from '../../lazily.ts'
import { lastOf } from '../every-network.ts'
import { bytesOf, type Child, encode, handMade, handMadeTree, type Node } from '../hand-made.ts'
import { offsetAt } from '../questions.ts'

const RECORD = encode(new Map([['a', 1]]))

/** A block of addresses: one word for IPv4, four for IPv6. */
interface Block {
  readonly words: Uint32Array
  readonly prefixLength: number
}

function blockOf(words: Uint32Array, prefixLength: number): Block {
  const last = lastOf(new Uint32Array(words.length), prefixLength)
  return { words: words.map((word, index) => word & ~(last[index] ?? 0)), prefixLength }
}

const textOf = (words: Uint32Array): string =>
  words.length === 1 ? formatIPv4(words[0] ?? 0) : formatIPv6(words)

const cidrOf = ({ words, prefixLength }: Block): string => `${textOf(words)}/${prefixLength}`

/** The address after (1) or before (-1) another, modulo the address space. */
function beside(words: Uint32Array, step: 1 | -1): Uint32Array {
  const result = words.slice()
  for (let index = result.length - 1; index >= 0; index--) {
    const word = result[index] ?? 0
    result[index] = word + step
    if (word !== (step === 1 ? 0xffffffff : 0)) break
  }
  return result
}

/** Both ends of a block, inside and outside. */
function ends({ words, prefixLength }: Block): Uint32Array[] {
  const last = lastOf(words, prefixLength)
  return [words, last, beside(words, -1), beside(last, 1)]
}

/** A result as text, so that errors can be compared too. */
function outcome(find: () => number): string {
  try {
    return `record at ${find()}`
  } catch (error) {
    if (!(error instanceof InvalidDatabaseError)) throw error
    return error.message
  }
}

const walked = (database: Database, address: Uint32Array): string =>
  outcome(() => offsetAt(database, address.length === 1 ? (address[0] ?? 0) : address))

const indexed = (index: PrefixIndex, address: Uint32Array): string =>
  outcome(() => (address.length === 1 ? index.findIPv4(address[0] ?? 0) : index.findIPv6(address)))

/** Looks addresses up in a new index, in the given order and then in reverse. */
function compare(database: Database, questions: readonly Uint32Array[]): void {
  const index = new PrefixIndex(database.tree, (offset) => offset)
  for (const address of [...questions, ...[...questions].reverse()]) {
    const found = indexed(index, address)
    const expected = walked(database, address)
    if (found !== expected) expect([textOf(address), found]).toEqual([textOf(address), expected])
  }
}

/** Addresses at both ends of all blocks of a table: 1 to 20 bits, and blocks of 1024 entries. */
function aroundEntries(address: Uint32Array): Uint32Array[] {
  return [1, 2, 3, 4, 5, 7, 9, 10, 11, 13, 17, 20, 23].flatMap((bits) => ends(blockOf(address, bits)))
}

/** The items in another order. */
function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

/** A chain of nodes, each with both records leading to the next, the last to the data record. */
function line(nodes: number, ipVersion: 4 | 6): Uint8Array {
  const child = (node: number): Child => (node + 1 < nodes ? node + 1 : { data: 0 })
  const tree = Array.from({ length: nodes }, (_, node): Node => [child(node), child(node)])
  return handMadeTree(tree, RECORD, { ip_version: ipVersion })
}

describe('PrefixIndex', () => {
  it.each<[string, Uint8Array]>([
    ['no nodes, IPv4', handMade(RECORD, { node_count: 0 }, new Uint8Array())],
    ['no nodes, IPv6', handMade(RECORD, { node_count: 0, ip_version: 6 }, new Uint8Array())],
    ['one node, IPv4', handMade(RECORD)],
    ['an IPv4 root that is a record', handMade(RECORD, { ip_version: 6 })],
    ['an IPv4 root that is none', handMade(RECORD, { ip_version: 6 }, bytesOf('000001 000011'))],
    ['a root that leads to itself, IPv4', handMade(RECORD, {}, bytesOf('000000 000000'))],
    ['a root that leads to itself, IPv6', handMade(RECORD, { ip_version: 6 }, bytesOf('000000 000000'))],
    ['an IPv4 root that is damage', handMade(RECORD, { ip_version: 6 }, bytesOf('000002 000000'))],
    ['a record', handMade(RECORD, { ip_version: 6, node_count: 2 }, bytesOf('000001 000002 000012 000002'))],
    ['damage', handMade(RECORD, { ip_version: 6, node_count: 2 }, bytesOf('000001 ffffff 000003 ffffff'))],
    ['a record below more bits than an address of IPv4 has', line(33, 4)],
    ['a record below as many bits as an address of IPv6 has', line(128, 6)],
    ['a record below more', line(129, 6)],
    ['a loop of two nodes', handMade(RECORD, { node_count: 2 }, bytesOf('000001 000001 000000 000000'))],
    ['a record beyond 2 GiB', handMade(RECORD, { record_size: 32 }, bytesOf('fffffff0 00000011'))],
  ])('agrees with the walk for %s', (_, bytes) => {
    const addresses = [0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff].map((each) =>
      Uint32Array.of(each),
    )
    for (const first of [
      0, 0x1fffffff, 0x20000000, 0x2fffffff, 0x30000000, 0x3fffffff, 0x40000000, 0xffffffff,
    ]) {
      addresses.push(Uint32Array.of(first, 0, 0, 0), Uint32Array.of(first, -1, -1, -1))
    }
    compare(new Database(bytes), addresses)
  })

  it('gives another result for each record, asked once for an entry, until it is emptied', () => {
    const writer = new MmdbWriter({ databaseType: 'Test', ipVersion: 4 })
    const database = new Database(writer.insert('16.0.0.0/4', 1).insert('32.0.0.1/32', 2).toBytes())
    let factor = 10
    const asked: number[] = []
    const index = new PrefixIndex(database.tree, (offset) => {
      asked.push(offset)
      return offset * factor
    })
    const [first, deep] = [offsetAt(database, 0x10000000), offsetAt(database, 0x20000001)]
    const find = () =>
      [0x10000001, 0x10000001, 0x20000001, 0x20000001, 0x40000000].map((ip) => index.findIPv4(ip))
    const results = () => [first, first, deep, deep, 0].map((offset) => offset * factor)
    expect(find()).toEqual(results())
    expect(asked).toEqual([first, deep, deep])
    factor = 3
    expect(find().slice(0, 2)).toEqual([first * 10, first * 10])
    index.clear()
    expect(find()).toEqual(results())
  })

  it('empties its table of IPv6', () => {
    const writer = new MmdbWriter({ databaseType: 'Test', ipVersion: 6 })
    const database = new Database(writer.insert('2000::/4', 1).toBytes())
    let factor = 10
    const index = new PrefixIndex(database.tree, (offset) => offset * factor)
    const find = () => index.findIPv6(Uint32Array.of(0x20000001, 0, 0, 0))
    const first = find()
    factor = 30
    expect(find()).toBe(first)
    index.clear()
    expect(find()).toBe(3 * first)
  })
})

describe.each([4, 6] as const)('PrefixIndex of an IPv%i tree with many nodes', (ipVersion) => {
  const random = seeded(7 + ipVersion)
  const anyWord = (): number => Math.floor(random() * 2 ** 32)
  const anyAddress = (): Uint32Array =>
    ipVersion === 4
      ? Uint32Array.of(anyWord())
      : Uint32Array.of(0x20000000 + (anyWord() >>> 3), anyWord(), anyWord(), anyWord())
  // Few large blocks, many small ones in three quarters of the space: the rest stays one network of many entries.
  const large = Array.from({ length: 30 }, () => blockOf(anyAddress(), 2 + Math.floor(random() * 8)))
  const small = Array.from({ length: effort({ short: 4000, long: 40_000 }) }, () => {
    const address = anyAddress()
    address[0] = (address[0] ?? 0) & ~(ipVersion === 4 ? 0x40000000 : 0x08000000)
    return blockOf(address, ipVersion === 4 ? 20 + Math.floor(random() * 13) : 24 + Math.floor(random() * 12))
  })
  const sample = lazily(() => {
    const writer = new MmdbWriter({ databaseType: 'Test', ipVersion, recordSize: 28 })
    for (const [index, block] of [...large, ...small].entries()) writer.insert(cidrOf(block), index)
    return { writer, database: new Database(writer.toBytes()) }
  })

  it('agrees with the walk', () => {
    const { database } = sample()
    expect(database.metadata.nodeCount).toBeGreaterThan(effort({ short: 20_000, long: 200_000 }))
    const questions = large.flatMap((block) => [...ends(block), ...aroundEntries(block.words)])
    for (const [index, block] of small.entries()) {
      questions.push(...ends(block))
      if (index % 20 === 0) questions.push(...aroundEntries(block.words))
    }
    for (let i = 0, count = effort({ short: 6000, long: 60_000 }); i < count; i++)
      questions.push(anyAddress())
    compare(database, shuffled(questions, random))
  })

  it('fills a limited part of its table at once, and walks there only once', () => {
    // One network covers half of the table.
    const half = ipVersion === 4 ? '0.0.0.0/1' : '2000::/4'
    const { tree, metadata } = new Database(sample().writer.remove(half).insert(half, 'half').toBytes())
    const bits = Math.floor(Math.log2(metadata.nodeCount + 1))
    expect(2 ** (bits - 1)).toBeGreaterThan(4 * 1024)
    const index = new PrefixIndex(tree, (offset) => offset)
    const child = vi.spyOn(tree, 'child')
    /** Reads of the tree in one lookup, by index in the table and any bits after it. */
    const reads = (entry: number): number => {
      const first = entry * 2 ** ((ipVersion === 4 ? 32 : 29) - bits) + 1
      child.mockClear()
      if (ipVersion === 4) index.findIPv4(first)
      else index.findIPv6(Uint32Array.of(0x20000000 + first, 1, 2, 3))
      return child.mock.calls.length
    }
    expect(reads(1500)).toBeGreaterThan(0)
    expect([1500, 1280, 1535].map(reads)).toEqual([0, 0, 0])
    expect([1279, 1536].map((entry) => reads(entry) > 0)).toEqual([true, true])
    expect([1024, 1791].map(reads)).toEqual([0, 0])
  })
})
