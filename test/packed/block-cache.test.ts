import { describe, expect, it } from 'vitest'
import { BlockCache } from '../../src/packed/block-cache.ts'

const block = (byteLength: number) => ({ byteLength })
const kept = (cache: BlockCache<{ byteLength: number }>, count: number): number[] =>
  Array.from({ length: count }, (_, i) => i).filter((i) => cache.get(i) !== undefined)

describe('a cache of blocks', () => {
  it('keeps blocks up to its limit', () => {
    const cache = new BlockCache(10, 300)
    for (let i = 0; i < 10; i++) cache.add(i, block(100))
    expect(kept(cache, 10)).toHaveLength(3)
  })

  it('drops what was not used first', () => {
    const cache = new BlockCache(10, 300)
    for (const i of [1, 2, 3]) cache.add(i, block(100))
    cache.get(1)
    cache.get(3)
    cache.add(4, block(100))
    expect(kept(cache, 10)).toEqual([1, 3, 4])
  })

  it('keeps the last block whatever its size', () => {
    for (const limit of [0, 50]) {
      const cache = new BlockCache(5, limit)
      for (let i = 0; i < 5; i++) expect(cache.add(i, block(100))).toBe(cache.get(i))
      expect(kept(cache, 5)).toEqual([4])
    }
  })
})
