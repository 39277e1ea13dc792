import { damagedFile, type InvalidDatabaseError } from '../errors.ts'
import { SEPARATOR_BYTES } from './format.ts'
import type { Metadata } from './metadata.ts'

/** The result for an address without a record. No record has the offset 0. */
export const NO_RECORD = 0

/**
 * The binary search tree of a database (section "Binary Search Tree" of the specification), read in place.
 * Finds the offset in the file of an address's record in the data section. `PrefixIndex` finds the same offsets,
 * faster.
 */
export class SearchTree {
  /** How many leading bits of the address the last search used: 0 to 32 or 128. */
  prefixLength = 0
  /** Where the data section starts in the file. */
  readonly dataStart: number
  /** The node of all IPv4 addresses: `::/96` in an IPv6 tree, or the record value where the path there ends early. */
  readonly ipv4Root: number = 0
  /** Bits on the path to {@link ipv4Root}: 0, or up to 96. */
  readonly ipv4RootDepth: number = 0

  readonly #view: DataView
  readonly #recordSize: number
  readonly #dataEnd: number
  readonly #path: string | undefined

  constructor(
    bytes: Uint8Array,
    readonly metadata: Metadata,
    path?: string,
  ) {
    const { nodeCount, recordSize, ipVersion, start } = metadata
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#recordSize = recordSize
    this.#path = path
    const size = (nodeCount * recordSize) / 4
    this.dataStart = size + SEPARATOR_BYTES
    this.#dataEnd = start
    if (this.dataStart > start) {
      throw this.#fault(`the metadata has a node_count of ${nodeCount}, more than the file holds`, start)
    }
    if (bytes.subarray(size, this.dataStart).some((byte) => byte !== 0)) {
      throw this.#fault('the 16 bytes after the search tree are not all zero', size)
    }
    if (ipVersion === 6) {
      let depth = 0
      let node = 0
      while (depth < 96 && node < nodeCount) {
        node = this.child(node, 0)
        depth++
      }
      this.ipv4Root = node
      this.ipv4RootDepth = depth
    }
  }

  /**
   * @param address an unsigned 32-bit number
   * @returns the offset of its record in the file, or {@link NO_RECORD}
   */
  findIPv4(address: number): number {
    const { nodeCount } = this.metadata
    let node = this.ipv4Root
    let depth = 0
    while (node < nodeCount && depth < 32) {
      node = this.child(node, (address >>> (31 - depth)) & 1)
      depth++
    }
    this.prefixLength = this.ipv4RootDepth + depth
    return this.record(node)
  }

  /**
   * @param words an IPv6 address as four big-endian words
   * @returns the offset of its record in the file, or {@link NO_RECORD}, always so in an IPv4 tree
   */
  findIPv6(words: Uint32Array): number {
    this.prefixLength = 0
    const { nodeCount, ipVersion } = this.metadata
    if (ipVersion !== 6) return NO_RECORD
    let node = 0
    let depth = 0
    while (node < nodeCount && depth < 128) {
      node = this.child(node, ((words[depth >>> 5] ?? 0) >>> (31 - (depth & 31))) & 1)
      depth++
    }
    this.prefixLength = depth
    return this.record(node)
  }

  /** The left (0) or right (1) record of a node, as stored in the file. Reads 32 bits at once. */
  child(node: number, bit: number): number {
    const view = this.#view
    switch (this.#recordSize) {
      case 24:
        return bit === 0 ? view.getUint32(node * 6) >>> 8 : view.getUint32(node * 6 + 2) & 0xffffff
      case 28: {
        // The middle byte holds the highest four bits of both records, those of the left record first. Reading both
        // and choosing is faster than a branch on a bit of the address, which the processor cannot predict.
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
    return damagedFile(fault, { offset, path: this.#path })
  }
}
