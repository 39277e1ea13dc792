import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { BlockCache } from './block-cache.ts'
import { ALIAS, FIRST_RECORD, LEAVES_PER_BLOCK, NONE } from './format.ts'
import type { Leaves } from './leaf-block.ts'
import type { PackedFile } from './packed-file.ts'
import { compare, moved } from './position.ts'

/** The first bits of an IPv4 address that choose the block to start from. */
const TABLE_BITS = 16

/**
 * The search tree of a packed database. Finds what `SearchTree` finds: the offset of an address's record in the
 * original file. Reads the blocks that addresses lead to.
 */
export class PackedTree {
  /** How many leading bits of the address the last search used: 0 to 32 or 128. */
  prefixLength = 0
  readonly #file: PackedFile
  readonly #cache: BlockCache<Leaves>
  /** By the first bits of an IPv4 address, the block with the first address that has them. */
  readonly #table = new Uint16Array(2 ** TABLE_BITS)
  /** By block of IPv4 addresses, the last word of its first one. */
  readonly #ipv4Starts: Uint32Array

  /** @param cacheBytes limit of the decoded blocks that are kept; the last one always is */
  constructor(file: PackedFile, cacheBytes: number) {
    this.#file = file
    const { word0, word1, word2, word3 } = file.directory.leafBlocks
    this.#cache = new BlockCache(word0.length, cacheBytes)
    let count = 0
    while (count < word0.length && word0[count] === 0 && word1[count] === 0 && word2[count] === 0) count++
    this.#ipv4Starts = word3.subarray(0, count)
    for (let i = 0, block = 0; i < this.#table.length; i++) {
      while (block + 1 < count && (word3[block + 1] ?? 0) <= i * 2 ** (32 - TABLE_BITS)) block++
      this.#table[i] = block
    }
  }

  /**
   * @param address an unsigned 32-bit number
   * @returns the offset of its record in the original file, or {@link NO_RECORD}
   * @throws InvalidDatabaseError when its block is damaged
   */
  findIPv4(address: number): number {
    const starts = this.#ipv4Starts
    let block = this.#table[address >>> (32 - TABLE_BITS)] ?? 0
    while (block + 1 < starts.length && (starts[block + 1] ?? 0) <= address) block++
    const leaves = this.#leaves(block)
    if (leaves.width !== 1 || leaves.firstWord !== 3) return this.#follow(Uint32Array.of(0, 0, 0, address))
    const leaf = lastAtMost(leaves.starts, address)
    this.prefixLength = leaves.prefixLengths[leaf] ?? 0
    const value = leaves.values[leaf] ?? NONE
    return value === ALIAS ? this.#follow(Uint32Array.of(0, 0, 0, address)) : this.#record(value)
  }

  /**
   * @param words an IPv6 address as four big-endian words
   * @returns the offset of its record in the original file, or {@link NO_RECORD}, always so in an IPv4 tree
   * @throws InvalidDatabaseError when its block is damaged
   */
  findIPv6(words: Uint32Array): number {
    this.prefixLength = 0
    return this.#file.metadata.ipVersion === 6 ? this.#follow(words) : NO_RECORD
  }

  /** Finds the leaf of an address, and that of another network which it stands for. */
  #follow(address: Uint32Array): number {
    const { base } = this.#file.shape
    let words = address
    /** How much longer the prefix of the address is than that of the leaf which is found. */
    let difference = 0
    for (let used = -1; ; used = this.prefixLength) {
      const block = this.#blockOf(words)
      const leaves = this.#leaves(block)
      const leaf = lastNotAfter(leaves, words)
      const length = leaves.prefixLengths[leaf] ?? 0
      this.prefixLength = length + difference
      // Each step down a tree uses more bits of the address, so that steps end.
      if (this.prefixLength <= used) throw this.#file.fault('the aliases of the packed file have a loop')
      const value = leaves.values[leaf] ?? NONE
      if (value !== ALIAS) return this.#record(value)
      const target = this.#targetOf(block * LEAVES_PER_BLOCK + leaf)
      words = moved(words, base + length, target.words, base + target.prefixLength)
      difference += length - target.prefixLength
    }
  }

  /** @param leaf counted from the first one of the tree */
  #targetOf(leaf: number): { readonly words: Uint32Array; readonly prefixLength: number } {
    const { leaf: leaves, word0, word1, word2, word3, prefixLength } = this.#file.directory.aliases
    const row = lastAtMost(leaves, leaf)
    if (leaves[row] !== leaf) throw this.#file.fault('a network of the packed file is an alias of no other')
    return {
      words: Uint32Array.of(word0[row] ?? 0, word1[row] ?? 0, word2[row] ?? 0, word3[row] ?? 0),
      prefixLength: prefixLength[row] ?? 0,
    }
  }

  #record(value: number): number {
    if (value === NONE) return NO_RECORD
    const file = this.#file
    const stored = file.records[value - FIRST_RECORD] ?? 0
    const offset = stored - SEPARATOR_BYTES + file.dataStart
    if (offset < file.dataStart || offset >= file.dataEnd) {
      const found = stored + file.metadata.nodeCount
      throw file.fault(`the search tree leads to ${found}, which is not a record`)
    }
    return offset
  }

  #leaves(block: number): Leaves {
    return this.#cache.get(block) ?? this.#cache.add(block, this.#file.leaves(block))
  }

  /** The last block that does not start after a position. */
  #blockOf(words: Uint32Array): number {
    let low = 0
    for (let high = this.#file.directory.leafBlocks.word0.length; high - low > 1; ) {
      const middle = (low + high) >>> 1
      if (compare(this.#file.startOf(middle), words) <= 0) low = middle
      else high = middle
    }
    return low
  }
}

/**
 * The index of the last number that is at most a given one, in ascending numbers; 0 if there is none. Without
 * branches in the loop, which a processor would predict wrongly half the time: twice as fast.
 */
function lastAtMost(numbers: Uint32Array, most: number): number {
  let low = 0
  for (let count = numbers.length; count > 1; ) {
    const half = count >>> 1
    low += half & -Number((numbers[low + half] ?? 0) <= most)
    count -= half
  }
  return low
}

/** The last leaf of a block that does not start after a position. */
function lastNotAfter({ starts, firstWord, width, count }: Leaves, words: Uint32Array): number {
  if (width === 1) return lastAtMost(starts, words[firstWord] ?? 0)
  let low = 0
  for (let high = count; high - low > 1; ) {
    const middle = (low + high) >>> 1
    let word = 0
    while (word < width - 1 && starts[middle * width + word] === words[firstWord + word]) word++
    if ((starts[middle * width + word] ?? 0) <= (words[firstWord + word] ?? 0)) low = middle
    else high = middle
  }
  return low
}
