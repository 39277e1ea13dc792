// Packed files whose checksums are right and whose contents are not: no lookup may answer from them.
import { describe, expect, it, vi } from 'vitest'
import { DataColumns } from '../../src/packed/data-block.ts'
import { openPacked } from '../../src/packed/open-packed.ts'
import { pack, unpack } from '../../src/packed/pack.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { DATA_START, handMade } from '../mmdb/hand-made.ts'
import { type Parts, packedOf, partsOf } from './parts.ts'

// The example of src/packed/README.md, which explains these streams.
const PACKED = pack(
  new MmdbWriter({ databaseType: 'T', ipVersion: 4 })
    .insert('64.0.0.0/2', { city: 'Rome' })
    .insert('128.0.0.0/1', { city: 'Oslo' })
    .toBytes(),
)
const PARTS = partsOf(PACKED)
const ROME = 64 * 2 ** 24
const OSLO = 128 * 2 ** 24

/** One block of leaves that starts at 0.0.0.0. */
function leaves(tokens: readonly number[], low: readonly number[], leafCount = 3): Partial<Parts> {
  return { leafCount, leafBlocks: PARTS.leafBlocks.map((row) => ({ ...row, tokens, low })) }
}

function columns(...numbers: readonly (readonly number[])[]): Partial<Parts> {
  return { dataBlocks: PARTS.dataBlocks.map((row) => ({ ...row, columns: numbers.flat() })) }
}

/** The bytes of the only block of the record table. */
function recordTable(records: readonly number[], base = 0): Partial<Parts> {
  return { recordBlocks: PARTS.recordBlocks.map((row) => ({ ...row, base, records })) }
}

const opened = (changes: Partial<Parts>) => openPacked(packedOf({ ...PARTS, ...changes }))

/** The record of an address, from a packed file with changes. */
function found(changes: Partial<Parts>, address: number): unknown {
  const database = opened(changes)
  return database.record(database.tree.findIPv4(address))
}

/** Expects the fault from a lookup, from verify and from unpack. */
function expectFault(changes: Partial<Parts>, what: string, why: string): void {
  const bytes = packedOf({ ...PARTS, ...changes })
  const database = openPacked(bytes)
  const message = expect.stringMatching(new RegExp(`^${what} cannot be read: .*${why}`))
  const error = expect.objectContaining({ code: 'INVALID_DATABASE', fault: message })
  expect(() => database.record(database.tree.findIPv4(ROME))).toThrow(error)
  expect(database.verify().faults).toMatchObject([{ message }])
  expect(() => unpack(bytes)).toThrow(error)
}

function expectNotUnpacked(changes: Partial<Parts>, fault: string): void {
  const bytes = packedOf({ ...PARTS, ...changes })
  expect(() => unpack(bytes)).toThrow(expect.objectContaining({ code: 'INVALID_DATABASE', fault }))
  expect(openPacked(bytes).verify()).toMatchObject({ faults: [{ message: fault }], faultCount: 1 })
}

/** The metadata of a database with a number of nodes. */
function metadataOf(nodeCount: number): Uint8Array {
  const file = handMade(new Uint8Array(), { node_count: nodeCount })
  return file.subarray(DATA_START)
}

describe('a packed file with right checksums', () => {
  it('answers if its contents are right', () => {
    expect(unpack(packedOf(PARTS))).toEqual(unpack(PACKED))
    expect(found({}, ROME)).toEqual({ city: 'Rome' })
    expect(found(leaves([0x80, 0, 0], [0, 3, 2]), ROME)).toEqual({ city: 'Oslo' })
  })

  it.each([
    ['more tokens than leaves', leaves([0x80, 0, 0, 0], [0, 2, 3]), 'do not fit together'],
    ['more new values than tokens', leaves([0x80, 0, 0], [0, 2, 3, 3]), 'do not fit together'],
    ['a value after the last record', leaves([0x80, 0, 0], [0, 2, 4]), 'has a value that does not exist'],
    ['a recency before the first value', leaves([0x80, 2, 0], [0, 3]), 'before the first of its block'],
    ['leaves after the last address', leaves([0x80, 0, 0, 0], [0, 2, 3, 2], 4), 'do not fill its addresses'],
    ['no leaf of the last address', leaves([0x80, 0], [0, 2], 2), 'do not fill its addresses'],
    ['a prefix that is too long', leaves([0xc0, 0, 0, 30], [0, 2, 3]), 'do not fill its addresses'],
    ['a prefix that is far too long', leaves([0xc0, 0, 0, 255], [0, 2, 3]), 'do not fill its addresses'],
  ])('fails for %s', (_, changes, fault) => {
    expectFault(changes, 'the block of networks at byte .* of the packed file', fault)
  })

  it.each([
    ['leaves after the last address', [0x40, 0, 0], [0, 2, 2]],
    ['no leaf of the last address', [0x80, 0], [0, 2]],
    ['a prefix that is too long', [0xc0, 0, 126], [0, 2]],
    ['a prefix that is far too long', [0xc0, 0, 255], [0, 2]],
  ])('fails for %s of IPv6', (_, tokens, low) => {
    const writer = new MmdbWriter({ databaseType: 'T' }).insert('8000::/1', 'all')
    const parts = partsOf(pack(writer.toBytes()))
    const open = (tokens: readonly number[], low: readonly number[]) => {
      const leafBlocks = parts.leafBlocks.map((row) => ({ ...row, tokens, low }))
      return openPacked(packedOf({ ...parts, leafCount: low.length, leafBlocks }))
    }
    const address = Uint32Array.of(0x8000_0000, 0, 0, 0)
    expect(open([0x40, 0], [0, 2]).tree.findIPv6(address)).toBeGreaterThan(0)
    expect(() => open(tokens, low).tree.findIPv6(address)).toThrow('do not fill its addresses')
  })

  it.each([
    ['more bytes than its records', [16, 11, 0], 'it is longer than its records'],
    ['fewer records than it should', [16, 0x8b], 'a stream of numbers is cut short'],
    ['a number of six bytes', [16, 0x80, 0x80, 0x80, 0x80, 0x80, 1], 'a number of more than five bytes'],
    ['a record of 35 bits', [16, 0xff, 0xff, 0xff, 0xff, 0x7f], 'a sum has more than 32 bits'],
  ])('fails for a record table with %s', (_, records, fault) => {
    expectFault(recordTable(records), 'the block of records at byte .* of the packed file', fault)
  })

  it('fails for a record table that does not match its checksum', () => {
    const damaged = PACKED.slice()
    damaged[238] = 0
    const fault =
      'the block of records at byte 238 of the packed file cannot be read: it does not match its checksum'
    expect(() => openPacked(damaged).tree.findIPv4(ROME)).toThrow(fault)
    expect(() => unpack(damaged)).toThrow(fault)
  })

  const shapes = [2, 3, 2, 1, 0, 2, 4, 0]
  const rows = [2, 0, 1]
  const cells = Array.from(PARTS.dataBlocks[0]?.columns ?? []).slice(shapes.length + rows.length)
  it.each([
    ['more shapes than bytes', columns([200, 1], rows, cells), 'has fewer values than it says'],
    ['a shape without widths', columns([3, 3, 2, 1, 0, 2, 4, 0, 0], rows, cells), 'do not fit together'],
    ['a text after no byte', columns([2, 3, 2, 0, 1, 2, 4, 0], rows, cells), 'do not fit together'],
    ['a row of no shape', columns(shapes, [2, 0, 2], cells), 'do not fit together'],
    ['a shape of 33 bits', columns(shapes, [2, 0, 0x81, 0x80, 0x80, 0x80, 0x10], cells), 'more than 32 bits'],
    ['a byte after the last text', columns(shapes, rows, cells, [0]), 'do not fit together'],
    ['a text that is cut short', columns(shapes, rows, cells.slice(0, -1)), 'has fewer values than it says'],
    ['a row too few', columns(shapes, [1, 0], cells.slice(0, 11)), 'do not fit together'],
  ])('fails for columns with %s', (_, changes, fault) => {
    expectFault(changes, 'the block of data at byte .* of the packed file', fault)
  })

  const alias = { leaf: 2, word0: 0, word1: 0, word2: 0, word3: 0, prefixLength: 1 }
  it.each([
    ['more aliases and records than leaves', { aliases: [alias, alias] }],
    ['more records than leaves', { recordCount: 4 }],
    ['more records than bytes of them', recordTable([16])],
    ['no block of records', { recordBlocks: [] }],
    ['a block of data without bytes', { dataBlocks: PARTS.dataBlocks.map((row) => ({ ...row, length: 0 })) }],
  ])('is not opened if it has %s', (_, changes) => {
    expect(() => opened(changes)).toThrow('its directory has impossible sizes')
  })

  it('is not opened if it has more records than its nodes can hold', () => {
    expect(() => opened({ metadata: metadataOf(0) })).toThrow('than its nodes can hold')
  })

  it('lists the first hundred damaged blocks', () => {
    const [block] = columns([0]).dataBlocks ?? []
    const dataBlocks = block === undefined ? [] : Array.from({ length: 150 }, () => block)
    const { faults, faultCount } = opened({ dataBlocks }).verify()
    expect([faults.length, faultCount]).toEqual([100, 150])
  })

  it('is not opened if its metadata has other bytes before the marker', () => {
    const metadata = Uint8Array.of(0, ...PARTS.metadata)
    expect(() => opened({ metadata })).toThrow('does not start with its marker')
  })
})

describe('an alias of a packed file', () => {
  const ALIASED = leaves([0x80, 0, 0], [0, 2, 1])
  const rowOf = (word3: number, prefixLength: number): Pick<Parts, 'aliases'> => ({
    aliases: [{ leaf: 2, word0: 0, word1: 0, word2: 0, word3, prefixLength }],
  })
  const alias = (word3: number, prefixLength: number): Partial<Parts> => ({
    ...ALIASED,
    ...rowOf(word3, prefixLength),
  })

  it('leads to the network that it stands for', () => {
    expect(found(alias(0, 1), OSLO + ROME)).toEqual({ city: 'Rome' })
    expect(opened(alias(0, 1)).tree.findIPv4(OSLO)).toBe(0)
  })

  it('fails if it stands for no other', () => {
    const fault = 'a network of the packed file is an alias of no other'
    expect(() => found(ALIASED, OSLO)).toThrow(fault)
    expect(found(ALIASED, ROME)).toEqual({ city: 'Rome' })
    expectNotUnpacked(ALIASED, fault)
    // A network without a subtree, one that does not come before it, and one that is inside it.
    for (const changes of [alias(ROME, 2), alias(OSLO, 1), alias(OSLO + ROME, 2)]) {
      expectNotUnpacked(changes, fault)
    }
  })

  it('fails if it leads back to itself', () => {
    expect(() => found(alias(OSLO, 1), OSLO)).toThrow('the aliases of the packed file have a loop')
  })

  it('is not of a network without one', () => {
    expectNotUnpacked(rowOf(0, 1), 'the packed file has aliases that no network uses')
  })
})

describe('unpacking', () => {
  it('refuses one leaf for all addresses, because a tree has a node', () => {
    expectNotUnpacked(
      { ...leaves([0], [2], 1), recordCount: 1, ...recordTable([16]) },
      'the packed file has no networks',
    )
  })

  it('says if there is not enough memory', () => {
    const spy = vi.spyOn(DataColumns.prototype, 'bytes').mockImplementation(() => {
      throw new RangeError('Array buffer allocation failed')
    })
    const error = expect.objectContaining({ fault: 'there is not enough memory for it' })
    expect(() => unpack(PACKED)).toThrow(error)
    // Memory is not a fault of the database.
    expect(() => openPacked(PACKED).verify()).toThrow(error)
    spy.mockRestore()
  })

  it('refuses more unused nodes than deflate could make of the file', () => {
    expect(unpack(packedOf({ ...PARTS, metadata: metadataOf(40_000) })).length).toBeGreaterThan(240_000)
    expectNotUnpacked(
      { metadata: metadataOf(60_000_000) },
      'the packed file has too many nodes that no path leads to',
    )
  })

  it('refuses a block of records that does not start after the block before', () => {
    expectNotUnpacked(recordTable([11, 11], 5), 'the record table of the packed file is not in order')
    expect(found(recordTable([11, 11], 5), ROME)).toEqual({ city: 'Rome' })
  })

  it('refuses a record that the record size cannot hold', () => {
    const records = recordTable([16, 0x80, 0x80, 0x80, 0x80, 1])
    expectNotUnpacked(records, 'the packed file has records that its record size cannot hold')
    expect(() => found(records, OSLO)).toThrow('which is not a record')
    expect(found(records, ROME)).toEqual({ city: 'Rome' })
  })
})
