import type { DataSection } from './data-section.ts'
import type { Metadata } from './metadata.ts'
import { NO_RECORD, type SearchTree } from './search-tree.ts'

/** The parts of a file that finding its networks needs. */
interface Sections {
  readonly tree: SearchTree
  readonly metadata: Metadata
  readonly data: DataSection
}

/** Nodes that a search for records visits at most: the paths of a damaged tree can be endless. */
export const MAX_VISITED_NODES = 100_000

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

/** Leading bits of the IPv6 networks that are aliases of the IPv4 networks in many trees. */
const ALIASES: readonly string[] = [
  // ::ffff:0:0/96, IPv4-mapped
  `${'0'.repeat(80)}${'1'.repeat(16)}`,
  // 2001::/32, Teredo
  (0x2001_0000).toString(2).padStart(32, '0'),
  // 2002::/16, 6to4
  (0x2002).toString(2).padStart(16, '0'),
]

/**
 * How many networks of a database have a record. IPv4 networks count once, even if aliases lead to them.
 *
 * @throws InvalidDatabaseError when the search tree is damaged
 */
export function countNetworks(database: Sections): number {
  const { tree } = database
  const counts = networksBelow(database)
  const count = (value: number): number => counts[value] ?? (tree.record(value) === NO_RECORD ? 0 : 1)
  let total = count(0)
  if (tree.ipv4RootDepth !== 96) return total
  for (const bits of ALIASES) {
    let value = 0
    for (const bit of bits) {
      if (value >= database.metadata.nodeCount) break
      value = tree.child(value, Number(bit))
    }
    if (value === tree.ipv4Root) total -= count(value)
  }
  return total
}

/** By node, how many networks with a record are below it. A shared subtree is walked once and added for each use. */
function networksBelow({ tree, metadata, data }: Sections): Float64Array {
  const { nodeCount, ipVersion } = metadata
  const counts = new Float64Array(nodeCount).fill(-1)
  const maxDepth = ipVersion === 4 ? 32 : 128
  const path = nodeCount > 0 ? [0] : []
  for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
    let sum = 0
    let unvisited: number | undefined
    for (const bit of [0, 1]) {
      const value = tree.child(node, bit)
      if (value >= nodeCount) sum += tree.record(value) === NO_RECORD ? 0 : 1
      else if (counts[value] === -1) unvisited = value
      else sum += counts[value] ?? 0
    }
    if (unvisited !== undefined) {
      if (path.length >= maxDepth) throw data.fault(`the search tree is deeper than ${maxDepth} nodes`)
      path.push(unvisited)
      continue
    }
    counts[node] = sum
    path.pop()
  }
  return counts
}
