import { isGeofixError, ReadFailure } from '../errors.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { BlockCache } from './block-cache.ts'
import { ALIAS, FIRST_RECORD, LEAVES_PER_BLOCK, NONE } from './format.ts'
import type { Leaves } from './leaf-block.ts'
import type { PackedFile } from './packed-file.ts'
import { advance, compare, leastPrefixLength, moved } from './position.ts'

/**
 * The search tree of a packed database. Finds what `SearchTree` finds: the offset of an address's record in the
 * original file. Reads the blocks that addresses lead to.
 */
export class PackedTree {
  /** How many leading bits of the address the last search used: 0 to 32 or 128. */
  prefixLength = 0
  /** The block in which the last search for an IPv4 address ended, if it holds IPv4 networks only; otherwise -1. */
  #lastBlock = -1
  readonly #file: PackedFile
  readonly #cache: BlockCache<Leaves>
  /** By block of IPv4 addresses, the first of them. */
  readonly #ipv4Starts: Uint32Array

  /** @param cacheBytes limit of the decoded blocks that are kept; the last one always is */
  constructor(file: PackedFile, cacheBytes: number) {
    this.#file = file
    const { word0, word1, word2, word3 } = file.directory.leafBlocks
    this.#cache = new BlockCache(word0.length, cacheBytes)
    let count = 0
    while (count < word0.length && word0[count] === 0 && word1[count] === 0 && word2[count] === 0) count++
    this.#ipv4Starts = word3.subarray(0, count)
  }

  findIPv4(address: number): number {
    return this.offsetOf(this.valueIPv4(address))
  }

  findIPv6(words: Uint32Array): number {
    return this.offsetOf(this.valueIPv6(words))
  }

  /**
   * The value of an address's leaf.
   *
   * @param address an unsigned 32-bit number
   * @param hint the number of a leaf that starts at or before the address: the closer, the faster. Negative for none
   * @throws InvalidDatabaseError when the block of the address is damaged
   */
  valueIPv4(address: number, hint = -1): number {
    const starts = this.#ipv4Starts
    let block = hint < 0 ? lastAtMost(starts, address) : Math.floor(hint / LEAVES_PER_BLOCK)
    let low = hint < 0 ? -1 : hint % LEAVES_PER_BLOCK
    while (block + 1 < starts.length && (starts[block + 1] ?? 0) <= address) {
      block++
      low = -1
    }
    const leaves = this.#leaves(block)
    this.#lastBlock = leaves.firstWord === 3 ? block : -1
    if (leaves.firstWord !== 3) return this.#follow(Uint32Array.of(0, 0, 0, address))
    const leaf = low < 0 ? lastAtMost(leaves.starts, address) : lastAtMostFrom(leaves.starts, address, low)
    const value = leaves.values.at(leaf)
    if (value === ALIAS) return this.#follow(Uint32Array.of(0, 0, 0, address))
    this.prefixLength = leaves.prefixLengths[leaf] ?? 0
    return value
  }

  /**
   * The number of an IPv4 address's leaf, as a hint for addresses after it. Reads no block: -1 if the leaf is not in the
   * block in which the last search ended.
   */
  leafBefore(address: number): number {
    const block = this.#lastBlock
    const leaves = block < 0 ? undefined : this.#cache.get(block)
    if (leaves === undefined || (this.#ipv4Starts[block] ?? 0) > address) return -1
    return block * LEAVES_PER_BLOCK + lastAtMost(leaves.starts, address)
  }

  /** The value of the leaf of an IPv6 address, given as four big-endian words. */
  valueIPv6(words: Uint32Array): number {
    this.prefixLength = 0
    return this.#file.metadata.ipVersion === 6 ? this.#follow(words) : NONE
  }

  /** Finds the leaf of an address, and follows aliases. */
  #follow(address: Uint32Array): number {
    const { base } = this.#file.shape
    let words = address
    /** How many bits of the address were used, less the prefix length of the leaf. */
    let difference = 0
    for (let used = -1; ; used = this.prefixLength) {
      const block = this.#blockOf(words)
      const leaves = this.#leaves(block)
      const leaf = lastNotAfter(leaves, words)
      const length = leaves.prefixLengths[leaf] ?? 0
      this.prefixLength = length + difference
      // Each alias must use more bits of the address, so that the loop ends.
      if (this.prefixLength <= used) throw this.#file.fault('the aliases of the packed file have a loop')
      const value = leaves.values.at(leaf)
      if (value !== ALIAS) return value
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

  /**
   * The values of the first leaves, in the order of their addresses. Leaves out damaged blocks.
   *
   * @param maxVisits nodes and leaves that a walk through the original tree visits to find them. An alias counts as one
   * @throws InvalidDatabaseError when all blocks are damaged, or the file cannot be read
   */
  *firstValues(maxVisits: number): Generator<number> {
    const { base } = this.#file.shape
    const position = new Uint32Array(4)
    const blocks = this.#file.directory.leafBlocks.crc.length
    let visits = 0
    let damaged = 0
    for (let block = 0; block < blocks; block++) {
      const leaves = this.#leavesIfSound(block)
      // Without one sound block, nothing would be known, and every lookup would say "not found".
      if (leaves === null && ++damaged === blocks) this.#leaves(block)
      position.set(this.#file.startOf(block))
      for (let i = 0; i < (leaves?.count ?? 0); i++) {
        const prefixLength = leaves?.prefixLengths[i] ?? 0
        visits += 1 + prefixLength - Math.max(0, leastPrefixLength(position) - base)
        if (visits > maxVisits) return
        yield leaves?.values.at(i) ?? NONE
        advance(position, base + prefixLength)
      }
    }
  }

  #leavesIfSound(block: number): Leaves | null {
    try {
      return this.#leaves(block)
    } catch (error) {
      if (!isGeofixError(error) || error instanceof ReadFailure) throw error
      return null
    }
  }

  /** The offset of a record in the original file, by the value of its leaf, or {@link NO_RECORD}. */
  offsetOf(value: number): number {
    if (value === NONE) return NO_RECORD
    const file = this.#file
    const stored = file.record(value - FIRST_RECORD)
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
 * branches in the loop, which a processor would often predict wrongly.
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

/** The same, searched upwards from an index whose number is at most the given one. Fast if the result is close. */
function lastAtMostFrom(numbers: Uint32Array, most: number, index: number): number {
  let low = index
  let step = 1
  while (low + step < numbers.length && (numbers[low + step] ?? 0) <= most) {
    low += step
    step *= 2
  }
  for (; step > 1; step = Math.ceil(step / 2)) {
    const middle = low + Math.floor(step / 2)
    if (middle < numbers.length && (numbers[middle] ?? 0) <= most) low = middle
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
