// The index answers as the search tree of the original file, whatever was asked before.
import { describe, expect, it } from 'vitest'
import { seeded } from '../../scripts/bench/addresses.ts'
import { PORTABLE_CODEC } from '../../src/bytes/gunzip.ts'
import { Database } from '../../src/mmdb/database.ts'
import { BlockFile, sourceOf } from '../../src/packed/block-file.ts'
import { PackedContents } from '../../src/packed/contents.ts'
import { pack } from '../../src/packed/pack.ts'
import { PackedIndex } from '../../src/packed/packed-index.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { offsetAt } from '../mmdb/questions.ts'
import { openPacked, partsOf } from './parts.ts'

/** Networks of 16 or 4,096 addresses. */
function manyNetworks(ipVersion: 4 | 6): Uint8Array {
  const random = seeded(7)
  const writer = new MmdbWriter({ databaseType: 'Test', ipVersion })
  for (let start = 0; start < 2 ** 18; ) {
    const size = 2 ** (random() < 0.998 ? 4 : 12)
    start = Math.ceil(start / size) * size
    const [second, third, fourth] = [(start >>> 16) & 255, (start >>> 8) & 255, start & 255]
    if (random() < 0.8) {
      writer.insert(`1.${second}.${third}.${fourth}/${32 - Math.log2(size)}`, Math.floor(random() * 300))
    }
    start += size
  }
  if (ipVersion === 6) writer.insert('2001:db8::/32', 'IPv6')
  return writer.toBytes()
}

const BEFORE = 0x00ff_fff0
const AFTER = 0x0104_0010

describe.each([4, 6] as const)('the index of an IPv%i database', (ipVersion) => {
  const plain = manyNetworks(ipVersion)
  const database = new Database(plain)
  const packed = pack(plain)
  const random = seeded(3)
  const ascending = Array.from({ length: 16_000 }, (_, i) => BEFORE + 17 * i).filter((ip) => ip < AFTER)
  const shuffled = ascending.map((ip) => ({ ip, key: random() })).sort((a, b) => a.key - b.key)
  const orders = {
    ascending,
    descending: ascending.toReversed(),
    shuffled: shuffled.map(({ ip }) => ip),
    spread: ascending.map((_, i) => Math.imul(i, 0x9e3779b1) >>> 0),
  }

  it('has blocks that start inside an entry', () => {
    const [ipv4] = partsOf(packed).families
    expect(ipv4?.starts.filter((start) => start % 2 ** 12 > 0).length).toBeGreaterThan(1)
  })

  it.each(['ascending', 'descending', 'shuffled', 'spread'] as const)('finds %s addresses', (order) => {
    // All blocks, the last one, or the last two.
    for (const limit of [undefined, 0, 100_000]) {
      const file = new BlockFile(sourceOf(packed), PORTABLE_CODEC)
      const contents = new PackedContents(file, limit)
      const index = new PackedIndex(file, contents, (offset) => offset)
      // If few blocks are kept, each change of the block decodes one.
      const addresses = orders[order].filter((_, i) => limit === undefined || i % 100 === 0)
      for (const address of addresses) {
        const expected = offsetAt(database, address)
        if (index.findIPv4(address) !== expected)
          expect([address, index.findIPv4(address)]).toEqual([address, expected])
      }
    }
  })

  it('asks once for the result of a record, and again after it is cleared', () => {
    const asked: number[] = []
    let result = 1
    const index = openPacked(packed).index((offset) => {
      asked.push(offset)
      return result
    })
    const results = () => new Set(ascending.map((address) => index.findIPv4(address)))
    const records = new Set(
      ascending.map((address) => offsetAt(database, address)).filter((offset) => offset > 0),
    )
    expect(results()).toEqual(new Set([0, 1]))
    expect(results()).toEqual(new Set([0, 1]))
    expect(asked.toSorted((a, b) => a - b)).toEqual([...records].sort((a, b) => a - b))
    result = 2
    expect(results()).toEqual(new Set([0, 1]))
    index.clear()
    expect(results()).toEqual(new Set([0, 2]))
    expect(asked).toHaveLength(2 * records.size)
  })
})

it('asks once for the result of a record of IPv6 networks', () => {
  const asked: number[] = []
  const index = openPacked(pack(manyNetworks(6))).index((offset) => asked.push(offset))
  for (const last of [1, 2, 3]) expect(index.findIPv6(Uint32Array.of(0x2001_0db8, 0, 0, last))).toBe(1)
  expect(index.findIPv6(Uint32Array.of(0x2001_0db9, 0, 0, 0))).toBe(0)
  expect(asked).toHaveLength(1)
})
