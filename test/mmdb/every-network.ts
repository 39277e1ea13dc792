import type { Database } from '../../src/mmdb/database.ts'

/**
 * @param value of the network in the tree: the node count for no record, otherwise a record
 * @param first the network's first address, for IPv4 in an IPv6 tree after 96 zero bits; overwritten afterwards
 * @param depth the prefix length
 */
type Visit = (value: number, first: Uint32Array, depth: number) => void

/**
 * Visits the networks of a valid database in order, including those without a record. Visits IPv4 networks once,
 * not again through aliases.
 */
export function visitNetworks({ tree, metadata }: Database, visit: Visit): void {
  const { nodeCount, ipVersion } = metadata
  const words = new Uint32Array(ipVersion === 4 ? 1 : 4)
  const walk = (value: number, depth: number): void => {
    if (value >= nodeCount) {
      visit(value, words, depth)
      return
    }
    if (value === tree.ipv4Root && ipVersion === 6 && words.some((word) => word !== 0)) return
    const index = depth >>> 5
    walk(tree.child(value, 0), depth + 1)
    words[index] = (words[index] ?? 0) | (1 << (31 - (depth & 31)))
    walk(tree.child(value, 1), depth + 1)
    words[index] = (words[index] ?? 0) & ~(1 << (31 - (depth & 31)))
  }
  walk(0, 0)
}

/** The last address of a network. */
export function lastOf(first: Uint32Array, depth: number): Uint32Array {
  return first.map((word, index) => {
    const fixed = Math.min(Math.max(depth - 32 * index, 0), 32)
    return fixed === 32 ? word : word | (0xffffffff >>> fixed)
  })
}

/** The offset of a record in the file, by the specification: after the tree and its separator of 16 bytes. */
export function offsetOf({ metadata }: Database, value: number): number {
  const { nodeCount, recordSize } = metadata
  return value === nodeCount ? 0 : value - nodeCount + (nodeCount * recordSize) / 4
}
