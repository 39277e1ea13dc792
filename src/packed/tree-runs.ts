// A search tree as runs: ranges of neighbouring networks with the same value, in the order of their addresses.
import { damagedFile, InvalidDatabaseError } from '../errors.ts'
import type { SearchTree } from '../mmdb/search-tree.ts'
import { ALIASES, mostNetworks } from './format.ts'
import { advance, compare, distance, largestWithin, leastPrefixLength, type Words } from './position.ts'

/** A value as the tree stores it, less the number of nodes: 0 for no record. An alias has this value. */
export const STORED_ALIAS = -1

/** Gets a run. The words are valid during the call; at the end of all addresses, `end` is zero. */
export type AddRun = (start: Words, end: Words, stored: number) => void

/** What the runs of a tree do not say. */
export interface TreeFacts {
  /** Whether other nodes than those of aliases have several paths to them. */
  readonly isJoined: boolean
  /** How many nodes no path leads to. */
  readonly unreachable: number
}

/**
 * Lists the runs of a search tree. Networks that are the halves of a network are never in the same run, so a run has no
 * other networks than the largest ones that fill it. Subtrees that several paths lead to are repeated.
 *
 * @throws InvalidDatabaseError when a path of the tree is longer than an address, or subtrees are repeated too often
 */
export function listRuns(tree: SearchTree, add: AddRun, path?: string): TreeFacts {
  const walk = new TreeWalk(tree, add, path)
  walk.visit(0, 0)
  walk.endRun()
  const unreachable = walk.isVisited.reduce((sum, isVisited) => sum + 1 - isVisited, 0)
  return { isJoined: walk.isJoined, unreachable }
}

class TreeWalk {
  readonly isVisited: Uint8Array
  isJoined = false
  readonly #tree: SearchTree
  readonly #nodeCount: number
  readonly #add: AddRun
  readonly #path: string | undefined
  /** Bits of a position before those of the tree. */
  readonly #base: number
  readonly #start = new Uint32Array(4)
  readonly #position = new Uint32Array(4)
  /** Of the run. */
  #stored = NOT_STARTED
  /** The prefix length of the last network, as bits of a position. */
  #length = 0
  #left: number

  constructor(tree: SearchTree, add: AddRun, path: string | undefined) {
    const { nodeCount, ipVersion } = tree.metadata
    this.#tree = tree
    this.#nodeCount = nodeCount
    this.#add = add
    this.#path = path
    this.#base = ipVersion === 4 ? 96 : 0
    this.isVisited = new Uint8Array(nodeCount)
    this.#left = mostNetworks(nodeCount)
  }

  visit(value: number, depth: number): void {
    if (value >= this.#nodeCount) {
      this.#network(value - this.#nodeCount, this.#base + depth)
      return
    }
    if (this.#isAlias(value, depth)) {
      this.#network(STORED_ALIAS, depth)
      return
    }
    const bits = 128 - this.#base
    if (depth === bits) {
      throw damagedFile(`the search tree has paths of more than ${bits} bits, the length of an address`, {
        path: this.#path,
      })
    }
    if (this.isVisited[value] === 1) this.isJoined = true
    this.isVisited[value] = 1
    this.visit(this.#tree.child(value, 0), depth + 1)
    this.visit(this.#tree.child(value, 1), depth + 1)
  }

  endRun(): void {
    if (this.#stored !== NOT_STARTED) this.#add(this.#start, this.#position, this.#stored)
  }

  #isAlias(node: number, depth: number): boolean {
    const { ipv4Root, ipv4RootDepth } = this.#tree
    if (node !== ipv4Root || ipv4RootDepth !== 96) return false
    return ALIASES.some(([words, length]) => length === depth && compare(words, this.#position) === 0)
  }

  #network(stored: number, length: number): void {
    if (this.#left-- === 0) {
      throw new InvalidDatabaseError('its search tree repeats subtrees too often to be packed', {
        path: this.#path,
      })
    }
    if (stored !== this.#stored || this.#isNewRun(length)) {
      this.endRun()
      this.#start.set(this.#position)
      this.#stored = stored
    }
    this.#length = length
    advance(this.#position, length)
  }

  /** Whether the network at the position is not in the run, though it has the same value. */
  #isNewRun(length: number): boolean {
    const [first = 0, second = 0, third = 0, fourth = 0] = this.#position
    const isSecondHalf = length === this.#length && leastPrefixLength(this.#position) === length
    // Runs end where families end: at 2^32 and at 2^64.
    const isFamily = fourth === 0 && first === 0 && (second === 0 ? third === 1 : second === 1 && third === 0)
    return isSecondHalf || isFamily
  }
}

const NOT_STARTED = -2

/** Gets a network: where it starts, and its prefix length as bits of a position. */
export type AddNetwork = (start: Words, prefixLength: number) => void

/** Lists the networks of a run: the largest ones that fill it. */
export function listNetworks(start: Words, end: Words, add: AddNetwork): void {
  const position = Uint32Array.from(start)
  const rest = new Uint32Array(4)
  do {
    distance(position, end, rest)
    const length = Math.max(leastPrefixLength(position), largestWithin(rest))
    add(position, length)
    advance(position, length)
  } while (compare(position, end) !== 0)
}
