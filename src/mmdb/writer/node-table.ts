import { parseNetwork } from '../../address/ip-text.ts'
import type { TreePath } from '../../address/position.ts'
import { RowSet } from '../../bytes/tables.ts'

/**
 * One of the two records of a search tree's node while the tree is being built: empty, a link to another node, or
 * a link to a value. Stored as one integer so that millions of nodes fit in a typed array: 0 is empty, a positive
 * number is a node, a negative number is a value. Node 0 is the root, which no node links to.
 */
export type Link = number

export const EMPTY: Link = 0

/** A link to a value, by the value's id from 0 to 2^31 - 2. */
export function linkToValue(id: number): Link {
  return -1 - id
}

/** The id of the value that a negative link leads to. */
export function valueOfLink(link: Link): number {
  return -1 - link
}

export function isNode(link: Link): boolean {
  return link > 0
}

/** The bit of an address (big-endian 32-bit words) that chooses left or right at a depth of the tree. */
export function bitAt(words: Uint32Array, depth: number): 0 | 1 {
  return (((words[depth >>> 5] ?? 0) >>> (31 - (depth & 31))) & 1) === 1 ? 1 : 0
}

/**
 * Immutable nodes without duplicates. A request for a node with a given left and right returns the existing one, so
 * identical subtrees are stored once, which makes the tree of a city database much smaller. A node with the same value on both
 * sides is replaced by the value, so adjacent networks with equal records merge.
 *
 * The format allows shared subtrees: a record is only a node's number, and readers such as libmaxminddb and
 * mmdb-lib only walk down.
 */
export class NodeTable {
  /** Left and right of each node; node 0 is not used. */
  readonly #nodes = new RowSet(2, new Int32Array(2))
  readonly #row = new Int32Array(2)

  left(node: Link): Link {
    return this.#nodes.rows[node * 2] ?? 0
  }

  right(node: Link): Link {
    return this.#nodes.rows[node * 2 + 1] ?? 0
  }

  /** One more than the largest node number. */
  get end(): number {
    return this.#nodes.size
  }

  /** The link that leads to `left` for addresses whose next bit is 0, and to `right` for others. */
  node(left: Link, right: Link): Link {
    return left === right && !isNode(left) ? left : this.sharedNode(left, right)
  }

  /** Like {@link node}, but does not merge networks with equal records. */
  sharedNode(left: Link, right: Link): Link {
    this.#row[0] = left
    this.#row[1] = right
    return this.#nodes.add(this.#row)
  }

  /** A node that may equal another one. The table makes no shared nodes after it. */
  newNode(left: Link, right: Link): Link {
    this.#row[0] = left
    this.#row[1] = right
    return this.#nodes.append(this.#row)
  }

  /**
   * Copies nodes that several links lead to, so that a link leads to the copy. Changes the tree: the table makes no more shared nodes
   * after this.
   *
   * @param kept a node that is not copied
   * @param most how many copies
   */
  repeatShared(root: Link, kept: Link, most: number): void {
    const end = this.end + most
    const isVisited = new Uint8Array(this.end)
    const pending = [root]
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      for (let place = node * 2; place < node * 2 + 2; place++) {
        const child = this.#nodes.rows[place] ?? 0
        if (!isNode(child)) continue
        if (isVisited[child] === 0) {
          isVisited[child] = 1
          pending.push(child)
        } else if (child !== kept && this.end < end) {
          const copy = this.newNode(this.left(child), this.right(child))
          this.#nodes.rows[place] = copy
          pending.push(copy)
        }
      }
    }
  }

  /** The link for a whole network in a tree, by the network's first address and prefix length. */
  find(root: Link, words: Uint32Array, prefixLength: number): Link {
    let link = root
    for (let depth = 0; depth < prefixLength && isNode(link); depth++) {
      link = bitAt(words, depth) === 1 ? this.right(link) : this.left(link)
    }
    return link
  }

  /** A tree like the given one, but with `link` for the network. The given tree does not change. */
  replace(root: Link, words: Uint32Array, prefixLength: number, link: Link): Link {
    const siblings = new Int32Array(prefixLength)
    let current = root
    for (let depth = 0; depth < prefixLength; depth++) {
      const left = isNode(current) ? this.left(current) : current
      const right = isNode(current) ? this.right(current) : current
      const goRight = bitAt(words, depth) === 1
      siblings[depth] = goRight ? left : right
      current = goRight ? right : left
    }
    let result = link
    for (let depth = prefixLength - 1; depth >= 0; depth--) {
      const sibling = siblings[depth] ?? 0
      result = bitAt(words, depth) === 1 ? this.node(sibling, result) : this.node(result, sibling)
    }
    return result
  }
}

/**
 * Parses a network, or an address, and finds its position in an IPv4 or IPv6 tree.
 *
 * @throws TypeError when the text is neither, or is IPv6 for an IPv4 tree
 */
export function treePathOf(network: string, ipVersion: 4 | 6): TreePath {
  const { family, words, prefixLength } = parseNetwork(network)
  if (family === 4 && ipVersion === 6) return ipv4InIPv6({ words, prefixLength })
  if (family === ipVersion) return { words, prefixLength }
  throw new TypeError(`${network} is an IPv6 network, but the database has ipVersion 4`)
}

/** Where an IPv6 tree has an IPv4 network. */
export function ipv4InIPv6({ words, prefixLength }: TreePath): TreePath {
  return { words: Uint32Array.of(0, 0, 0, words[0] ?? 0), prefixLength: 96 + prefixLength }
}

/** The inserted networks as a mutable binary tree: two links for each node, in one typed array. */
export class NetworkTrie {
  /** Left and right of each node. */
  readonly #nodes = new RowSet(2, new Int32Array(2))

  /**
   * Gives a network a value, or none. Replaces all earlier values of the network's addresses, whether those networks
   * were smaller, equal or larger.
   *
   * @param words the network's first address, as big-endian 32-bit words; bits after the prefix are ignored
   * @param link to the value, or {@link EMPTY}
   */
  set(words: Uint32Array, prefixLength: number, link: Link): void {
    if (prefixLength === 0) {
      this.#nodes.rows.fill(link, 0, 2)
      return
    }
    let node = 0
    const last = prefixLength - 1
    for (let depth = 0; depth < last; depth++) node = this.#nodeAt(node * 2 + bitAt(words, depth))
    this.#nodes.rows[node * 2 + bitAt(words, last)] = link
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
        child(this.#nodes.rows[node * 2] ?? EMPTY, left),
        child(this.#nodes.rows[node * 2 + 1] ?? EMPTY, right),
      )
    }
    return convert(0, below)
  }

  /** The node that a record links to. An empty record or a value is first split into the two halves of a new node. */
  #nodeAt(record: number): number {
    const link = this.#nodes.rows[record] ?? EMPTY
    if (isNode(link)) return link
    const node = this.#nodes.append(Int32Array.of(link, link))
    this.#nodes.rows[record] = node
    return node
  }
}
