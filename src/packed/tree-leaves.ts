import { damagedFile } from '../errors.ts'
import type { SearchTree } from '../mmdb/search-tree.ts'
import { NodeTable } from '../mmdb/writer/node-table.ts'
import { ALIAS, FIRST_RECORD, NONE } from './format.ts'

/** A leaf that stands for a subtree which came before it. */
export interface Alias {
  /** The number of the leaf in address order. */
  readonly leaf: number
  /** The number of the subtree's first leaf, and the prefix length of the subtree. */
  readonly target: number
  readonly targetLength: number
}

/** A search tree as the networks that its paths end at, in address order. */
export interface TreeLeaves {
  readonly prefixLengths: Uint8Array
  /** {@link NONE}, {@link ALIAS}, or the index of a record in `records` plus {@link FIRST_RECORD}. */
  readonly values: Uint32Array
  readonly aliases: readonly Alias[]
  /** By ascending value, what the tree stores for its records, less the number of nodes. */
  readonly records: Uint32Array
  /** Whether unpacking must join equal subtrees. Otherwise, aliases stand for all shared ones. */
  readonly isMinimal: boolean
  /** How many nodes no path leads to. */
  readonly unreachable: number
}

/** A shared subtree with at least this many leaves becomes an alias. Most smaller ones have few leaves, which take less room than an alias. */
const MIN_ALIAS_LEAVES = 65_536

/** Above about this many leaves a node, every shared subtree becomes an alias, however small. */
const MAX_REPETITION = 4

/**
 * Lists the leaves of a search tree. Nodes that several paths lead to are repeated, or replaced by aliases.
 *
 * @throws InvalidDatabaseError when a path of the tree is longer than an address
 */
export function treeLeaves(tree: SearchTree, path?: string): TreeLeaves {
  const { nodeCount, ipVersion } = tree.metadata
  const counts = leafCounts(tree, ipVersion === 4 ? 32 : 128, path)
  const isMinimal = hasNoEqualNodes(tree)
  const most = MAX_REPETITION * nodeCount + MIN_ALIAS_LEAVES
  const repeated = isMinimal && collect(tree, most, (node) => (counts[node] ?? 0) >= MIN_ALIAS_LEAVES)
  const leaves = repeated || collect(tree, Number.POSITIVE_INFINITY, () => true)
  if (!leaves) throw new RangeError('a tree without repetitions has one leaf more than nodes')
  const unreachable = counts.reduce((sum, count) => sum + (count === 0 ? 1 : 0), 0)
  return { ...withRecords(leaves), aliases: leaves.aliases, isMinimal: repeated !== false, unreachable }
}

/** Leaves with values as the tree stores them. */
interface Collected {
  readonly prefixLengths: Uint8Array
  /** As stored in the file, less the number of nodes. */
  readonly stored: Uint32Array
  readonly aliases: readonly Alias[]
}

/** Marks an alias among stored values. As a record it would be the tree's last node. */
const ALIAS_MARK = 0xffff_ffff

/** @returns `false` when there are more than `most` leaves */
function collect(tree: SearchTree, most: number, isAlias: (node: number) => boolean): Collected | false {
  const { nodeCount } = tree.metadata
  const leaves = new LeafList(nodeCount + 1)
  const aliases: Alias[] = []
  /** By node, the number of its first leaf, or -1. */
  const firstLeaf = new Int32Array(nodeCount).fill(-1)
  const depths = new Uint8Array(nodeCount)
  const pending = [0]
  const pendingDepths = [0]
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    const depth = pendingDepths.pop() ?? 0
    if (leaves.length > most) return false
    if (value >= nodeCount) {
      leaves.add(depth, value - nodeCount)
      continue
    }
    const target = firstLeaf[value] ?? -1
    if (target >= 0 && isAlias(value)) {
      aliases.push({ leaf: leaves.length, target, targetLength: depths[value] ?? 0 })
      leaves.add(depth, ALIAS_MARK)
      continue
    }
    if (target < 0) {
      firstLeaf[value] = leaves.length
      depths[value] = depth
    }
    pending.push(tree.child(value, 1), tree.child(value, 0))
    pendingDepths.push(depth + 1, depth + 1)
  }
  return { ...leaves.end(), aliases }
}

/** Replaces stored values by the indexes of their records, which are smaller numbers. */
function withRecords({
  prefixLengths,
  stored,
}: Collected): Pick<TreeLeaves, 'prefixLengths' | 'values' | 'records'> {
  const distinct = new Set(stored)
  distinct.delete(0)
  distinct.delete(ALIAS_MARK)
  const records = Uint32Array.from(distinct).sort()
  const ranks = new Map<number, number>([
    [0, NONE],
    [ALIAS_MARK, ALIAS],
  ])
  for (const [index, record] of records.entries()) ranks.set(record, index + FIRST_RECORD)
  return { prefixLengths, values: stored.map((value) => ranks.get(value) ?? NONE), records }
}

/** By node, how many leaves are below it. Leaves of shared nodes count each time. */
function leafCounts(tree: SearchTree, bits: number, file: string | undefined): Float64Array {
  const { nodeCount } = tree.metadata
  const counts = new Float64Array(nodeCount)
  const heights = new Uint8Array(nodeCount)
  const path = nodeCount > 0 ? [0] : []
  for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
    let count = 0
    let height = 0
    let unvisited: number | undefined
    for (const bit of [0, 1]) {
      const child = tree.child(node, bit)
      if (child < nodeCount && counts[child] === 0) unvisited = child
      count += child < nodeCount ? (counts[child] ?? 0) : 1
      height = Math.max(height, child < nodeCount ? (heights[child] ?? 0) : 0)
    }
    if (path.length + (unvisited === undefined ? height : 1) > bits) {
      throw damagedFile(`the search tree has paths of more than ${bits} bits, the length of an address`, {
        path: file,
      })
    }
    if (unvisited !== undefined) {
      path.push(unvisited)
      continue
    }
    counts[node] = count
    heights[node] = height + 1
    path.pop()
  }
  return counts
}

function hasNoEqualNodes(tree: SearchTree): boolean {
  const table = new NodeTable()
  for (let node = 0; node < tree.metadata.nodeCount; node++) {
    if (table.sharedNode(tree.child(node, 0), tree.child(node, 1)) <= node) return false
  }
  return true
}

/** Grows as leaves are added. */
class LeafList {
  length = 0
  #prefixLengths: Uint8Array
  #stored: Uint32Array

  constructor(capacity: number) {
    this.#prefixLengths = new Uint8Array(capacity)
    this.#stored = new Uint32Array(capacity)
  }

  add(prefixLength: number, stored: number): void {
    if (this.length === this.#stored.length) this.#grow()
    this.#prefixLengths[this.length] = prefixLength
    this.#stored[this.length] = stored
    this.length++
  }

  end(): { readonly prefixLengths: Uint8Array; readonly stored: Uint32Array } {
    return {
      prefixLengths: this.#prefixLengths.slice(0, this.length),
      stored: this.#stored.slice(0, this.length),
    }
  }

  #grow(): void {
    const prefixLengths = new Uint8Array(2 * this.length)
    prefixLengths.set(this.#prefixLengths)
    this.#prefixLengths = prefixLengths
    const stored = new Uint32Array(2 * this.length)
    stored.set(this.#stored)
    this.#stored = stored
  }
}
