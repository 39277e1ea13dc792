import { mappedIPv4 } from '../../address/address.ts'
import { NOT_IPV4, parseNetwork } from '../../address/ip-text.ts'
import { IPV4_MAPPED, type TreePath } from '../format.ts'
import { bitAt, EMPTY, isNode, type Link, linkToValue, type NodeTable } from './node-table.ts'

/**
 * Parses a network, or an address, and finds its position in an IPv4 or IPv6 tree.
 *
 * @throws TypeError when the text is neither, or is IPv6 for an IPv4 tree
 */
export function treePathOf(network: string, ipVersion: 4 | 6): TreePath {
  const { family, words, prefixLength } = parseNetwork(network)
  const ipv4 = family === 4 ? { words, prefixLength } : ipv4OfMapped(words, prefixLength)
  if (ipVersion === 4) {
    if (ipv4 === null) throw new TypeError(`${network} is an IPv6 network, but the database has ipVersion 4`)
    return ipv4
  }
  return ipv4 === null ? { words, prefixLength } : ipv4InIPv6(ipv4)
}

/** Where an IPv6 tree has an IPv4 network. */
export function ipv4InIPv6({ words, prefixLength }: TreePath): TreePath {
  return { words: Uint32Array.of(0, 0, 0, words[0] ?? 0), prefixLength: 96 + prefixLength }
}

function ipv4OfMapped(words: Uint32Array, prefixLength: number): TreePath | null {
  if (mappedIPv4(words) === NOT_IPV4 || prefixLength < IPV4_MAPPED.prefixLength) return null
  return { words: words.subarray(3), prefixLength: prefixLength - IPV4_MAPPED.prefixLength }
}

/** The inserted networks as a mutable binary tree: two links for each node, in one typed array. */
export class NetworkTrie {
  #links = new Int32Array(1 << 10)
  #nodes = 1

  /**
   * Gives a network a value. Replaces all earlier values of the network's addresses, whether those networks were
   * smaller, equal or larger.
   *
   * @param words the network's first address, as big-endian 32-bit words; bits after the prefix are ignored
   * @param value id of the value
   */
  insert(words: Uint32Array, prefixLength: number, value: number): void {
    this.#set(words, prefixLength, linkToValue(value))
  }

  /** Removes the values of all addresses of a network. */
  remove(words: Uint32Array, prefixLength: number): void {
    this.#set(words, prefixLength, EMPTY)
  }

  /**
   * Adds the tree to a table, which merges identical subtrees. Returns the link to its root.
   *
   * @param below a tree of the table, whose values are used for addresses without one here
   */
  addTo(table: NodeTable, below: Link = EMPTY): Link {
    const convert = (node: number, under: Link): Link => {
      const child = (link: Link, beneath: Link): Link => {
        if (isNode(link)) return convert(link, beneath)
        return link === EMPTY ? beneath : link
      }
      const [left, right] = isNode(under) ? [table.left(under), table.right(under)] : [under, under]
      return table.node(
        child(this.#links[node * 2] ?? EMPTY, left),
        child(this.#links[node * 2 + 1] ?? EMPTY, right),
      )
    }
    return convert(0, below)
  }

  #set(words: Uint32Array, prefixLength: number, link: Link): void {
    if (prefixLength === 0) {
      this.#links[0] = link
      this.#links[1] = link
      return
    }
    let node = 0
    const last = prefixLength - 1
    for (let depth = 0; depth < last; depth++) node = this.#nodeAt(node * 2 + bitAt(words, depth))
    this.#links[node * 2 + bitAt(words, last)] = link
  }

  /** The node that a record links to. An empty record or a value is first split into the two halves of a new node. */
  #nodeAt(record: number): number {
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
