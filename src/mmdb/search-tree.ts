import { moveToEnd, sharedBits, type Words } from '../address/position.ts'
import { damagedFile, type InvalidDatabaseError } from '../errors.ts'
import { SEPARATOR_BYTES } from './format.ts'
import type { Metadata } from './metadata.ts'

/** The result for an address without a record. No record has the offset 0. */
export const NO_RECORD = 0

/**
 * The binary search tree of a database (section "Binary Search Tree" of the specification), read in place.
 */
export class SearchTree {
  /** Where the data section starts in the file. */
  readonly dataStart: number
  /** The node of all IPv4 addresses: `::/96` in an IPv6 tree, or the record value where the path there ends early. */
  readonly ipv4Root: number = 0

  readonly #view: DataView
  readonly #recordSize: number
  readonly #dataEnd: number

  constructor(
    bytes: Uint8Array,
    readonly metadata: Metadata,
    readonly path?: string,
  ) {
    const { nodeCount, recordSize, ipVersion, start } = metadata
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#recordSize = recordSize
    const size = (nodeCount * recordSize) / 4
    this.dataStart = size + SEPARATOR_BYTES
    this.#dataEnd = start
    if (this.dataStart > start) {
      throw this.#fault(`the metadata has a node_count of ${nodeCount}, more than the file holds`, start)
    }
    if (bytes.subarray(size, this.dataStart).some((byte) => byte !== 0)) {
      throw this.#fault('the 16 bytes after the search tree are not all zero', size)
    }
    if (ipVersion === 6) this.ipv4Root = this.walk(0, 0, 96)
  }

  /** Walks from a node by the highest bits of a word, until the bits end or a value is not a node. Zeros follow the word. */
  walk(node: number, word: number, bits: number): number {
    const { nodeCount } = this.metadata
    let value = node
    let left = bits
    for (let rest = word; value < nodeCount && left > 0; left--) {
      value = this.child(value, rest >>> 31)
      rest <<= 1
    }
    return value
  }

  /** The left (0) or right (1) record of a node, as stored in the file. Reads 32 bits at once. */
  child(node: number, bit: number): number {
    const view = this.#view
    switch (this.#recordSize) {
      case 24:
        return bit === 0 ? view.getUint32(node * 6) >>> 8 : view.getUint32(node * 6 + 2) & 0xffffff
      case 28: {
        // The middle byte holds the highest four bits of both records, those of the left record first. Reading both
        // and choosing avoids a branch on a bit of the address, which the processor cannot predict.
        const at = node * 7
        const end = view.getUint32(at + 3)
        const left = ((end >>> 4) & 0x0f000000) | (view.getUint32(at) >>> 8)
        const right = end & 0x0fffffff
        return left ^ ((left ^ right) & -bit)
      }
      default:
        return view.getUint32(node * 8 + bit * 4)
    }
  }

  /**
   * Converts a value from {@link child} that is not a node to the offset of a record, or {@link NO_RECORD}.
   *
   * @throws InvalidDatabaseError when the value is a node, or leads outside the data section
   */
  record(value: number): number {
    const { nodeCount } = this.metadata
    if (value === nodeCount) return NO_RECORD
    const offset = value - nodeCount - SEPARATOR_BYTES + this.dataStart
    if (offset < this.dataStart || offset >= this.#dataEnd) {
      throw this.#fault(`the search tree leads to ${value}, which is not a record`, undefined)
    }
    return offset
  }

  #fault(fault: string, offset: number | undefined): InvalidDatabaseError {
    return damagedFile(fault, { offset, path: this.path })
  }
}

/** Goes over the networks of a tree, with the path to the last one. */
export class TreeRanges {
  offset = NO_RECORD
  readonly end = new Uint32Array(4)
  readonly #tree: SearchTree
  readonly #position = new Uint32Array(4)
  /** The values on the path, by depth. IPv4 trees begin at the depth 96. */
  readonly #values = new Float64Array(129)
  #depth: number

  constructor(tree: SearchTree) {
    this.#tree = tree
    this.#depth = tree.metadata.ipVersion === 4 ? 96 : 0
  }

  get prefixLength(): number {
    return this.#depth
  }

  seek(position: Words): void {
    const { nodeCount } = this.#tree.metadata
    let depth = Math.min(this.#depth, sharedBits(position, this.#position))
    let value = this.#values[depth] ?? 0
    while (value < nodeCount && depth < 128) {
      const word = position[depth >>> 5] ?? 0
      value = this.#tree.child(value, (word >>> (31 - (depth & 31))) & 1)
      this.#values[++depth] = value
    }
    this.#depth = depth
    this.#position.set(position)
    this.offset = this.#tree.record(value)
    this.end.set(position)
    moveToEnd(this.end, depth)
  }
}

// The short path to a record. A walk through the search tree costs one memory access for each bit of the address, and
// most of them miss the CPU caches. A table replaces the walk for the first bits of an address, and for most addresses
// its entry is the result. Only the remaining bits are walked in the file's bytes. There is one table for IPv4 and one
// for 2000::/3, where all IPv6 addresses with a location are. Entries can hold a result other than the offset.

/** A table of this many bits has a million entries, 4 MB. */
const MAX_TABLE_BITS = 20

/** The first bits of global unicast space, 2000::/3 (RFC 4291 section 2.4). */
const GLOBAL_UNICAST = 0b001
const GLOBAL_UNICAST_BITS = 3

/**
 * A lookup also fills the entries that differ from its own in this many last bits only. Their nodes lie close together in
 * the file, and each walk from the root would read many distant places.
 */
const FILLED_BITS = 8

/** An entry that is not filled. Node 0 is not needed as an entry: a valid tree does not lead back to its root. */
const UNKNOWN = 0

/** Bits of the table. It has no more entries than the tree has nodes, so that a small file needs little memory. */
function tableBits({ nodeCount }: Metadata): number {
  return Math.min(MAX_TABLE_BITS, Math.max(1, Math.floor(Math.log2(nodeCount + 1))))
}

/** Finds records as {@link TreeRanges} does, in fewer steps. */
export class PrefixIndex {
  readonly #tree: SearchTree
  readonly #ranges: TreeRanges
  readonly #nodeCount: number
  readonly #bits: number
  /** How far an address is shifted to the right to give its index in a table. */
  readonly #shift: number
  /** Entries by the first bits of an IPv4 address. */
  readonly #ipv4: Int32Array
  /** Entries by the first bits of an IPv6 address after the bits of 2000::/3; empty for an IPv4 tree. */
  readonly #ipv6: Int32Array
  readonly #globalUnicastRoot: number
  readonly #resultOf: (offset: number) => number

  /**
   * Lookups fill the tables. Opening a file fills none of them.
   *
   * @param resultOf gives the result for the offset of a record in the file: an integer from 1 to 2 ** 31 - 1, or 0 for
   *   none. Called once for each entry, and for each lookup that walks further
   */
  constructor(tree: SearchTree, resultOf: (offset: number) => number) {
    const { nodeCount, ipVersion } = tree.metadata
    this.#tree = tree
    this.#ranges = new TreeRanges(tree)
    this.#resultOf = resultOf
    this.#nodeCount = nodeCount
    this.#bits = tableBits(tree.metadata)
    this.#shift = 32 - this.#bits
    const entries = 2 ** this.#bits
    this.#ipv4 = new Int32Array(entries)
    this.#ipv6 = new Int32Array(ipVersion === 6 ? entries : 0)
    this.#globalUnicastRoot = this.#tree.walk(
      0,
      GLOBAL_UNICAST << (32 - GLOBAL_UNICAST_BITS),
      GLOBAL_UNICAST_BITS,
    )
  }

  /** Empties the tables, after the results have changed. */
  clear(): void {
    this.#ipv4.fill(UNKNOWN)
    this.#ipv6.fill(UNKNOWN)
  }

  /**
   * @param address an unsigned 32-bit number
   * @returns the result for its record, or `NO_RECORD`
   * @throws InvalidDatabaseError when the tree is damaged on the address's path
   */
  findIPv4(address: number): number {
    const table = this.#ipv4
    const place = address >>> this.#shift
    let entry = table[place] ?? UNKNOWN
    if (entry < 0) return ~entry
    if (entry === UNKNOWN) entry = this.#fillEntries(table, this.#tree.ipv4Root, address)
    const value = this.#tree.walk(entry, address << this.#bits, this.#shift)
    return this.#resultAt(value, entry, table, place)
  }

  /**
   * @param words an IPv6 address as four big-endian words
   * @returns the result for its record, or `NO_RECORD`; always `NO_RECORD` in an IPv4 tree
   * @throws InvalidDatabaseError when the tree is damaged on the address's path
   */
  findIPv6(words: Uint32Array): number {
    if (this.#ipv6.length === 0) return NO_RECORD
    const first = words[0] ?? 0
    if (first >>> (32 - GLOBAL_UNICAST_BITS) !== GLOBAL_UNICAST) {
      this.#ranges.seek(words)
      return this.#resultFor(this.#ranges.offset)
    }
    const rest = first << GLOBAL_UNICAST_BITS
    const table = this.#ipv6
    const place = rest >>> this.#shift
    let entry = table[place] ?? UNKNOWN
    if (entry < 0) return ~entry
    if (entry === UNKNOWN) entry = this.#fillEntries(table, this.#globalUnicastRoot, rest)
    let value = this.#tree.walk(entry, rest << this.#bits, this.#shift - GLOBAL_UNICAST_BITS)
    for (let i = 1; i < 4 && value < this.#nodeCount; i++) value = this.#tree.walk(value, words[i] ?? 0, 32)
    return this.#resultAt(value, entry, table, place)
  }

  /** The result for a value that is not a node. If the entry holds the value, the result replaces it. */
  #resultAt(value: number, entry: number, table: Int32Array, place: number): number {
    const result = this.#resultFor(this.#tree.record(value))
    if (entry >= this.#nodeCount) table[place] = ~result
    return result
  }

  #resultFor(offset: number): number {
    return offset === NO_RECORD ? NO_RECORD : this.#resultOf(offset)
  }

  /**
   * Fills the entries around that of a word with what the tree has for them: a node, or the value of a record.
   *
   * @returns the entry of the word, even if it cannot be stored
   */
  #fillEntries(table: Int32Array, root: number, word: number): number {
    const filledBits = Math.min(FILLED_BITS, this.#bits)
    const place = word >>> this.#shift
    const top = this.#tree.walk(root, word, this.#bits - filledBits)
    this.#fill(table, top, place - (place % 2 ** filledBits), 2 ** filledBits)
    return this.#tree.walk(top, word << (this.#bits - filledBits), filledBits)
  }

  /** Fills a range of entries with what the tree has from a value on. */
  #fill(table: Int32Array, value: number, start: number, width: number): void {
    if (width === 1 || value >= this.#nodeCount) {
      // A valid file is smaller than 2 GiB, so a greater value is damage. It is not stored: each lookup walks and throws.
      const entry = value < 2 ** 31 ? value : UNKNOWN
      // A loop: for up to four entries, `fill` takes three times as long or more.
      for (let place = start; place < start + width; place++) table[place] = entry
      return
    }
    this.#fill(table, this.#tree.child(value, 0), start, width / 2)
    this.#fill(table, this.#tree.child(value, 1), start + width / 2, width / 2)
  }
}
