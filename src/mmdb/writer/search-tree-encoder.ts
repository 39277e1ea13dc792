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
    const view = new DataView(bytes.buffer)
    const write = nodeWriters[recordSize]
    const record = (link: Link): number => {
      if (link === EMPTY) return this.nodeCount
      if (link > 0) return this.#number(link)
      return this.nodeCount + SEPARATOR_BYTES + offsetOf(valueOfLink(link))
    }
    this.#forEachNode((number, left, right) => write(view, number * nodeBytes, record(left), record(right)))
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

type NodeWriter = (view: DataView, at: number, left: number, right: number) => void

/** The three node layouts of the specification's "Node Layout". */
const nodeWriters: Record<RecordSize, NodeWriter> = {
  24: (view, at, left, right) => {
    view.setUint32(at, (left << 8) | (right >>> 16))
    view.setUint16(at + 4, right)
  },
  28: (view, at, left, right) => {
    // The middle byte holds the highest four bits of both records, those of the left record first.
    view.setUint32(at, (left << 8) | ((left >>> 20) & 0xf0) | (right >>> 24))
    view.setUint16(at + 4, right >>> 8)
    view.setUint8(at + 6, right)
  },
  32: (view, at, left, right) => {
    view.setUint32(at, left)
    view.setUint32(at + 4, right)
  },
}
