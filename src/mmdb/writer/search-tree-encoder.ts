import { SEPARATOR_BYTES } from '../format.ts'
import type { NodeTable } from './node-table.ts'
import { EMPTY, isNode, type Link, valueOfLink } from './node-table.ts'

/** Bits of one record; a node has two. The specification allows more sizes, but readers support only these. */
export type RecordSize = 24 | 28 | 32

/**
 * Encodes a finished search tree: the nodes reachable from the root, numbered from 0 (the root) in reverse
 * post-order, right side visited first. Most nodes then directly precede their left child, and nodes that are close
 * in the file are close in the address space.
 */
export class SearchTreeEncoder {
  readonly nodeCount: number
  readonly #table: NodeTable
  readonly #root: Link
  /** The position of each node of the table in post-order, from 1; 0 for nodes that are not in this tree. */
  readonly #postOrder: Int32Array

  constructor(table: NodeTable, root: Link) {
    this.#table = table
    this.#root = root
    this.#postOrder = new Int32Array(table.end)
    let count = 0
    // Do not recurse: aliases of a hostile packed file can make paths of any length.
    const path = isNode(root) ? [root] : []
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      const right = table.right(node)
      const left = table.left(node)
      if (isNode(right) && this.#postOrder[right] === 0) path.push(right)
      else if (isNode(left) && this.#postOrder[left] === 0) path.push(left)
      else {
        this.#postOrder[node] = ++count
        path.pop()
      }
    }
    // A tree with the same value everywhere has no node in the table, but a file needs at least one.
    this.nodeCount = Math.max(count, 1)
  }

  /** The ids of all values in the tree, each once, in ascending order. */
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
   * @param offsetOf the offset of a value in the data section, by the value's id
   * @throws RangeError when a record would not fit in `recordSize`
   */
  toBytes(recordSize: RecordSize, offsetOf: (value: number) => number, lastOffset: number): Uint8Array {
    const largest = this.#largestRecord(lastOffset)
    if (largest >= 2 ** recordSize) {
      const smallest = largest < 2 ** 32 ? `: use ${this.recordSizeFor(lastOffset)}` : ''
      throw new RangeError(
        `${this.nodeCount} nodes and ${lastOffset} bytes of data do not fit in a record size of ${recordSize}${smallest}`,
      )
    }
    const nodeBytes = (recordSize * 2) / 8
    const bytes = new Uint8Array(this.nodeCount * nodeBytes)
    const write = nodeWriters[recordSize]
    const record = (link: Link): number => {
      if (link === EMPTY) return this.nodeCount
      if (link > 0) return this.#number(link)
      return this.nodeCount + SEPARATOR_BYTES + offsetOf(valueOfLink(link))
    }
    this.#forEachNode((number, left, right) => write(bytes, number * nodeBytes, record(left), record(right)))
    return bytes
  }

  #largestRecord(lastOffset: number): number {
    return this.nodeCount + SEPARATOR_BYTES + lastOffset
  }

  #number(node: Link): number {
    return this.nodeCount - (this.#postOrder[node] ?? 0)
  }

  #forEachNode(callback: (number: number, left: Link, right: Link) => void): void {
    if (!isNode(this.#root)) {
      callback(0, this.#root, this.#root)
      return
    }
    for (let node = 1; node < this.#postOrder.length; node++) {
      if (this.#postOrder[node] !== 0)
        callback(this.#number(node), this.#table.left(node), this.#table.right(node))
    }
  }
}

type NodeWriter = (bytes: Uint8Array, at: number, left: number, right: number) => void

/** The three node layouts of the specification's "Node Layout". */
const nodeWriters: Record<RecordSize, NodeWriter> = {
  24: (bytes, at, left, right) => {
    writeLow24(bytes, at, left)
    writeLow24(bytes, at + 3, right)
  },
  28: (bytes, at, left, right) => {
    writeLow24(bytes, at, left)
    // The middle byte holds the highest four bits of both records, those of the left record first.
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
