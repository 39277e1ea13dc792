import { IPV4_ALIASES } from '../address/position.ts'
import { damagedFile } from '../errors.ts'
import type { Metadata } from './metadata.ts'
import { NO_RECORD, type SearchTree } from './search-tree.ts'

/** The parts of a file that finding its networks needs. */
interface Sections {
  readonly tree: SearchTree
  readonly metadata: Metadata
}

/** Nodes that a search for records visits at most: the paths of a damaged tree can be endless. */
const MAX_VISITED_NODES = 100_000

/** Shared subtrees are repeated, so a tree has up to this many networks for each node, and some more. */
const MAX_REPETITION = 4
const MIN_NETWORKS = 65_536

/** Limit of the networks of a tree. */
export function mostNetworks(nodeCount: number): number {
  return MAX_REPETITION * nodeCount + MIN_NETWORKS
}

/**
 * Offsets of the first distinct records of a database, in the order of its networks.
 *
 * @param limit how many records to find at most
 */
export function* firstRecords({ tree, metadata }: Sections, limit: number): Generator<number> {
  const seen = new Set<number>()
  const pending = [0]
  for (let visits = 0; visits < MAX_VISITED_NODES && seen.size < limit; visits++) {
    const value = pending.pop()
    if (value === undefined) return
    if (value < metadata.nodeCount) {
      pending.push(tree.child(value, 1), tree.child(value, 0))
      continue
    }
    const offset = tree.record(value)
    if (offset === NO_RECORD || seen.has(offset)) continue
    seen.add(offset)
    yield offset
  }
}

/** Stands for a subtree that is not known yet. No walk has it as a result. */
export const NOT_WALKED = -(2 ** 31)

/** The steps of a walk of a search tree. Each subtree has a number as its result. */
export interface TreeWalk {
  /** The result of a node if that is known, or {@link NOT_WALKED} to walk its subtree. */
  known(node: number, depth: number): number
  /** The result of a value that is not a node. Called in the order of addresses. */
  leaf(value: number, depth: number): number
  /** The result of a node from those of its two subtrees. */
  join(node: number, left: number, right: number, depth: number): number
}

/**
 * Walks a search tree from a node or a value, depth first and in the order of addresses.
 *
 * @param bits of the addresses below it
 * @param tooDeep gives the result of a path that is longer. Default: throws an InvalidDatabaseError
 */
export function walkTree(
  tree: SearchTree,
  from: number,
  bits: number,
  { known, leaf, join }: TreeWalk,
  tooDeep: () => number = () => {
    throw damagedFile(tooLong(bits), { path: tree.path })
  },
): number {
  const { nodeCount } = tree.metadata
  const walk = (value: number, depth: number): number => {
    if (value >= nodeCount) return leaf(value, depth)
    const result = known(value, depth)
    if (result !== NOT_WALKED) return result
    if (depth === bits) return tooDeep()
    const left = walk(tree.child(value, 0), depth + 1)
    return join(value, left, walk(tree.child(value, 1), depth + 1), depth)
  }
  return walk(from, 0)
}

/** What is wrong with a tree that {@link walkTree} calls too deep. */
export function tooLong(bits: number): string {
  return `the search tree has paths of more than ${bits} bits, the length of an address`
}

/**
 * How many networks of a database have a record. IPv4 networks count once, even if aliases lead to them.
 *
 * @throws InvalidDatabaseError when the search tree is damaged
 */
export function countNetworks({ tree, metadata }: Sections): number {
  // A shared subtree is walked once and added for each use.
  const counts = new Float64Array(metadata.nodeCount).fill(NOT_WALKED)
  const leaf = (value: number): number => (tree.record(value) === NO_RECORD ? 0 : 1)
  let total = walkTree(tree, 0, metadata.ipVersion === 4 ? 32 : 128, {
    known: (node) => counts[node] ?? 0,
    leaf,
    join(node, left, right) {
      counts[node] = left + right
      return left + right
    },
  })
  // In a tree that ends before ::/96, IPv4 has no network of its own.
  if (metadata.ipVersion === 4 || tree.walk(0, 0, 95) >= metadata.nodeCount) return total
  for (const { words, prefixLength } of IPV4_ALIASES) {
    let value = 0
    for (let bits = prefixLength; bits > 0; bits -= 32) {
      value = tree.walk(value, words[(prefixLength - bits) >>> 5] ?? 0, Math.min(bits, 32))
    }
    if (value === tree.ipv4Root) total -= counts[value] ?? leaf(value)
  }
  return total
}
