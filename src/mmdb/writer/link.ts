/**
 * What one of the two records of a search tree's node holds while the tree is being built: nothing, another
 * node, or a value. One integer, so that millions of nodes fit in a typed array: 0 is nothing, a positive
 * number is a node, a negative one a value. Node 0 is the root, which nothing links to.
 */
export type Link = number

export const EMPTY: Link = 0

/** A link to a value, by its number from 0 to 2^31 - 2. */
export function linkToValue(value: number): Link {
  return -1 - value
}

/** The number of the value that a negative link leads to. */
export function valueOfLink(link: Link): number {
  return -1 - link
}

export function isNode(link: Link): boolean {
  return link > 0
}

/** The bit of an address (big-endian 32-bit words) that decides between left and right at a depth of the tree. */
export function bitAt(words: Uint32Array, depth: number): 0 | 1 {
  return (((words[depth >>> 5] ?? 0) >>> (31 - (depth & 31))) & 1) === 1 ? 1 : 0
}
