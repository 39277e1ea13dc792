import { describe, expect, it, vi } from 'vitest'
import { type BlockCodec, PORTABLE_CODEC } from '../../src/bytes/gunzip.ts'
import { BlockFile, sourceOf } from '../../src/packed/block-file.ts'
import { NOT_DECODED, PackedContents, PackedData } from '../../src/packed/contents.ts'
import { DATA_BLOCK_BYTES } from '../../src/packed/directory.ts'
import { pack } from '../../src/packed/pack.ts'
import { PackedDatabase } from '../../src/packed/packed-database.ts'
import { MmdbWriter } from '../../src/writer.ts'
import { bytesOf, encode, handMade } from '../mmdb/hand-made.ts'
import { offsetAt } from '../mmdb/questions.ts'
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

/** The blocks that are decoded. */
function decodedIn({ places }: PackedContents): readonly number[] {
  return [...places.keys()].filter((block) => places[block] !== NOT_DECODED)
}

const COLUMN_BYTES = 16_384

describe('the contents of a packed file', () => {
  it('decode each block once', () => {
    const counts = counting()
    const contents = contentsOf(counts.codec)
    const blocks = [...contents.places.keys()]
    for (const block of [1, ...blocks, ...blocks]) contents.place(block)
    expect(counts.decoded).toBe(blocks.length)
    expect(decodedIn(contents)).toEqual(blocks)
  })

  it('drop the blocks that were decoded first when their memory is full', () => {
    // A block of runs takes two columns, a block of data too, and a block of records one.
    const contents = contentsOf(PORTABLE_CODEC, 5 * COLUMN_BYTES)
    const all = contentsOf(PORTABLE_CODEC)
    const { firstData } = contents
    for (const [block, decoded] of [
      [0, [0]],
      [1, [0, 1]],
      [2, [1, 2]],
      [0, [0, 2]],
      [firstData - 1, [0, 2, firstData - 1]],
      [firstData, [0, firstData - 1, firstData]],
      [firstData + 1, [firstData - 1, firstData, firstData + 1]],
    ] as const) {
      contents.place(block)
      expect(decodedIn(contents)).toEqual(decoded)
    }
    expect(contents.words.length).toBe((5 * COLUMN_BYTES) / 4)
    for (let block = 0; block < contents.places.length - firstData; block++)
      expect(contents.data(block)).toEqual(all.data(block))
    for (const index of [0, 5000, 19_999, 1]) expect(contents.record(index)).toBe(all.record(index))
  })

  it('keep the room of damaged blocks', () => {
    const counts = counting()
    const contents = contentsOf(counts.codec, 5 * COLUMN_BYTES)
    contents.place(0)
    vi.spyOn(counts.codec, 'inflate').mockImplementation(() => {
      throw new Error('damaged')
    })
    for (let i = 0; i < 9; i++) expect(() => contents.place(1)).toThrow('damaged')
    expect(decodedIn(contents)).toEqual([0])
  })

  it('are decoded once for all that share them', () => {
    const counts = counting()
    const [first, second] = [contentsOf(counts.codec, 0), contentsOf(counts.codec, 0)]
    second.attach(first.share())
    expect(first.share()).toBe(first.share())
    counts.decoded = 0
    const blocks = [...first.places.keys()]
    for (const block of [0, 1]) first.place(block)
    for (const block of blocks) expect(second.place(block)).toBe(first.place(block))
    expect(counts.decoded).toBe(blocks.length)
    expect(first.record(5000)).toBe(second.record(5000))
    expect(first.record(5000)).toBe(contentsOf(PORTABLE_CODEC).record(5000))
    expect(first.data(3)).toEqual(second.data(3))
  })

  it('are not shared with those of another file', () => {
    const contents = contentsOf(PORTABLE_CODEC)
    contents.attach(new SharedArrayBuffer(8))
    expect(contents.share().byteLength).toBeGreaterThan(8)
  })

  it('are dropped when the last user has released the database', () => {
    const counts = counting()
    const database = new PackedDatabase(sourceOf(PACKED), counts.codec)
    const find = () => {
      counts.decoded = 0
      offsetAt(database, 0x0101_0101)
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
