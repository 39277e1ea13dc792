import { describe, expect, it } from 'vitest'
import { PORTABLE_CODEC } from '../../src/bytes/deflate.ts'
import { BlockFile, sourceOf } from '../../src/packed/block-file.ts'
import { PackedContents } from '../../src/packed/contents.ts'
import { DATA_BLOCK_BYTES } from '../../src/packed/format.ts'
import { pack } from '../../src/packed/pack.ts'
import { PackedData } from '../../src/packed/packed-data.ts'
import { bytesOf, encode, handMade } from '../mmdb/hand-made.ts'
import { partsOf } from './parts.ts'

/** Two blocks of data. The second is damaged, and the bytes are the last of the first. */
function endOfBlock(bytes: Uint8Array): { readonly data: PackedData; readonly at: number } {
  const record = encode('x')
  const filler = new Uint8Array(DATA_BLOCK_BYTES - record.length - bytes.length)
  const packed = pack(handMade(Buffer.concat([record, filler, bytes, new Uint8Array(64)])))
  const last = partsOf(packed).positions.at(-1) ?? 0
  packed[last] = (packed[last] ?? 0) ^ 1
  const file = new BlockFile(sourceOf(packed), PORTABLE_CODEC)
  const data = new PackedData(new PackedContents(file), file.dataStart, file.dataEnd)
  return { data, at: file.dataStart + DATA_BLOCK_BYTES - bytes.length }
}

describe('the data before a damaged block', () => {
  it.each([
    // field, type, size, number
    ['42 6869', 2, 2, null],
    [`5d00 ${'78'.repeat(29)}`, 2, 29, null],
    ['68 4000000000000000', 3, 8, 2],
    ['82 00ff', 4, 2, null],
    ['a0', 5, 0, 0],
    ['c4 ffffffff', 6, 4, 2 ** 32 - 1],
    ['04 01 ffffffff', 8, 4, -1],
    [`10 03 ${'ff'.repeat(16)}`, 10, 16, null],
    ['00 07', 14, 0, null],
    ['01 07', 14, 1, null],
    ['04 08 3fc00000', 15, 4, 1.5],
  ])('has the value %s', (hex, type, size, number) => {
    const { data, at } = endOfBlock(bytesOf(hex))
    data.peek(at)
    expect([data.type, data.size, data.number()]).toEqual([type, size, number])
  })

  it.each(['20 05', '28 0005', '30 000005', '38 00000005'])('has the pointer %s', (hex) => {
    const pointer = bytesOf(hex)
    const { data, at } = endOfBlock(pointer)
    data.peek(at)
    expect([data.viaPointer, data.next]).toEqual([true, at + pointer.length])
  })

  it.each(['45 61', 'c4 ff', '5d', '5f 0000', '38 0000', '04', '10 03 ff', '68 40'])(
    'does not have the value %s, which ends in that block',
    (hex) => {
      const { data, at } = endOfBlock(bytesOf(hex))
      expect(() => {
        data.open(at)
        data.number()
        data.content()
      }).toThrow('it does not match its checksum')
    },
  )
})
