import { describe, expect, it } from 'vitest'
import { InvalidDatabaseError } from '../../../src/errors.ts'
import { Database } from '../../../src/mmdb/database.ts'
import { NO_RECORD } from '../../../src/mmdb/search-tree.ts'
import { invalid } from '../../invalid.ts'
import { bytesOf, DATA_START, encode, handMade } from '../hand-made.ts'
import { ask } from '../questions.ts'

const RECORD = encode(new Map([['a', 1]]))

// The fuzz target writer compares the tree with a list of networks, and the fuzz target mmdb with mmdb-lib.
describe('SearchTree', () => {
  it('has no records in a tree without nodes', () => {
    const database = new Database(handMade(RECORD, { node_count: 0, ip_version: 6 }, new Uint8Array()))
    expect(ask(database, '1.2.3.4')).toEqual({ record: null, prefixLength: 0 })
    expect(ask(database, '2001:db8::')).toEqual({ record: null, prefixLength: 0 })
  })

  // A hand-made node of each size, with values that use all bits.
  it.each([
    [24, '123456 fedcba', 0x123456, 0xfedcba],
    [28, '234567 18 bcdef0', 0x1234567, 0x8bcdef0],
    [28, 'ffffff 0f ffffff', 0x0ffffff, 0xfffffff],
    [28, '000000 f0 000000', 0xf000000, 0],
    [32, '12345678 fedcba98', 0x12345678, 0xfedcba98],
  ])('reads nodes with records of %i bits: %s', (recordSize, hex, left, right) => {
    const { tree } = new Database(handMade(RECORD, { record_size: recordSize }, bytesOf(hex)))
    expect([tree.child(0, 0), tree.child(0, 1)]).toEqual([left, right])
  })

  it.each([
    [0x11, DATA_START], // nodeCount + 16: the first byte of the data section
    [0x12, DATA_START + 1],
    [1, NO_RECORD], // nodeCount
    [17 + RECORD.length - 1, DATA_START + RECORD.length - 1], // its last byte
  ])('maps %i to the record at byte %i', (value, offset) => {
    const { tree } = new Database(handMade(RECORD))
    expect(tree.record(value)).toBe(offset)
  })

  it.each([
    0, // a node
    2, // in the separator
    0x10, // its last byte
    17 + RECORD.length, // in the metadata
    0xffffff,
    0xffffffff,
  ])('refuses %i as damaged', (value) => {
    const { tree } = new Database(handMade(RECORD))
    expect(() => tree.record(value)).toThrow(
      invalid(`the search tree leads to ${value}, which is not a record`),
    )
  })

  it.each([4, 6])('ends in a cyclic tree of IPv%i', (ipVersion) => {
    const loop = new Database(handMade(RECORD, { ip_version: ipVersion }, bytesOf('000000 000000')))
    expect(() => ask(loop, '1.2.3.4')).toThrow('the search tree leads to 0, which is not a record')
    if (ipVersion === 6) expect(() => ask(loop, '2001:db8::')).toThrow(InvalidDatabaseError)
  })

  it.each([
    [
      'no separator',
      Buffer.concat([bytesOf('000011 000001'), Buffer.alloc(15), Buffer.of(1)]),
      'the 16 bytes after the search tree are not all zero',
    ],
    [
      'a separator cut',
      Buffer.concat([bytesOf('000011 000001'), Buffer.alloc(10)]),
      'more than the file holds',
    ],
    ['nothing', Buffer.alloc(0), 'more than the file holds'],
  ])('refuses a file with %s', (_, head, message) => {
    const metadata = handMade(new Uint8Array()).subarray(DATA_START)
    expect(() => new Database(Buffer.concat([head, metadata]), '/x')).toThrow(invalid(message, '/x'))
  })
})
