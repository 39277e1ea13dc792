import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Database } from '../../src/mmdb/database.ts'
import { NATIVE_CODEC } from '../../src/node/native-gunzip.ts'
import { expandFile } from '../../src/packed/expand.ts'
import { ALIAS } from '../../src/packed/format.ts'
import { pack } from '../../src/packed/pack.ts'
import { PackedFile, sourceOf } from '../../src/packed/packed-file.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { sampled } from '../effort.ts'
import { encode, handMade } from '../mmdb/hand-made.ts'
import { OWN_DATABASES } from '../own-databases.ts'
import { hasShared, SHARED, sharedBytes } from '../shared.ts'
import { packedOf, partsOf } from './parts.ts'

const fixtures = hasShared ? readdirSync(`${SHARED}fixtures/mmdb`) : []

function expanded(packed: Uint8Array): Database | null {
  const bytes = expandFile(
    new PackedFile(sourceOf(packed), NATIVE_CODEC),
    (length) => new Uint8Array(new SharedArrayBuffer(length)),
  )
  return bytes === null ? null : new Database(bytes)
}

/** Compares prefix lengths and records of an address, in a tree of either family. */
function answers(database: Database, words: Uint32Array): unknown[] {
  const { tree, metadata } = database
  return [4, 6].map((family) => {
    if (family === 6 && metadata.ipVersion === 4) return null
    const offset = family === 4 ? tree.findIPv4(words[3] ?? 0) : tree.findIPv6(words)
    return [tree.prefixLength, offset > 0 ? database.record(offset) : null]
  })
}

/** Addresses in IPv4, its aliases, and everywhere. */
function* addresses(count: number): Generator<Uint32Array> {
  for (let i = 1; i <= count; i++) {
    const [a, b] = [Math.imul(i, 0x9e3779b1) >>> 0, Math.imul(i, 0x85ebca6b) >>> 0]
    yield Uint32Array.of(0, 0, 0, a)
    yield Uint32Array.of(0, 0, 0xffff, a)
    yield Uint32Array.of(0x2002_0000 | (a >>> 16), a << 16, 0, b)
    yield Uint32Array.of(0x2001_0000 | (a & 0xffff), b, a, b)
    yield Uint32Array.of(a, b, b, a)
  }
}

function expectSame(bytes: Uint8Array): void {
  const original = new Database(bytes)
  const database = expanded(pack(bytes))
  if (database === null) throw new Error('it was not expanded')
  for (const words of addresses(500)) expect(answers(database, words)).toEqual(answers(original, words))
}

describe.skipIf(!hasShared)('an expanded fixture', () => {
  it.each(sampled(fixtures, 12))('has the records of %s', (name) => {
    const bytes = sharedBytes(`fixtures/mmdb/${name}`)
    if (/no-ipv4|broken|corrupt|nested|invalid-node/.test(name)) return
    expectSame(bytes)
  })
})

describe('an expanded database', () => {
  // The record with all pointers has half a megabyte, and is decoded for each address.
  const small = Object.entries(OWN_DATABASES).filter(([name]) => name !== 'pointers of all sizes')
  it.each(small)('has the records of %s', (_, make) => expectSame(make()))

  it('has the aliases of the original', () => {
    // So many networks of IPv4 that the packed file has aliases instead of copies.
    const writer = new MmdbWriter({ databaseType: 'T', aliases: true })
    for (let i = 0; i < 2 ** 16; i++) writer.insert(`${i >>> 8}.${i & 255}.0.0/${16 + (i % 2)}`, i % 1000)
    const bytes = writer.insert('2001:db8::/32', 'IPv6').toBytes()
    expect(partsOf(pack(bytes)).aliases.length).toBeGreaterThan(0)
    expectSame(bytes)
  })

  it('is as good as the original where records are outside the data', () => {
    const bytes = handMade(encode('x'), {}, Uint8Array.of(0, 0, 17, 0x7f, 0xff, 0xff))
    const database = expanded(pack(bytes))
    expect(database?.record(database.tree.findIPv4(0))).toBe('x')
    expect(() => database?.tree.findIPv4(2 ** 31)).toThrow('which is not a record')
  })

  it('is not made of a database without nodes, or with an impossible date', () => {
    expect(expanded(pack(handMade(encode('x'), { node_count: 0 }, new Uint8Array())))).toBe(null)
    expect(expanded(pack(handMade(encode('x'), { build_epoch: 2n ** 60n })))).toBe(null)
  })

  it('is not made of a packed file with an alias of an unfinished subtree, or of none', () => {
    const parts = partsOf(pack(new MmdbWriter({ databaseType: 'T' }).insert('8000::/1', 'all').toBytes()))
    const withAlias = (prefixLength: number, leaf: number) => ({
      ...parts,
      leafCount: 3,
      aliases: [{ leaf, word0: 0, word1: 0, word2: 0, word3: 0, prefixLength }],
      leafBlocks: parts.leafBlocks.map((row) => ({ ...row, tokens: [0x80, 0, 0], low: [0, ALIAS, 2] })),
    })
    for (const [prefixLength, leaf] of [
      [0, 1],
      [1, 1],
      [2, 1],
      [2, 0],
    ] as const) {
      expect(() => expanded(packedOf(withAlias(prefixLength, leaf)))).toThrow(
        'a network of the packed file is an alias of no other',
      )
    }
  })
})
