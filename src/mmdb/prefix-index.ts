// The fast way to a record. A walk through the search tree costs a memory access per bit of the address, and most
// of them miss the caches. Here the first bits of an address are looked up at once, in a table that holds what the
// walk would have met; for most addresses that is the answer already. Only what is left is walked, on the bytes
// of the file. One table serves IPv4, the other 2000::/3, where all IPv6 addresses with a location are.

import type { SearchTree } from './search-tree.ts'

/** Bits of a table, at most: a million entries, 4 MB. */
const MAX_BITS = 20

/** All of global unicast space, 2000::/3 (RFC 4291 section 2.4), has these first bits. */
const GLOBAL_UNICAST = 0b001
const GLOBAL_UNICAST_BITS = 3

/**
 * How many entries are filled at once, at most. A large network is many entries; this is the square root of all,
 * so no lookup does much of the work of others.
 */
const MAX_FILL = 1024

/** Nothing is known yet. Also of a node 0, which no sound tree leads back to. */
const UNKNOWN = 0

/** Finds records as {@link SearchTree} does, without the lengths of prefixes. */
export class PrefixIndex {
  readonly #tree: SearchTree
  readonly #nodeCount: number
  readonly #bits: number
  /** How far an address is shifted to the right to give its place in a table. */
  readonly #shift: number
  /** By the first bits of an IPv4 address. */
  readonly #ipv4: Int32Array
  /** By the first bits of an IPv6 address behind those of 2000::/3; empty in a tree of IPv4. */
  readonly #ipv6: Int32Array
  readonly #globalUnicastRoot: number

  /** Costs next to nothing: lookups fill the tables, so that opening a file blocks nobody. */
  constructor(tree: SearchTree) {
    const { nodeCount, ipVersion } = tree.metadata
    this.#tree = tree
    this.#nodeCount = nodeCount
    // No more entries than nodes: a small file needs little memory.
    this.#bits = Math.min(MAX_BITS, Math.max(1, Math.floor(Math.log2(nodeCount + 1))))
    this.#shift = 32 - this.#bits
    this.#ipv4 = new Int32Array(2 ** this.#bits)
    this.#ipv6 = new Int32Array(ipVersion === 6 ? 2 ** this.#bits : 0)
    this.#globalUnicastRoot = this.#walk(0, GLOBAL_UNICAST << (32 - GLOBAL_UNICAST_BITS), GLOBAL_UNICAST_BITS)
  }

  /**
   * @param address an unsigned 32-bit number
   * @returns the offset of its record in the file, or `NO_RECORD`
   * @throws InvalidDatabaseError when the tree is damaged where the address leads
   */
  findIPv4(address: number): number {
    let entry = this.#ipv4[address >>> this.#shift] ?? UNKNOWN
    if (entry === UNKNOWN) entry = this.#learn(this.#ipv4, this.#tree.ipv4Root, address)
    if (entry < 0) return ~entry
    return this.#tree.record(this.#walk(entry, address << this.#bits, this.#shift))
  }

  /**
   * @param words an IPv6 address as four big-endian words
   * @returns the offset of its record in the file; `NO_RECORD` also where the tree is of IPv4 only
   * @throws InvalidDatabaseError when the tree is damaged where the address leads
   */
  findIPv6(words: Uint32Array): number {
    const first = words[0] ?? 0
    const isCovered = first >>> (32 - GLOBAL_UNICAST_BITS) === GLOBAL_UNICAST
    if (!isCovered || this.#ipv6.length === 0) return this.#tree.findIPv6(words)
    const rest = first << GLOBAL_UNICAST_BITS
    let entry = this.#ipv6[rest >>> this.#shift] ?? UNKNOWN
    if (entry === UNKNOWN) entry = this.#learn(this.#ipv6, this.#globalUnicastRoot, rest)
    if (entry < 0) return ~entry
    let value = this.#walk(entry, rest << this.#bits, this.#shift - GLOBAL_UNICAST_BITS)
    for (let i = 1; i < 4 && value < this.#nodeCount; i++) value = this.#walk(value, words[i] ?? 0, 32)
    return this.#tree.record(value)
  }

  /** Walks on from a node by the highest bits of a word, until they end or a value is no node. */
  #walk(node: number, word: number, bits: number): number {
    const tree = this.#tree
    const nodeCount = this.#nodeCount
    let value = node
    for (let rest = word, left = bits; value < nodeCount && left > 0; left--) {
      value = tree.child(value, rest >>> 31)
      rest <<= 1
    }
    return value
  }

  /**
   * Walks through the first bits below a root, and notes what is there for all addresses that share them.
   *
   * @returns a node; or, all bits turned, the offset of a record, so that it is negative: files are smaller than
   *   2 GiB
   * @throws InvalidDatabaseError when the tree is damaged there
   */
  #learn(table: Int32Array, root: number, word: number): number {
    let value = root
    let depth = 0
    while (value < this.#nodeCount && depth < this.#bits) {
      value = this.#tree.child(value, (word >>> (31 - depth)) & 1)
      depth++
    }
    const entry = value < this.#nodeCount ? value : ~this.#tree.record(value)
    const width = Math.min(2 ** (this.#bits - depth), MAX_FILL)
    const place = word >>> this.#shift
    const start = place - (place % width)
    table.fill(entry, start, start + width)
    return entry
  }
}
