import type { AddressIndex } from '../mmdb/database.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import { NONE } from './format.ts'
import type { PackedTree } from './packed-tree.ts'

/** A table of this many bits has a million entries, 4 MB. */
const TABLE_BITS = 20
const SHIFT = 32 - TABLE_BITS
/** Addresses of an entry. V8 does not fold this power: in each lookup, it would take 50 ns. */
const ENTRY_ADDRESSES = 2 ** SHIFT

/**
 * After this many searches in a block, the entries of its addresses are filled. A search without them waits for memory a dozen
 * times. Filling them takes as long as decoding the block, which is a twentieth of the time of 1,000 lookups in a new process.
 */
const HINTED_SEARCHES = 4

/** An entry or a result that is not filled. Results are stored as their complements, which are negative. */
const UNKNOWN = 0

/**
 * A table by the first 20 bits of IPv4 addresses. An entry has the result, if all its addresses have the same one.
 * Otherwise it has the run of its first address, where the search then starts.
 */
export class PackedIndex implements AddressIndex {
  readonly #tree: PackedTree
  readonly #resultOf: (offset: number) => number
  /** The complement of a result, or one more than the number of a run. */
  readonly #table = new Int32Array(2 ** TABLE_BITS)
  /** By block of the file, how many searches were in it until the entries of its addresses were filled. */
  readonly #searches: Uint8Array
  /** The complement of the result for each value of a run. */
  readonly #results: Int32Array

  /**
   * @param blocks how many blocks the file has
   * @param valueCount one more than the largest value of a run
   * @param resultOf gives the result for the offset of a record: an integer from 1 to 2 ** 31 - 1, or 0 for none
   */
  constructor(tree: PackedTree, blocks: number, valueCount: number, resultOf: (offset: number) => number) {
    this.#tree = tree
    this.#searches = new Uint8Array(blocks)
    this.#results = new Int32Array(valueCount)
    this.#resultOf = resultOf
  }

  findIPv4(address: number): number {
    const place = address >>> SHIFT
    const entry = this.#table[place] ?? UNKNOWN
    if (entry < 0) return ~entry
    const tree = this.#tree
    const value = tree.valueIPv4(address, entry - 1)
    if (entry === UNKNOWN) this.#hint()
    const known = this.#results[value] ?? UNKNOWN
    const result = known < 0 ? ~known : this.#result(value)
    const first = (place << SHIFT) >>> 0
    if (tree.isInRun(first, first + ENTRY_ADDRESSES - 1)) this.#table[place] = ~result
    return result
  }

  findIPv6(words: Uint32Array): number {
    return this.#result(this.#tree.valueIPv6(words))
  }

  clear(): void {
    this.#table.fill(UNKNOWN)
    this.#searches.fill(0)
    this.#results.fill(UNKNOWN)
  }

  /** Fills all entries of the block of the last search, if it is time. */
  #hint(): void {
    const { block } = this.#tree
    const searches = (this.#searches[block] ?? 0) + 1
    if (searches > HINTED_SEARCHES) return
    this.#searches[block] = searches
    if (searches === HINTED_SEARCHES) this.#tree.writeHints(this.#table, SHIFT)
  }

  #result(value: number): number {
    if (value === NONE) return NO_RECORD
    const known = this.#results[value] ?? UNKNOWN
    if (known < 0) return ~known
    const offset = this.#tree.offsetOf(value)
    const result = offset === NO_RECORD ? NO_RECORD : this.#resultOf(offset)
    this.#results[value] = ~result
    return result
  }
}
