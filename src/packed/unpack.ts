import { listNetworks, type Words } from '../address/position.ts'
import { isOutOfMemory, noMemory } from '../bytes/byte-limit.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { mostNetworks } from '../mmdb/networks.ts'
import { bitAt, isNode, type Link, linkToValue, NodeTable } from '../mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../mmdb/writer/search-tree-encoder.ts'
import type { BlockFile } from './block-file.ts'
import { PackedContents } from './contents.ts'
import { ALIAS, BLOCK_SHIFT, DATA_BLOCK_BYTES, FIRST_RECORD, mostUnreachable, NONE } from './directory.ts'

/**
 * Makes an MMDB file of an open packed file, and checks all of it.
 *
 * @throws InvalidDatabaseError when it is damaged, or there is not enough memory
 */
export function unpackFile(file: BlockFile): Uint8Array {
  try {
    return unpacked(file)
  } catch (cause) {
    throw isOutOfMemory(cause) ? noMemory(cause, file.path) : cause
  }
}

function unpacked(file: BlockFile): Uint8Array {
  const { metadata } = file.directory
  // The record table is read in any order. Runs and data are read once.
  const contents = new PackedContents(file, 4 * file.directory.recordCount + 4 * DATA_BLOCK_BYTES)
  const tree = encodeTree(file, contents)
  const bytes = new Uint8Array(file.dataEnd + metadata.length)
  bytes.set(tree)
  for (let block = 0; contents.firstData + block < contents.places.length; block++)
    bytes.set(contents.data(block), file.dataStart + block * DATA_BLOCK_BYTES)
  bytes.set(metadata, file.dataEnd)
  return bytes
}

function encodeTree(file: BlockFile, contents: PackedContents): Uint8Array {
  const { nodeCount, recordSize } = file.metadata
  const { recordCount, isJoined } = file.directory
  const table = new NodeTable()
  const { root, ipv4 } = buildTree(file, contents, table)
  if (nodeCount === 0 && !isNode(root)) return new Uint8Array(0)
  if (!isNode(root)) throw file.fault('the packed file has no networks')
  let encoder = new SearchTreeEncoder(table, root)
  let missing = nodeCount - encoder.nodeCount
  if (isJoined && missing > 0) {
    // The original joined only some of its equal subtrees. Aliases stay references.
    table.repeatShared(root, ipv4, missing)
    encoder = new SearchTreeEncoder(table, root)
    missing = nodeCount - encoder.nodeCount
  }
  // Nodes that no path leads to are not packed. Zeros take their place at the end of the tree.
  if (missing < 0) throw file.fault('the packed file has more networks than nodes')
  if (missing > mostUnreachable(file.source.size, recordSize))
    throw file.fault('the packed file has too many nodes that no path leads to')
  let largest = 0
  for (let index = 0; index < recordCount; index++) largest = Math.max(largest, contents.record(index))
  if (nodeCount + largest >= 2 ** recordSize)
    throw file.fault('the packed file has records that its record size cannot hold')
  // A tree stores a record as the number of nodes plus its place. The encoder does not count the missing nodes.
  const offsetOf = (value: number): number =>
    missing + (value === NONE ? 0 : contents.record(value - FIRST_RECORD)) - SEPARATOR_BYTES
  return encoder.toBytes(recordSize, offsetOf, missing + largest - SEPARATOR_BYTES)
}

/**
 * Builds a search tree from its networks in address order.
 *
 * @returns `root` of the tree, or the value of all addresses; `ipv4`, the subtree of the IPv4 networks in an IPv6 tree
 */
function buildTree(file: BlockFile, contents: PackedContents, table: NodeTable): { root: Link; ipv4: Link } {
  const { base, metadata, directory } = file
  /** For each depth, the left side of a node whose right side is not complete. */
  const pending: Link[] = new Array(129).fill(linkToValue(NONE))
  let root = linkToValue(NONE)
  let ipv4 = linkToValue(NONE)
  let left = mostNetworks(metadata.nodeCount)

  /** Adds a network, or a subtree, and makes the nodes that it completes. */
  const add = (position: Words, length: number, subtree: Link): void => {
    if (left-- === 0) throw file.fault('the packed file has more networks than nodes')
    let link = subtree
    let depth = length - base
    for (; depth > 0 && bitAt(position, base + depth - 1) === 1; depth--) {
      const first = pending[depth] ?? linkToValue(NONE)
      link = directory.isJoined ? table.sharedNode(first, link) : table.newNode(first, link)
    }
    if (depth === 0) root = link
    pending[depth] = link
  }

  const start = new Uint32Array(4)
  const end = new Uint32Array(4)
  for (const [family, runs] of contents.families.entries()) {
    for (let run = 0; run < runs.count; run++) {
      const place = contents.place(runs.firstBlock + (run >>> BLOCK_SHIFT))
      runs.startOf(place, run, start)
      runs.endOf(place, run, end)
      const value = runs.valueOf(place, run)
      if (value === ALIAS) {
        const length = file.aliasLength(start, end)
        if (!isNode(ipv4)) throw file.noAlias()
        add(start, length, ipv4)
      } else listNetworks(start, end, (position, length) => add(position, length, linkToValue(value)))
    }
    // They are the left half of a larger network.
    if (family === 0 && runs.count > 0) ipv4 = pending[96 - base] ?? ipv4
  }
  return { root, ipv4 }
}
