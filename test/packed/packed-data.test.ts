import { describe, expect, it } from 'vitest'
import { DataColumns, encodeData, nextPart } from '../../src/packed/data-block.ts'
import { DataBlock, PackedData } from '../../src/packed/packed-data.ts'
import { bytesOf } from '../mmdb/hand-made.ts'

/** A data section of which everything from `cut` on is in a second, damaged block. */
function cutSection(section: Uint8Array, cut: number): PackedData {
  const first = section.subarray(0, cut)
  const block = new DataBlock(new DataColumns(encodeData(first, nextPart(first, 0)), cut), 0)
  const blockAt = (offset: number) => {
    if (offset >= cut) throw new Error('the second block is damaged')
    return block
  }
  return new PackedData(blockAt, 0, section.length)
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('PackedData with a damaged block', () => {
  it.each([
    // field, type, size, number
    ['42 6869', 2, 2, null],
    [`5d00 ${'78'.repeat(29)}`, 2, 29, null],
    ['68 4000000000000000', 3, 8, 2],
    ['82 00ff', 4, 2, null],
    ['a0', 5, 0, 0],
    ['c4 ffffffff', 6, 4, 2 ** 32 - 1],
    ['e1 4161 a107', 7, 1, null],
    ['04 01 ffffffff', 8, 4, -1],
    [`10 03 ${'ff'.repeat(16)}`, 10, 16, null],
    ['02 04 a0 a0', 11, 2, null],
    ['00 07', 14, 0, null],
    ['01 07', 14, 1, null],
    ['04 08 3fc00000', 15, 4, 1.5],
  ])('reads the last value before it: %s', (hex, type, size, number) => {
    const value = bytesOf(hex)
    const data = cutSection(Buffer.concat([value, value, new Uint8Array(64)]), 2 * value.length)
    data.peek(value.length)
    expect([data.type, data.size, data.number()]).toEqual([type, size, number])
  })

  it.each(['20 05', '28 0005', '30 000005', '38 00000005'])('reads a pointer before it: %s', (hex) => {
    const pointer = bytesOf(hex)
    const data = cutSection(Buffer.concat([pointer, new Uint8Array(64)]), pointer.length)
    data.peek(0)
    expect([data.viaPointer, data.next]).toEqual([true, pointer.length])
  })

  it.each(['45 61', 'c4 ff', '5d', '5f 0000', '38 0000', '04', '10 03 ff'])(
    'fails for a value that ends in it: %s',
    (hex) => {
      const start = bytesOf(hex)
      const data = cutSection(Buffer.concat([start, new Uint8Array(64)]), start.length)
      expect(() => {
        data.open(0)
        data.content()
      }).toThrow('the second block is damaged')
    },
  )

  it('reads the same after many rows, when the block before it is put together', () => {
    const texts = Array.from({ length: 40 }, (_, i) => `42 61${(0x30 + i).toString(16)}`)
    const data = cutSection(bytesOf(`${texts.join('')} 45 5858 585858`), 3 * 40 + 3)
    for (let round = 0; round < 2; round++) {
      for (let i = 39; i >= 0; i--) expect(hexOf(data.slice(3 * i, 3))).toBe(texts[i]?.replace(' ', ''))
      expect(hexOf(data.slice(3 * 40, 3))).toBe('455858')
      expect(() => data.slice(3 * 40, 6)).toThrow('the second block is damaged')
    }
  })

  it('reads what starts in a block that is put together and ends in another one', () => {
    const section = bytesOf(`${'41 61'.repeat(40)} ${'41 62'.repeat(40)}`)
    const blocks = [0, 80].map((start) => {
      const part = section.subarray(start, start + 80)
      return new DataBlock(new DataColumns(encodeData(part, nextPart(part, 0)), 80), start)
    })
    const data = new PackedData((offset) => blocks[offset < 80 ? 0 : 1] ?? expect.fail(), 0, section.length)
    for (const reads of [0, 40]) {
      for (let i = 0; i < reads; i++) data.slice(2 * i, 2)
      for (let start = 60; start < 80; start++)
        expect(hexOf(data.slice(start, 40))).toBe(hexOf(section.subarray(start, start + 40)))
    }
  })

  it('does not take the row before it for the row that was read last', () => {
    // Sixteen rows fill all buffers. The last row continues in the damaged block.
    const rows = Array.from({ length: 16 }, (_, i) => `42 61${(0x61 + i).toString(16)}`)
    const section = bytesOf(`${rows.join('')} 45 5858 585858`)
    const data = cutSection(section, 3 * 16 + 3)
    for (let i = 0; i < 16; i++) expect(hexOf(data.slice(3 * i, 3))).toBe(rows[i]?.replace(' ', ''))
    expect(hexOf(data.slice(0, 3))).toBe('426161')
    expect(() => data.slice(3 * 16, 6)).toThrow('the second block is damaged')
    expect(hexOf(data.slice(0, 3))).toBe('426161')
  })
})
