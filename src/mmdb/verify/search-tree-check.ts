import type { DataSection } from '../data-section.ts'
import { NO_RECORD, type SearchTree } from '../search-tree.ts'
import type { FaultList } from './fault-list.ts'

/** Height of a node that was not visited. */
const UNKNOWN = 255

/** Height of a node on the current path. More than any address has bits, so that a cycle counts as too deep. */
const ON_PATH = 254

/**
 * Walks a whole search tree: every path ends within the length of an address, every record lies in the data
 * section, and every node is reachable. A subtree with several paths to it is walked once.
 */
export class SearchTreeCheck {
  /** Offsets of the records that the tree leads to. */
  readonly records: OffsetSet
  recordCount = 0
  readonly #tree: SearchTree
  readonly #faults: FaultList
  /** By node, the bits of the longest path below it. */
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
      let unvisited: number | undefined
      for (const bit of [0, 1]) {
        const value = tree.child(node, bit)
        if (value >= nodeCount) {
          height = Math.max(height, 1)
          continue
        }
        const known = heights[value] ?? UNKNOWN
        if (known === UNKNOWN) unvisited = value
        else height = Math.max(height, known + 1)
      }
      if (unvisited !== undefined && path.length < this.#bits) {
        heights[unvisited] = ON_PATH
        path.push(unvisited)
        continue
      }
      if (unvisited !== undefined || path.length - 1 + height > this.#bits) this.#isTooDeep = true
      heights[node] = Math.min(height, this.#bits)
      path.pop()
      this.#addRecords(node)
    }
  }

  #addRecords(node: number): void {
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

/** A set of offsets within a section of a file: one bit for each byte of the section. */
export class OffsetSet {
  readonly #base: number
  readonly #bits: Uint8Array

  /**
   * @param base the lowest offset
   * @param end one more than the highest offset
   */
  constructor(base: number, end: number) {
    this.#base = base
    this.#bits = new Uint8Array(Math.ceil(Math.max(end - base, 0) / 8))
  }

  /** @returns whether the offset was not in the set before */
  add(offset: number): boolean {
    const at = offset - this.#base
    const mask = 1 << (at & 7)
    const byte = this.#bits[at >>> 3] ?? 0
    this.#bits[at >>> 3] = byte | mask
    return (byte & mask) === 0
  }

  has(offset: number): boolean {
    const at = offset - this.#base
    return ((this.#bits[at >>> 3] ?? 0) & (1 << (at & 7))) !== 0
  }

  /** In ascending order. */
  *[Symbol.iterator](): Generator<number> {
    for (const [index, byte] of this.#bits.entries()) {
      if (byte === 0) continue
      for (let bit = 0; bit < 8; bit++) if ((byte & (1 << bit)) !== 0) yield this.#base + index * 8 + bit
    }
  }
}
