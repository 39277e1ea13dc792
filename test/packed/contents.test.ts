import { describe, expect, it, vi } from 'vitest'
import { type BlockCodec, PORTABLE_CODEC } from '../../src/bytes/deflate.ts'
import { BlockFile, sourceOf } from '../../src/packed/block-file.ts'
import { PackedContents } from '../../src/packed/contents.ts'
import { pack } from '../../src/packed/pack.ts'
import { PackedDatabase } from '../../src/packed/packed-database.ts'
import { MmdbWriter } from '../../src/writer.ts'

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
