import { bitAt, isNode, type Link } from './link.ts'

/**
 * Nodes that never change and never occur twice. Asking for a node with a given left and right gives the one
 * that is there already, so subtrees that say the same are the same node: half of a city database's tree. A
 * node that says the same on both sides is no node at all, but what it says: adjacent equal networks merge.
 *
 * The format allows shared subtrees: a record is just a node's number, and libmaxminddb, mmdb-lib and the
 * others only walk down.
 */
export class NodeTable {
  /** Left and right of node n at 2n and 2n + 1; node 0 is not used. */
  #links = new Int32Array(1 << 11)
  #count = 1
  /** Open-addressed hash table of node numbers; 0 is a free place. */
  #buckets = new Int32Array(1 << 11)

  left(node: Link): Link {
    return this.#links[node * 2] ?? 0
  }

  right(node: Link): Link {
    return this.#links[node * 2 + 1] ?? 0
  }

  /** One more than the largest node number. */
  get end(): number {
    return this.#count
  }

  /** The link that says `left` for addresses whose next bit is 0, and `right` for the others. */
  node(left: Link, right: Link): Link {
    if (left === right && !isNode(left)) return left
    const mask = this.#buckets.length - 1
    let bucket = hash(left, right) & mask
    for (;;) {
      const node = this.#buckets[bucket] ?? 0
      if (node === 0) break
      if (this.left(node) === left && this.right(node) === right) return node
      bucket = (bucket + 1) & mask
    }
    const node = this.#count++
    this.#buckets[bucket] = node
    if (node * 2 + 1 >= this.#links.length) this.#growLinks()
    this.#links[node * 2] = left
    this.#links[node * 2 + 1] = right
    if (this.#count * 2 > this.#buckets.length) this.#growBuckets()
    return node
  }

  /** What a tree holds for a whole network, by the network's first address and prefix length. */
  find(root: Link, words: Uint32Array, prefixLength: number): Link {
    let link = root
    for (let depth = 0; depth < prefixLength && isNode(link); depth++) {
      link = bitAt(words, depth) === 1 ? this.right(link) : this.left(link)
    }
    return link
  }

  /** A tree that is like the given one, but holds `link` for the network. The given tree stays as it is. */
  replace(root: Link, words: Uint32Array, prefixLength: number, link: Link): Link {
    const beside = new Int32Array(prefixLength)
    let current = root
    for (let depth = 0; depth < prefixLength; depth++) {
      const left = isNode(current) ? this.left(current) : current
      const right = isNode(current) ? this.right(current) : current
      const goRight = bitAt(words, depth) === 1
      beside[depth] = goRight ? left : right
      current = goRight ? right : left
    }
    let result = link
    for (let depth = prefixLength - 1; depth >= 0; depth--) {
      const other = beside[depth] ?? 0
      result = bitAt(words, depth) === 1 ? this.node(other, result) : this.node(result, other)
    }
    return result
  }

  #growLinks(): void {
    const grown = new Int32Array(this.#links.length * 2)
    grown.set(this.#links)
    this.#links = grown
  }

  #growBuckets(): void {
    this.#buckets = new Int32Array(this.#buckets.length * 2)
    const mask = this.#buckets.length - 1
    for (let node = 1; node < this.#count; node++) {
      let bucket = hash(this.left(node), this.right(node)) & mask
      while (this.#buckets[bucket] !== 0) bucket = (bucket + 1) & mask
      this.#buckets[bucket] = node
    }
  }
}

/** Mixes all bits of both links into the low ones (multipliers and shifts of MurmurHash3's finaliser). */
function hash(left: Link, right: Link): number {
  let mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
