// A search tree as runs: ranges of neighbouring networks with the same value, in the order of their addresses.

import { advance, compare, IPV4_ALIASES, leastPrefixLength, type Words } from '../address/position.ts'
import { InvalidDatabaseError } from '../errors.ts'
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
export function listRuns(tree: SearchTree, add: AddRun): TreeFacts {
  const { nodeCount, ipVersion } = tree.metadata
  const base = ipVersion === 4 ? 96 : 0
  const position = new Uint32Array(4)
  const start = new Uint32Array(4)
  /** What the tree stores for the networks of the run. */
  let runStored = NOT_STARTED
  /** The prefix length of the last network, as bits of a position. */
  let lastLength = 0
  let left = mostNetworks(nodeCount)

  const endRun = (): void => {
    if (runStored !== NOT_STARTED) add(start, position, runStored)
  }
  const addNetwork = (stored: number, length: number): void => {
    if (left-- === 0) {
      throw new InvalidDatabaseError('its search tree repeats subtrees too often to be packed')
    }
    const isSecondHalf = length === lastLength && leastPrefixLength(position) === length
    if (stored !== runStored || isSecondHalf || isFamilyStart(position)) {
      endRun()
      start.set(position)
      runStored = stored
    }
    lastLength = length
    advance(position, length)
  }

  const isVisited = new Uint8Array(nodeCount)
  let isJoined = false
  walkTree(tree, 0, 128 - base, {
    known(node, depth) {
      if (isAlias(tree, node, depth, position)) {
        addNetwork(STORED_ALIAS, depth)
        return 0
      }
      if (isVisited[node] === 1) isJoined = true
      isVisited[node] = 1
      return NOT_WALKED
    },
    leaf(value, depth) {
      addNetwork(value - nodeCount, base + depth)
      return 0
    },
    join: () => 0,
  })
  endRun()
  const unreachable = isVisited.reduce((sum, visited) => sum + 1 - visited, 0)
  return { isJoined, unreachable }
}

/** Runs end where families end: at 2^32 and at 2^64. */
function isFamilyStart([first = 0, second = 0, third = 0, fourth = 0]: Words): boolean {
  return fourth === 0 && first === 0 && (second === 0 ? third === 1 : second === 1 && third === 0)
}

function isAlias({ ipv4Root }: SearchTree, node: number, depth: number, position: Words): boolean {
  if (node !== ipv4Root) return false
  return IPV4_ALIASES.some(
    ({ words, prefixLength }) => prefixLength === depth && compare(words, position) === 0,
  )
}

/** Stands for the value of a run before the first one. */
const NOT_STARTED = -2
