import { describe, expect, it } from 'vitest'
import { EMPTY, linkToValue, NodeTable } from '../../../src/mmdb/writer/node-table.ts'
import { type RecordSize, SearchTreeEncoder } from '../../../src/mmdb/writer/search-tree-encoder.ts'

/** A tree with the same value for every address: one node. */
const flat = (): SearchTreeEncoder => new SearchTreeEncoder(new NodeTable(), linkToValue(0))

/** One node and the 16 bytes of the separator precede the first record. */
const BEFORE = 17

describe('SearchTreeEncoder', () => {
  it.each([
    [0, 24],
    [2 ** 24 - 1 - BEFORE, 24],
    [2 ** 24 - BEFORE, 28],
    [2 ** 28 - 1 - BEFORE, 28],
    [2 ** 28 - BEFORE, 32],
    [2 ** 32 - 1 - BEFORE, 32],
    [2 ** 32 - BEFORE, null],
  ])('with a last record at %i needs records of %j bits at least', (lastOffset, needed) => {
    if (needed !== null) expect(flat().recordSizeFor(lastOffset)).toBe(needed)
    const advice = needed === null ? '' : `: use ${needed}`
    for (const recordSize of [24, 28, 32] as const) {
      const write = (): Uint8Array => flat().toBytes(recordSize, () => lastOffset, lastOffset)
      if (needed !== null && needed <= recordSize) expect(write()).toHaveLength(recordSize / 4)
      else {
        const message = `1 nodes and ${lastOffset} bytes of data do not fit in a record size of ${recordSize}${advice}`
        expect(write).toThrow(new RangeError(message))
      }
    }
  })

  it('numbers a path of any length', () => {
    const table = new NodeTable()
    let root = linkToValue(0)
    for (let i = 0; i < 100_000; i++) root = table.newNode(root, EMPTY)
    expect(new SearchTreeEncoder(table, root).nodeCount).toBe(100_000)
  })

  it.each<[RecordSize, left: number, right: number, hex: string]>([
    [24, 0x123456, 0xfedcba, '123456 fedcba'],
    [28, 0x1234567, 0xfedcba9, '234567 1f edcba9'],
    [28, 0xfedcba9, 0x1234567, 'edcba9 f1 234567'],
    [32, 0x12345678, 0xfedcba98, '12345678 fedcba98'],
    [32, 0xfedcba98, 0x12345678, 'fedcba98 12345678'],
  ])('lays out records of %i bits as the format does', (recordSize, left, right, hex) => {
    const table = new NodeTable()
    const tree = new SearchTreeEncoder(table, table.node(linkToValue(0), linkToValue(1)))
    const bytes = tree.toBytes(recordSize, (value) => (value === 0 ? left : right) - BEFORE, 0)
    expect(Buffer.from(bytes).toString('hex')).toBe(hex.replaceAll(' ', ''))
  })

  it('lists its own values, each once, in ascending order', () => {
    const table = new NodeTable()
    const value = linkToValue
    table.node(value(3), value(4))
    const below = table.node(value(10), value(9))
    const root = table.node(table.node(value(100), below), table.node(below, table.node(value(2), EMPTY)))
    expect(new SearchTreeEncoder(table, root).values()).toEqual([2, 9, 10, 100])
    expect(new SearchTreeEncoder(table, root).nodeCount).toBe(5)
    expect(flat().values()).toEqual([0])
    expect(new SearchTreeEncoder(new NodeTable(), EMPTY).values()).toEqual([])
  })

  it('numbers nodes so that the left child follows', () => {
    const table = new NodeTable()
    const [a, b] = [table.node(linkToValue(0), EMPTY), table.node(EMPTY, linkToValue(0))]
    const tree = new SearchTreeEncoder(table, table.node(a, b))
    // The root leads to nodes 1 and 2; 3 means no record, 19 the first byte of data.
    expect(Buffer.from(tree.toBytes(24, () => 0, 0)).toString('hex')).toBe(
      ['000001000002', '000013000003', '000003000013'].join(''),
    )
  })
})
