import { SEPARATOR_LENGTH } from '../format.ts'
import { EMPTY, isNode, type Link, valueOfLink } from './link.ts'
import type { NodeTable } from './node-table.ts'

/** Bits of one record; a node has two. The specification allows more sizes; these are the ones that readers know. */
export type RecordSize = 24 | 28 | 32

/**
 * A finished search tree: the nodes that can be reached from the root, numbered from the root's 0 in reverse
 * post-order, right side visited first. A node then mostly stands right before its left child, so the record
 * that leads there is "my number + 1", and neighbours in the file are neighbours in the address space.
 */
export class SearchTree {
  readonly nodeCount: number
  readonly #table: NodeTable
  readonly #root: Link
  /** By node of the table: 1 + how many nodes were finished before it; 0 for nodes that are not in this tree. */
  readonly #finished: Int32Array

  constructor(table: NodeTable, root: Link) {
    this.#table = table
    this.#root = root
    this.#finished = new Int32Array(table.end)
    let count = 0
    const visit = (node: Link): void => {
      const right = table.right(node)
      if (isNode(right) && this.#finished[right] === 0) visit(right)
      const left = table.left(node)
      if (isNode(left) && this.#finished[left] === 0) visit(left)
      this.#finished[node] = ++count
    }
    // A tree that says the same everywhere is no node in the table; the file needs one all the same.
    if (isNode(root)) visit(root)
    this.nodeCount = Math.max(count, 1)
  }

  /** The numbers of all values in the tree, each once, ascending. */
  values(): number[] {
    const values = new Set<number>()
    this.#forEachNode((_, left, right) => {
      if (left < EMPTY) values.add(valueOfLink(left))
      if (right < EMPTY) values.add(valueOfLink(right))
    })
    return [...values].sort((a, b) => a - b)
  }

  /** The smallest record size for a data section in which the last record starts at `lastOffset`. */
  recordSizeFor(lastOffset: number): RecordSize {
    const largest = this.#largestRecord(lastOffset)
    if (largest < 2 ** 24) return 24
    return largest < 2 ** 28 ? 28 : 32
  }

  /**
   * The tree as bytes ("Binary Search Tree Section").
   *
   * @param offsetOf where in the data section a value stands
   * @throws RangeError when a record would not fit in `recordSize`
   */
  toBytes(recordSize: RecordSize, offsetOf: (value: number) => number, lastOffset: number): Uint8Array {
    const largest = this.#largestRecord(lastOffset)
    if (largest >= 2 ** recordSize) {
      const smallest = largest < 2 ** 32 ? `; it needs ${this.recordSizeFor(lastOffset)}` : ''
      throw new RangeError(
        `${this.nodeCount} nodes and ${lastOffset} bytes of data do not fit in a record size of ${recordSize}${smallest}`,
      )
    }
    const nodeLength = (recordSize * 2) / 8
    const bytes = new Uint8Array(this.nodeCount * nodeLength)
    const write = writers[recordSize]
    const record = (link: Link): number => {
      if (link === EMPTY) return this.nodeCount
      if (link > 0) return this.#number(link)
      return this.nodeCount + SEPARATOR_LENGTH + offsetOf(valueOfLink(link))
    }
    this.#forEachNode((number, left, right) => write(bytes, number * nodeLength, record(left), record(right)))
    return bytes
  }

  #largestRecord(lastOffset: number): number {
    return this.nodeCount + SEPARATOR_LENGTH + lastOffset
  }

  #number(node: Link): number {
    return this.nodeCount - (this.#finished[node] ?? 0)
  }

  #forEachNode(callback: (number: number, left: Link, right: Link) => void): void {
    if (!isNode(this.#root)) {
      callback(0, this.#root, this.#root)
      return
    }
    for (let node = 1; node < this.#finished.length; node++) {
      if (this.#finished[node] !== 0)
        callback(this.#number(node), this.#table.left(node), this.#table.right(node))
    }
  }
}

type NodeWriter = (bytes: Uint8Array, at: number, left: number, right: number) => void

/** The three node layouts of the specification's "Node Layout". */
const writers: Record<RecordSize, NodeWriter> = {
  24: (bytes, at, left, right) => {
    writeLow24(bytes, at, left)
    writeLow24(bytes, at + 3, right)
  },
  28: (bytes, at, left, right) => {
    writeLow24(bytes, at, left)
    // The middle byte holds the highest four bits of both: the left record's first.
    bytes[at + 3] = ((left >>> 20) & 0xf0) | ((right >>> 24) & 0x0f)
    writeLow24(bytes, at + 4, right)
  },
  32: (bytes, at, left, right) => {
    bytes[at] = left >>> 24
    writeLow24(bytes, at + 1, left)
    bytes[at + 4] = right >>> 24
    writeLow24(bytes, at + 5, right)
  },
}

function writeLow24(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = (value >>> 16) & 0xff
  bytes[at + 1] = (value >>> 8) & 0xff
  bytes[at + 2] = value & 0xff
}
