import type { AddressIndex } from '../mmdb/database.ts'
import { NO_RECORD } from '../mmdb/search-tree.ts'
import type { PackedTree } from './packed-tree.ts'

/** A table of this many bits has a million entries, 4 MB. */
const TABLE_BITS = 20
const SHIFT = 32 - TABLE_BITS

/** An entry without a result. Results are stored as their complements, which are negative. */
const UNKNOWN = 0

/**
 * Results by the first 20 bits of an IPv4 address, where all addresses with those bits have one. Most addresses on the
 * internet are in networks that large.
 */
export class PackedIndex implements AddressIndex {
  readonly #tree: PackedTree
  readonly #ipv4Depth: number
  readonly #resultOf: (offset: number) => number
  readonly #table = new Int32Array(2 ** TABLE_BITS)

  /**
   * @param ipv4Depth bits before those of an IPv4 address in the tree
   * @param resultOf gives the result for the offset of a record: an integer from 1 to 2 ** 31 - 1, or 0 for none
   */
  constructor(tree: PackedTree, ipv4Depth: number, resultOf: (offset: number) => number) {
    this.#tree = tree
    this.#ipv4Depth = ipv4Depth
    this.#resultOf = resultOf
  }

  findIPv4(address: number): number {
    const entry = this.#table[address >>> SHIFT] ?? UNKNOWN
    if (entry < 0) return ~entry
    const result = this.#result(this.#tree.findIPv4(address))
    if (this.#tree.prefixLength - this.#ipv4Depth <= TABLE_BITS) this.#table[address >>> SHIFT] = ~result
    return result
  }

  findIPv6(words: Uint32Array): number {
    return this.#result(this.#tree.findIPv6(words))
  }

  clear(): void {
    this.#table.fill(UNKNOWN)
  }

  #result(offset: number): number {
    return offset === NO_RECORD ? NO_RECORD : this.#resultOf(offset)
  }
}
