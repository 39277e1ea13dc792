import { isOutOfMemory, noMemory } from '../bytes/byte-limit.ts'
import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import { bitAt, isNode, type Link, linkToValue, NodeTable } from '../mmdb/writer/node-table.ts'
import { SearchTreeEncoder } from '../mmdb/writer/search-tree-encoder.ts'
import { ALIAS, FIRST_RECORD, LEAVES_PER_BLOCK, mostUnreachable, NONE } from './format.ts'
import type { PackedFile } from './packed-file.ts'
import { advance, type Words } from './position.ts'

/**
 * Makes an MMDB file of an open packed file, and checks all of it.
 *
 * @throws InvalidDatabaseError when it is damaged, or there is not enough memory
 */
export function unpackFile(file: PackedFile): Uint8Array {
  try {
    return unpacked(file)
  } catch (cause) {
    throw isOutOfMemory(cause) ? noMemory(cause, file.path) : cause
  }
}

function unpacked(file: PackedFile): Uint8Array {
  const { metadata, dataBlocks } = file.directory
  const tree = encodeTree(file)
  const bytes = new Uint8Array(file.dataEnd + metadata.length)
  bytes.set(tree)
  for (let block = 0; block < dataBlocks.length.length; block++) {
    bytes.set(file.data(block).bytes(), file.dataStarts[block])
  }
  bytes.set(metadata, file.dataEnd)
  return bytes
}

function encodeTree(file: PackedFile): Uint8Array {
  const { nodeCount, recordSize } = file.metadata
  const table = new NodeTable()
  const root = new TreeBuilder(file, table).build()
  if (nodeCount === 0 && !isNode(root)) return new Uint8Array(0)
  if (!isNode(root)) throw file.fault('the packed file has no networks')
  const encoder = new SearchTreeEncoder(table, root)
  // Nodes that no path leads to are not packed. Zeros take their place at the end of the tree.
  const missing = nodeCount - encoder.nodeCount
  if (missing < 0) throw file.fault('the packed file has more networks than nodes')
  if (missing > mostUnreachable(file.source.size, recordSize))
    throw file.fault('the packed file has too many nodes that no path leads to')
  const records = file.allRecords()
  if (nodeCount + (records.at(-1) ?? 0) >= 2 ** recordSize)
    throw file.fault('the packed file has records that its record size cannot hold')
  // A tree stores a record as the number of nodes plus its place. The encoder does not count the missing nodes.
  const offsetOf = (value: number): number =>
    missing + (value === NONE ? 0 : (records[value - FIRST_RECORD] ?? 0)) - SEPARATOR_BYTES
  return encoder.toBytes(recordSize, offsetOf, offsetOf(FIRST_RECORD + records.length - 1))
}

/** Builds a search tree from its leaves in address order. */
class TreeBuilder {
  readonly #file: PackedFile
  readonly #table: NodeTable
  /** By depth, the left side of a node whose right side is not complete. */
  readonly #pending = new Map<number, Link>()
  readonly #position = new Uint32Array(4)
  readonly #base: number
  #aliases = 0

  constructor(file: PackedFile, table: NodeTable) {
    this.#file = file
    this.#table = table
    this.#base = file.shape.base
  }

  build(): Link {
    const { leafBlocks, aliasCount } = this.#file.directory
    let root: Link | undefined
    for (let block = 0; block < leafBlocks.crc.length; block++) {
      const leaves = this.#file.leaves(block)
      const { prefixLengths } = leaves
      const values = leaves.values.all()
      for (const [i, prefixLength] of prefixLengths.entries()) {
        const value = values[i] ?? NONE
        const leaf = block * LEAVES_PER_BLOCK + i
        root = this.#add(prefixLength, value === ALIAS ? this.#target(leaf) : linkToValue(value))
        advance(this.#position, this.#base + prefixLength)
      }
    }
    if (this.#aliases !== aliasCount)
      throw this.#file.fault('the packed file has aliases that no network uses')
    return root ?? linkToValue(NONE)
  }

  /** Adds a leaf and makes the nodes that it completes. @returns the highest of them, or the leaf */
  #add(prefixLength: number, leaf: Link): Link {
    let link = leaf
    let depth = prefixLength
    for (; depth > 0 && this.#bit(this.#position, depth) === 1; depth--) {
      const left = this.#pending.get(depth) ?? linkToValue(NONE)
      link = this.#file.directory.isMinimal
        ? this.#table.sharedNode(left, link)
        : this.#table.newNode(left, link)
    }
    this.#pending.set(depth, link)
    return link
  }

  /** The complete node that an alias stands for. */
  #target(leaf: number): Link {
    const { leaf: leaves, word0, word1, word2, word3, prefixLength } = this.#file.directory.aliases
    const row = this.#aliases++
    const end = prefixLength[row] ?? 0
    const words = Uint32Array.of(word0[row] ?? 0, word1[row] ?? 0, word2[row] ?? 0, word3[row] ?? 0)
    let depth = 1
    while (depth < end && this.#bit(words, depth) === this.#bit(this.#position, depth)) depth++
    const isBefore = depth <= end && this.#bit(words, depth) < this.#bit(this.#position, depth)
    let link = isBefore ? this.#pending.get(depth) : undefined
    for (; depth < end && link !== undefined && isNode(link); depth++) {
      link = this.#bit(words, depth + 1) === 1 ? this.#table.right(link) : this.#table.left(link)
    }
    if (leaves[row] !== leaf || link === undefined || !isNode(link)) {
      throw this.#file.fault('a network of the packed file is an alias of no other')
    }
    return link
  }

  /** The last bit of a prefix of the given length. */
  #bit(words: Words, prefixLength: number): number {
    return bitAt(words, this.#base + prefixLength - 1)
  }
}
