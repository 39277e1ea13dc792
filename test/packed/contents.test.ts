import { describe, expect, it, vi } from 'vitest'
import { type BlockCodec, PORTABLE_CODEC } from '../../src/bytes/gunzip.ts'
import { BlockFile, sourceOf } from '../../src/packed/block-file.ts'
import { PackedContents, PackedData } from '../../src/packed/contents.ts'
import { DATA_BLOCK_BYTES } from '../../src/packed/format.ts'
import { pack } from '../../src/packed/pack.ts'
import { PackedDatabase } from '../../src/packed/packed-database.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { bytesOf, encode, handMade } from '../mmdb/hand-made.ts'
import { partsOf } from './parts.ts'

const writer = new MmdbWriter({ databaseType: 'T', ipVersion: 4 })
for (let i = 0; i < 20_000; i++) writer.insert(`1.${i >>> 8}.${i & 255}.0/24`, `text ${i}`)
const PACKED = pack(writer.toBytes())

/** Counts the blocks that are decoded. */
function counting(): { readonly codec: BlockCodec; decoded: number } {
  const counts = {
    decoded: -1,
    codec: {
      ...PORTABLE_CODEC,
      inflate: (stream: Uint8Array, length: number) => {
        counts.decoded++
        return PORTABLE_CODEC.inflate(stream, length)
      },
    },
  }
  return counts
}

function contentsOf(codec: BlockCodec, limit?: number): PackedContents {
  return new PackedContents(new BlockFile(sourceOf(PACKED), codec), limit)
}

describe('the contents of a packed file', () => {
  it('decode each block once', () => {
    const counts = counting()
    const contents = contentsOf(counts.codec)
    const last = contents.isFilled.length - 1
    contents.fill(1)
    contents.fill(0, last)
    contents.fill(0, last)
    expect(counts.decoded).toBe(last + 1)
  })

  it('drop all blocks at the limit, but those that are read together', () => {
    const contents = contentsOf(PORTABLE_CODEC, 3 * 32_768)
    const filled = () => contents.isFilled.reduce((sum, each) => sum + each, 0)
    for (const [block, count] of [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 1],
    ] as const) {
      contents.fill(block)
      expect([filled(), contents.isFilled[block]]).toEqual([count, 1])
    }
    const { firstData } = contents
    contents.fill(firstData, firstData + 4)
    expect(contents.isFilled.subarray(firstData, firstData + 5)).toEqual(new Uint8Array(5).fill(1))
    expect(filled()).toBe(5)
  })

  it('count blocks for the limit once, and damaged ones never', () => {
    const counts = counting()
    const contents = contentsOf(counts.codec, 3 * 32_768)
    const { firstData } = contents
    for (let i = 0; i < 9; i++) contents.fill(firstData, firstData + 1)
    expect(counts.decoded).toBe(2)
    vi.spyOn(counts.codec, 'inflate').mockImplementation(() => {
      throw new Error('damaged')
    })
    for (let i = 0; i < 9; i++) expect(() => contents.fill(firstData + 2)).toThrow('damaged')
    expect(contents.isFilled[firstData]).toBe(1)
  })

  it('are decoded once for all that share them', () => {
    const counts = counting()
    const [first, second] = [contentsOf(counts.codec, 0), contentsOf(counts.codec, 0)]
    second.attach(first.share())
    expect(first.share()).toBe(first.share())
    expect([first.isShared, second.isShared]).toEqual([true, true])
    counts.decoded = 0
    const last = first.isFilled.length - 1
    first.fill(0, 2)
    second.fill(0, last)
    first.fill(0, last)
    expect(counts.decoded).toBe(last + 1)
    expect(first.record(5000)).toBe(second.record(5000))
    expect(first.record(5000)).toBe(contentsOf(PORTABLE_CODEC).record(5000))
    expect(first.data).toEqual(second.data)
  })

  it('are not shared with those of another file', () => {
    const contents = contentsOf(PORTABLE_CODEC)
    contents.attach(new SharedArrayBuffer(8))
    expect(contents.isShared).toBe(false)
  })

  it('are dropped when the last user has released the database', () => {
    const counts = counting()
    const database = new PackedDatabase(sourceOf(PACKED), counts.codec)
    const find = () => {
      counts.decoded = 0
      database.tree.findIPv4(0x0101_0101)
      return counts.decoded
    }
    expect(database.retain()).toBe(true)
    expect([find(), find()]).toEqual([2, 0])
    database.release()
    expect(find()).toBe(0)
    database.release()
    expect(find()).toBe(2)
    expect(database.retain()).toBe(false)
  })
})

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
