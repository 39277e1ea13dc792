import type { DataSection } from './data-section.ts'
import type { FaultList } from './fault-list.ts'
import { OffsetSet } from './offset-set.ts'
import { NO_RECORD, type SearchTree } from './search-tree.ts'

/** Of a node that was not visited. */
const UNKNOWN = 255

/** Of a node whose paths are still followed: longer than any address, so that a path back to it is too. */
const ON_PATH = 254

/**
 * Walks a whole search tree: no path is longer than an address, none leads back to itself, every record lies in
 * the data section, and no node is left over. Subtrees that several paths lead to are walked once.
 */
export class TreeCheck {
  /** Where the records are that the tree leads to. */
  readonly records: OffsetSet
  recordCount = 0
  readonly #tree: SearchTree
  readonly #faults: FaultList
  /** Of each node, how many bits the longest path below it has. */
  readonly #heights: Uint8Array
  readonly #bits: number
  #isTooDeep = false

  constructor(tree: SearchTree, data: DataSection, faults: FaultList) {
    const { metadata } = tree
    this.#tree = tree
    this.#faults = faults
    this.#heights = new Uint8Array(metadata.nodeCount).fill(UNKNOWN)
    this.#bits = metadata.ipVersion === 4 ? 32 : 128
    this.records = new OffsetSet(data.base, data.end)
  }

  run(): void {
    const { nodeCount } = this.#tree.metadata
    if (nodeCount === 0) return
    this.#walk()
    if (this.#isTooDeep) {
      this.#faults.add(`the search tree has paths of more than ${this.#bits} bits, the length of an address`)
      // Nodes further down were not visited.
      return
    }
    const unreached = this.#heights.reduce((count, height) => count + (height === UNKNOWN ? 1 : 0), 0)
    if (unreached > 0)
      this.#faults.add(`no path leads to ${unreached} of ${nodeCount} nodes of the search tree`)
  }

  /** Depth first, without recursion: a damaged tree can be as deep as it has nodes. */
  #walk(): void {
    const tree = this.#tree
    const { nodeCount } = tree.metadata
    const heights = this.#heights
    const path = [0]
    heights[0] = ON_PATH
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      let height = 0
      let below: number | undefined
      for (const bit of [0, 1]) {
        const value = tree.child(node, bit)
        if (value >= nodeCount) {
          height = Math.max(height, 1)
          continue
        }
        const known = heights[value] ?? UNKNOWN
        if (known === UNKNOWN) below = value
        else height = Math.max(height, known + 1)
      }
      if (below !== undefined && path.length < this.#bits) {
        heights[below] = ON_PATH
        path.push(below)
        continue
      }
      if (below !== undefined || path.length - 1 + height > this.#bits) this.#isTooDeep = true
      heights[node] = Math.min(height, this.#bits)
      path.pop()
      this.#noteRecords(node)
    }
  }

  #noteRecords(node: number): void {
    const tree = this.#tree
    const { nodeCount } = tree.metadata
    for (const bit of [0, 1]) {
      const value = tree.child(node, bit)
      if (value < nodeCount) continue
      this.#faults.attempt(() => {
        const offset = tree.record(value)
        if (offset !== NO_RECORD && this.records.add(offset)) this.recordCount++
      })
    }
  }
}
