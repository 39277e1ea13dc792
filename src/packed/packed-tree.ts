import { isGeofixError, ReadFailure } from '../errors.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { BlockCache } from './block-cache.ts'
import { ALIAS, FIRST_RECORD, LEAVES_PER_BLOCK, NONE } from './format.ts'
import { IPv4Blocks, lastAtMost, MARKS_PER_BLOCK } from './ipv4-blocks.ts'
import { type Leaves, MARK_SHIFT } from './leaf-block.ts'
import type { PackedFile } from './packed-file.ts'
import { advance, compare, leastPrefixLength, moved, type Words } from './position.ts'

/**
 * The search tree of a packed database. Finds what `SearchTree` finds: the offset of an address's record in the
 * original file. Reads the blocks that addresses lead to.
 */
export class PackedTree {
  /** How many leading bits of the address the last search used: 0 to 32 or 128. */
  prefixLength = 0
  /** The block in which the last search for an IPv4 address ended. */
  #lastBlock = 0
  readonly #file: PackedFile
  readonly #ipv4: IPv4Blocks
  /** Blocks with IPv6 networks. */
  readonly #cache: BlockCache<Leaves>
  /** By block of IPv4 addresses, the first of them. */
  readonly #ipv4Starts: Uint32Array

  /**
   * @param ipv4Bytes limit of the decoded blocks of IPv4 networks that are kept; the last one always is
   * @param ipv6Bytes the same for all other blocks
   */
  constructor(file: PackedFile, ipv4Bytes: number, ipv6Bytes: number) {
    this.#file = file
    const { word0, word1, word2, word3 } = file.directory.leafBlocks
    this.#cache = new BlockCache(word0.length, ipv6Bytes)
    let count = 0
    while (count < word0.length && word0[count] === 0 && word1[count] === 0 && word2[count] === 0) count++
    this.#ipv4Starts = word3.subarray(0, count)
    this.#ipv4 = new IPv4Blocks(file, ipv4Bytes)
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
   * @param hint the number of a mark at or before the address: the closer, the faster. Negative for none
   * @throws InvalidDatabaseError when the block of the address is damaged
   */
  valueIPv4(address: number, hint = -1): number {
    const starts = this.#ipv4Starts
    let block = hint < 0 ? lastAtMost(starts, 0, starts.length, address) : Math.floor(hint / MARKS_PER_BLOCK)
    let mark = hint < 0 ? -1 : hint % MARKS_PER_BLOCK
    while (block + 1 < starts.length && (starts[block + 1] ?? 0) <= address) {
      block++
      mark = -1
    }
    this.#lastBlock = block
    const value = block < this.#ipv4.count ? this.#ipv4.value(block, address, mark) : ALIAS
    if (value === ALIAS) return this.#follow(Uint32Array.of(0, 0, 0, address))
    this.prefixLength = this.#ipv4.prefixLength
    return value
  }

  /**
   * The number of the last mark before an IPv4 address, as a hint for addresses after it. Reads no block: -1 if the mark is not
   * in the block in which the last search ended.
   */
  markBefore(address: number): number {
    const block = this.#lastBlock
    if ((this.#ipv4Starts[block] ?? 0) > address || block >= this.#ipv4.count) return -1
    const mark = this.#ipv4.markBefore(block, address)
    return mark < 0 ? -1 : block * MARKS_PER_BLOCK + mark
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
      const leaf = lastNotAfter(leaves, words, base)
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
    const row = lastAtMost(leaves, 0, leaves.length, leaf)
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
    const { word0, word1, word2, word3 } = this.#file.directory.leafBlocks
    let low = 0
    for (let high = word0.length; high - low > 1; ) {
      const middle = (low + high) >>> 1
      let difference = (word0[middle] ?? 0) - (words[0] ?? 0)
      if (difference === 0) difference = (word1[middle] ?? 0) - (words[1] ?? 0)
      if (difference === 0) difference = (word2[middle] ?? 0) - (words[2] ?? 0)
      if (difference === 0) difference = (word3[middle] ?? 0) - (words[3] ?? 0)
      if (difference <= 0) low = middle
      else high = middle
    }
    return low
  }
}

/** The last leaf of a block that does not start after a position. */
function lastNotAfter(
  { marks, firstWord, width, prefixLengths }: Leaves,
  words: Words,
  base: number,
): number {
  let low = 0
  for (let high = marks.length / width; high - low > 1; ) {
    const middle = (low + high) >>> 1
    let word = 0
    while (word < width - 1 && marks[middle * width + word] === words[firstWord + word]) word++
    if ((marks[middle * width + word] ?? 0) <= (words[firstWord + word] ?? 0)) low = middle
    else high = middle
  }
  next.fill(0)
  for (let word = 0; word < width; word++) next[firstWord + word] = marks[low * width + word] ?? 0
  for (let leaf = low << MARK_SHIFT; ; leaf++) {
    advance(next, base + (prefixLengths[leaf] ?? 0))
    // After the last leaf of all, the position returns to zero.
    if (leaf === prefixLengths.length - 1 || compare(next, words) > 0) return leaf
  }
}

/** Where the next leaf starts. Reused for every search. */
const next = new Uint32Array(4)
