// Packed files whose checksums are right and whose contents are not: no lookup may answer from them.
import { describe, expect, it, vi } from 'vitest'
import { verify } from '../../src/mmdb/verify.ts'
import { PackedContents } from '../../src/packed/contents.ts'
import { pack, unpack } from '../../src/packed/pack.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { DATA_START, handMade } from '../mmdb/hand-made.ts'
import { offsetAt } from '../mmdb/questions.ts'
import { openPacked, type Parts, packedOf, partsOf, withFamily } from './parts.ts'

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
const [RUNS, RECORDS, DATA] = PARTS.blocks
if (RUNS === undefined || RECORDS === undefined || DATA === undefined) throw new Error('three blocks')

/** The block of runs, which starts at 0.0.0.0. */
function runs(stream: readonly number[], plain: readonly number[], count = 3): Partial<Parts> {
  return {
    families: withFamily(PARTS, 0, { count }),
    blocks: [{ stream, plain }, RECORDS ?? RUNS_ONLY, DATA ?? RUNS_ONLY],
  }
}
const RUNS_ONLY = RUNS

/** The block of the record table: planes of bytes. */
function recordTable(stream: readonly number[]): Partial<Parts> {
  return { blocks: [RUNS_ONLY, { stream, plain: [] }, DATA ?? RUNS_ONLY] }
}

const opened = (changes: Partial<Parts>) => openPacked(packedOf({ ...PARTS, ...changes }))

/** The record of an address, from a packed file with changes. */
function found(changes: Partial<Parts>, address: number): unknown {
  const database = opened(changes)
  return database.record(offsetAt(database, address))
}

/** Expects the fault from a lookup, from verify and from unpack. */
function expectFault(changes: Partial<Parts>, what: string, why: string): void {
  const bytes = packedOf({ ...PARTS, ...changes })
  const database = openPacked(bytes)
  const message = expect.stringMatching(new RegExp(`^${what} cannot be read: .*${why}`))
  const error = expect.objectContaining({ code: 'INVALID_DATABASE', fault: message })
  expect(() => database.record(offsetAt(database, ROME))).toThrow(error)
  expect(verify(database).faults).toMatchObject([{ message }])
  expect(() => unpack(bytes)).toThrow(error)
}

function expectNotUnpacked(changes: Partial<Parts>, fault: string): void {
  const bytes = packedOf({ ...PARTS, ...changes })
  expect(() => unpack(bytes)).toThrow(expect.objectContaining({ code: 'INVALID_DATABASE', fault }))
  expect(verify(openPacked(bytes))).toMatchObject({ faults: [{ message: fault }], faultCount: 1 })
}

/** The metadata of a database with a number of nodes. */
function metadataOf(nodeCount: number): Uint8Array {
  const file = handMade(new Uint8Array(), { node_count: nodeCount })
  return file.subarray(DATA_START)
}

describe('a packed file with right checksums', () => {
  it('answers if its contents are right', () => {
    expect(Array.from(RUNS_ONLY.stream)).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0])
    expect(Array.from(RUNS_ONLY.plain)).toEqual([0, 2, 3])
    expect(unpack(packedOf(PARTS))).toEqual(unpack(PACKED))
    expect(found({}, ROME)).toEqual({ city: 'Rome' })
    expect(found(runs([0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 3, 2]), ROME)).toEqual({ city: 'Oslo' })
    // A length that is not in the table, and a value that came before.
    const long = [0, 255, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 64]
    expect(found(runs(long, [3, 2]), OSLO)).toEqual({ city: 'Oslo' })
  })

  const fill = 'do not fill its addresses'
  it.each([
    ['more lengths than runs', runs([0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 2, 3]), 'do not fit together'],
    ['more new values than runs', runs([0, 0, 1, 0, 1, 0, 0, 0, 0], [0, 2, 3]), 'do not fit together'],
    ['fewer new values than runs', runs([0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 2]), 'do not fit together'],
    ['a long length that is missing', runs([0, 255, 1, 0, 0, 0, 0, 0, 0], [0, 2, 3]), fill],
    ['a value after the last record', runs([0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 2, 4]), 'that does not exist'],
    ['a distance beyond the first run', runs([0, 0, 1, 0, 2, 0, 0, 0, 0], [0, 3]), 'before the first of'],
    ['a far distance', runs([0, 0, 1, 0, 0, 0, 0, 1, 0], [0, 3]), 'before the first of its block'],
    ['runs after the last address', runs([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 3, 2], 4), fill],
    ['no run of the last address', runs([0, 0, 0, 0, 0, 0], [0, 2], 2), fill],
    ['a length of no row of the table', runs([0, 7, 1, 0, 0, 0, 0, 0, 0], [0, 2, 3]), fill],
    ['a long length of zero', runs([0, 255, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 3]), fill],
  ])('fails for %s', (_, changes, fault) => {
    expectFault(changes, 'the block of networks at byte .* of the packed file', fault)
  })

  const ipv6 = partsOf(pack(new MmdbWriter({ databaseType: 'T' }).insert('8000::/1', 'all').toBytes()))
  const LAST = ipv6.blocks[0]
  it.each([
    ['runs after the last address', [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 2]],
    ['no run of the last address', [0, 0, 0], [0]],
    ['a length of zero', [0, 7, 0, 0, 0, 0, 0, 0, 0], [0, 2, 2]],
    ['a length that is too long', [0, 255, 0, 0, 0, 0, 0, 0, 0, 255], [0, 2]],
  ])('fails for %s of IPv6', (_, stream, plain) => {
    const open = (stream: ArrayLike<number>, plain: ArrayLike<number>) =>
      openPacked(
        packedOf({
          ...ipv6,
          families: withFamily(ipv6, 2, { count: plain.length }),
          blocks: [{ stream, plain }, ...ipv6.blocks.slice(1)],
        }),
      )
    const address = Uint32Array.of(0x8000_0000, 0, 0, 0)
    expect(Array.from(LAST?.stream ?? [])).toEqual([0, 0, 0, 0, 0, 0])
    expect(offsetAt(open(LAST?.stream ?? [], LAST?.plain ?? []), address)).toBeGreaterThan(0)
    expect(() => offsetAt(open(stream, plain), address)).toThrow(fill)
  })

  it('fails for a record of more than 32 bits', () => {
    const table = recordTable([255, 255, 255, 0, 255, 0, 255, 0])
    expectFault(table, 'the block of records at byte .* of the packed file', 'a record has more than 32 bits')
  })

  it('fails for a record table that does not match its checksum', () => {
    const damaged = PACKED.slice()
    const at = PARTS.positions[1] ?? 0
    damaged[at] = (damaged[at] ?? 0) ^ 1
    const fault = `the block of records at byte ${at} of the packed file cannot be read: it does not match its checksum`
    expect(() => offsetAt(openPacked(damaged), ROME)).toThrow(fault)
    expect(() => unpack(damaged)).toThrow(fault)
  })

  it.each([
    ['a record too few', recordTable([0, 0, 0, 16])],
    ['more bytes of runs than they can have', runs(new Array(31).fill(0), [0, 2, 3])],
    ['more new values than runs', runs([0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 2, 3, 3])],
    ['a block of data of another size', { dataBytes: PARTS.dataBytes - 1 }],
  ])('is not opened if it has %s', (_, changes) => {
    expect(() => opened(changes)).toThrow('its directory has impossible sizes')
  })

  it.each([
    ['no block', { families: withFamily(PARTS, 0, { count: 0 }), blocks: PARTS.blocks.slice(1) }],
    ['a first block that starts late', { families: withFamily(PARTS, 0, { starts: Uint32Array.of(1) }) }],
  ])('is not opened if IPv4 has %s', (_, changes) => {
    expect(() => opened(changes)).toThrow('are not in the order of their addresses')
  })

  it('is not opened if it has more records or networks than its nodes can hold', () => {
    expect(() => opened({ metadata: metadataOf(0) })).toThrow('more records than its nodes can hold')
    const count = 80_000
    const starts = Uint32Array.from({ length: Math.ceil(count / 4096) }, (_, i) => i)
    const [block = RUNS_ONLY] = [{ stream: new Uint8Array(3 * 4096), plain: [] }]
    const blocks = [...Array.from(starts, () => block), ...PARTS.blocks.slice(1)]
    const families = withFamily(PARTS, 0, { count, starts })
    expect(() => opened({ families, blocks })).toThrow('more networks than its nodes can hold')
  })

  it('is not opened if its metadata has other bytes before the marker', () => {
    const metadata = Uint8Array.of(0, ...PARTS.metadata)
    expect(() => opened({ metadata })).toThrow('does not start with its marker')
  })
})

describe('an alias of a packed file', () => {
  const parts = partsOf(
    pack(new MmdbWriter({ databaseType: 'T', aliases: true }).insert('1.0.0.0/8', 'one').toBytes()),
  )
  /** After the IPv4 networks and ::ffff:0:0/96: networks of nobody, and Teredo and 6to4 between them. */
  const open = (lengths: readonly number[], values = [0, 1]) => {
    const stream = [0, 1, 2, 3, 4, 0, 0, 2, 2, 2, 0, 0, 0, 0, 0]
    const rows = new Uint32Array(2 * 255)
    rows.set(lengths)
    const blocks = parts.blocks.map((block, i) => (i === 2 ? { stream, plain: values } : block))
    return packedOf({ ...parts, families: withFamily(parts, 2, { count: 5, lengths: rows }), blocks })
  }
  const LENGTHS = [0x2000_ffff, 0xffff_ffff, 1, 0, 0xffff, 0, 0x1_0000, 0, 0xdffd_0000, 0]
  const of = (...words: number[]) => Uint32Array.from(words)
  const fault = 'a network of the packed file is an alias of no other'

  // A lookup asks for the IPv4 address in it.
  it('is not looked up', () => {
    expect(() => offsetAt(openPacked(open(LENGTHS)), of(0, 0, 0xffff, 0x01ff_0000))).toThrow(fault)
  })

  it.each([
    ['another network', LENGTHS, [1, 0]],
    ['a network with another end', LENGTHS.with(2, 2).with(4, 0xfffe), [0, 1]],
    ['one with another start', LENGTHS.with(4, 0xfffe).with(6, 0x1_0001), [0, 1]],
  ])('is not unpacked if it is %s', (_, lengths, values) => {
    expect(() => unpack(open(lengths, values))).toThrow(fault)
  })

  it('fails among the IPv4 networks', () => {
    const changes = runs([0, 0, 1, 0, 0, 0, 0, 0, 0], [0, 1, 3])
    expect(() => found(changes, ROME)).toThrow(fault)
    expectNotUnpacked(changes, fault)
  })
})

describe('unpacking', () => {
  it('refuses one run of all addresses, because a tree has a node', () => {
    const all = {
      ...runs([0, 0, 0], [2], 1),
      families: withFamily(PARTS, 0, { count: 1, lengths: new Uint32Array(255) }),
    }
    expectNotUnpacked(all, 'the packed file has no networks')
  })

  it('says if there is not enough memory', () => {
    vi.spyOn(PackedContents.prototype, 'place').mockImplementation(() => {
      throw new RangeError('Array buffer allocation failed')
    })
    const error = expect.objectContaining({ fault: 'there is not enough memory for it' })
    expect(() => unpack(PACKED)).toThrow(error)
  })

  it('refuses more unused nodes than deflate could make of the file', () => {
    expect(unpack(packedOf({ ...PARTS, metadata: metadataOf(40_000) })).length).toBeGreaterThan(240_000)
    expectNotUnpacked(
      { metadata: metadataOf(60_000_000) },
      'the packed file has too many nodes that no path leads to',
    )
  })

  it('refuses a record that the record size cannot hold', () => {
    const records = recordTable([0, 15, 0, 255, 0, 255, 16, 0])
    expectNotUnpacked(records, 'the packed file has records that its record size cannot hold')
    expect(() => found(records, OSLO)).toThrow('which is not a record')
    expect(found(records, ROME)).toEqual({ city: 'Rome' })
  })
})
