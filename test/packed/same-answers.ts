import { expect } from 'vitest'
import { Database, type OpenDatabase } from '../../src/mmdb/database.ts'
import { lastOf, visitNetworks } from '../mmdb/every-network.ts'
import { offsetAt } from '../mmdb/questions.ts'

/** What a search gives: the offset of the record and the prefix length, or the fault. */
type Found = readonly [offset: number, prefixLength: number] | string

function found(database: OpenDatabase, words: Uint32Array, isIPv4: boolean): Found {
  try {
    const offset = offsetAt(database, isIPv4 ? (words[words.length - 1] ?? 0) : words)
    return [offset, database.ranges.prefixLength]
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Compares searches for the first and the last address of every network, and the records of all of them.
 *
 * @returns how many networks were compared
 */
export function expectSameAnswers(plain: Uint8Array, packed: OpenDatabase): number {
  const original = new Database(plain)
  const offsets = new Set<number>()
  let networks = 0
  const compare = (words: Uint32Array, isIPv4: boolean): void => {
    const expected = found(original, words, isIPv4)
    const actual = found(packed, words, isIPv4)
    // Faster than a matcher for each of millions of networks.
    const isSame =
      typeof expected === 'string'
        ? expected === actual
        : expected[0] === actual[0] && expected[1] === actual[1]
    if (!isSame) expect([...words, ...actual]).toEqual([...words, ...expected])
    if (typeof expected !== 'string' && expected[0] > 0) offsets.add(expected[0])
  }
  visitNetworks(original, (_, first, depth) => {
    networks++
    for (const words of [first.slice(), lastOf(first, depth)]) {
      const isIPv4 = words.length === 1 || words.subarray(0, 3).every((word) => word === 0)
      // Before the IPv4 address: the search before was for another one.
      if (words.length === 4) compare(words, false)
      if (isIPv4) compare(words.slice(-1), true)
    }
  })
  for (const offset of offsets) expect(recordAt(packed, offset)).toEqual(recordAt(original, offset))
  return networks
}

function recordAt(database: OpenDatabase, offset: number): unknown {
  try {
    return database.record(offset)
  } catch (error) {
    return error instanceof Error ? error.message : error
  }
}
