import type { InvalidDatabaseError } from '../errors.ts'
import { damage } from './damage.ts'
import { SEPARATOR_LENGTH } from './format.ts'
import type { Metadata } from './metadata.ts'

/** What a question answers when the tree has no record for an address. Offset 0 never holds one. */
export const NO_RECORD = 0

/**
 * The binary search tree of a database (section "Binary Search Tree" of the specification), read in place.
 * An answer is the offset in the file of a record in the data section. {@link PrefixIndex} gives the same
 * answers faster.
 */
export class SearchTree {
  /** How many leading bits of the address settled the last answer: 0 to 32 or 128. */
  prefixLength = 0
  /** Where the data section starts in the file. */
  readonly dataStart: number
  /** The node below which IPv4 addresses live, `::/96` in an IPv6 tree; or the value met on the way there. */
  readonly ipv4Root: number = 0
  /** How many bits lead to {@link ipv4Root}: 0, or up to 96. */
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
    this.dataStart = size + SEPARATOR_LENGTH
    this.#dataEnd = start
    if (this.dataStart > start) {
      throw this.#fault(`the metadata counts ${nodeCount} nodes, more than the file holds`, start)
    }
    if (bytes.subarray(size, this.dataStart).some((byte) => byte !== 0)) {
      throw this.#fault('no separator of 16 zero bytes follows the search tree', size)
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
   * @returns the offset of its record in the file; {@link NO_RECORD} also where the tree is of IPv4 only
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

  /** The left (0) or right (1) record of a node, as it stands in the file. One read of 32 bits each. */
  child(node: number, bit: number): number {
    const view = this.#view
    switch (this.#recordSize) {
      case 24:
        return bit === 0 ? view.getUint32(node * 6) >>> 8 : view.getUint32(node * 6 + 2) & 0xffffff
      case 28: {
        // The middle byte holds the highest four bits of both records, the left one's first.
        const at = node * 7
        if (bit !== 0) return view.getUint32(at + 3) & 0x0fffffff
        return ((view.getUint8(at + 3) & 0xf0) << 20) | (view.getUint32(at) >>> 8)
      }
      default:
        return view.getUint32(node * 8 + bit * 4)
    }
  }

  /**
   * What a value from {@link child} that is not a node means: the offset of a record, or {@link NO_RECORD}.
   *
   * @throws InvalidDatabaseError when it is a node after all, or leads outside the data section
   */
  record(value: number): number {
    const { nodeCount } = this.metadata
    if (value === nodeCount) return NO_RECORD
    const offset = value - nodeCount - SEPARATOR_LENGTH + this.dataStart
    if (offset < this.dataStart || offset >= this.#dataEnd) {
      throw this.#fault(`the search tree leads to ${value}, which is no record`, undefined)
    }
    return offset
  }

  #fault(fault: string, offset: number | undefined): InvalidDatabaseError {
    return damage(fault, offset, this.#path)
  }
}
