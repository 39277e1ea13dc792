// A search tree as runs: ranges of neighbouring networks with the same value, in the order of their addresses.

import { advance, compare, leastPrefixLength, type Words } from '../address/position.ts'
import { InvalidDatabaseError } from '../errors.ts'
import { IPV4_ALIASES } from '../mmdb/format.ts'
import { mostNetworks, NOT_WALKED, walkTree } from '../mmdb/networks.ts'
import type { SearchTree } from '../mmdb/search-tree.ts'

/** A value as the tree stores it, less the number of nodes: 0 for no record. An alias has this value. */
export const STORED_ALIAS = -1

/** Gets a run. The words are valid during the call; at the end of all addresses, `end` is zero. */
export type AddRun = (start: Words, end: Words, stored: number) => void

/** Facts about a tree that its runs do not have. */
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
  const { nodeCount, ipVersion } = tree.metadata
  const base = ipVersion === 4 ? 96 : 0
  const runs = new RunList(mostNetworks(nodeCount), add, path)
  const isVisited = new Uint8Array(nodeCount)
  let isJoined = false
  walkTree(tree, 0, 128 - base, {
    known(node, depth) {
      if (isAlias(tree, node, depth, runs.position)) {
        runs.network(STORED_ALIAS, depth)
        return 0
      }
      if (isVisited[node] === 1) isJoined = true
      isVisited[node] = 1
      return NOT_WALKED
    },
    leaf(value, depth) {
      runs.network(value - nodeCount, base + depth)
      return 0
    },
    join: () => 0,
  })
  runs.endRun()
  const unreachable = isVisited.reduce((sum, visited) => sum + 1 - visited, 0)
  return { isJoined, unreachable }
}

function isAlias({ ipv4Root }: SearchTree, node: number, depth: number, position: Words): boolean {
  if (node !== ipv4Root) return false
  return IPV4_ALIASES.some(
    ({ words, prefixLength }) => prefixLength === depth && compare(words, position) === 0,
  )
}

/** Joins the networks of a tree, in the order of their addresses, to runs. */
class RunList {
  readonly position = new Uint32Array(4)
  readonly #add: AddRun
  readonly #path: string | undefined
  readonly #start = new Uint32Array(4)
  /** What the tree stores for the networks of the run. */
  #stored = NOT_STARTED
  /** The prefix length of the last network, as bits of a position. */
  #length = 0
  #left: number

  /** @param most networks */
  constructor(most: number, add: AddRun, path: string | undefined) {
    this.#left = most
    this.#add = add
    this.#path = path
  }

  endRun(): void {
    if (this.#stored !== NOT_STARTED) this.#add(this.#start, this.position, this.#stored)
  }

  network(stored: number, length: number): void {
    if (this.#left-- === 0) {
      throw new InvalidDatabaseError('its search tree repeats subtrees too often to be packed', {
        path: this.#path,
      })
    }
    if (stored !== this.#stored || this.#isNewRun(length)) {
      this.endRun()
      this.#start.set(this.position)
      this.#stored = stored
    }
    this.#length = length
    advance(this.position, length)
  }

  /** Whether the network at the position is not in the run, though it has the same value. */
  #isNewRun(length: number): boolean {
    const [first = 0, second = 0, third = 0, fourth = 0] = this.position
    const isSecondHalf = length === this.#length && leastPrefixLength(this.position) === length
    // Runs end where families end: at 2^32 and at 2^64.
    const isFamily = fourth === 0 && first === 0 && (second === 0 ? third === 1 : second === 1 && third === 0)
    return isSecondHalf || isFamily
  }
}

const NOT_STARTED = -2
