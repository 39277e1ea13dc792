import { bitAt, EMPTY, isNode, type Link, linkToValue } from './link.ts'
import type { NodeTable } from './node-table.ts'

/** The networks inserted so far, as a binary tree that can still change: two links a node in one typed array. */
export class NetworkTrie {
  #links = new Int32Array(1 << 10)
  #nodes = 1

  /**
   * Gives a network its value. A later insertion wins: it replaces all that was said before about the
   * addresses that it covers, whether the earlier networks were smaller, equal or larger.
   *
   * @param words the network's first address, as big-endian 32-bit words; bits behind the prefix are not read
   */
  insert(words: Uint32Array, prefixLength: number, value: number): void {
    this.#set(words, prefixLength, linkToValue(value))
  }

  /** Takes a network, and all that was said about its addresses, out again. */
  remove(words: Uint32Array, prefixLength: number): void {
    this.#set(words, prefixLength, EMPTY)
  }

  /** Moves the tree into a table, where identical parts are one, and returns the link to its root. */
  addTo(table: NodeTable): Link {
    const convert = (node: number): Link => {
      const left = this.#links[node * 2] ?? EMPTY
      const right = this.#links[node * 2 + 1] ?? EMPTY
      return table.node(isNode(left) ? convert(left) : left, isNode(right) ? convert(right) : right)
    }
    return convert(0)
  }

  #set(words: Uint32Array, prefixLength: number, link: Link): void {
    if (prefixLength === 0) {
      this.#links[0] = link
      this.#links[1] = link
      return
    }
    let node = 0
    const last = prefixLength - 1
    for (let depth = 0; depth < last; depth++) node = this.#nodeBelow(node * 2 + bitAt(words, depth))
    this.#links[node * 2 + bitAt(words, last)] = link
  }

  /** The node that a record leads to. Nothing or a value there is first spread over the two halves of a new node. */
  #nodeBelow(record: number): number {
    const link = this.#links[record] ?? EMPTY
    if (isNode(link)) return link
    const node = this.#nodes++
    if (node * 2 + 1 >= this.#links.length) {
      const grown = new Int32Array(this.#links.length * 2)
      grown.set(this.#links)
      this.#links = grown
    }
    this.#links[node * 2] = link
    this.#links[node * 2 + 1] = link
    this.#links[record] = node
    return node
  }
}
