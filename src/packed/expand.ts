import { SEPARATOR_BYTES } from '../mmdb/format.ts'
import type { Metadata } from '../mmdb/metadata.ts'
import { type DatabaseMetadata, encodeMetadata } from '../mmdb/writer/database-encoder.ts'
import { bitAt } from '../mmdb/writer/node-table.ts'
import { isLittleEndian } from './directory.ts'
import { ALIAS, FIRST_RECORD, LEAVES_PER_BLOCK, NONE } from './format.ts'
import type { PackedFile } from './packed-file.ts'

/** A larger file stays packed. */
const MAX_EXPANDED_BYTES = 536_870_912

const RECORD_SIZE = 32

/**
 * Makes an MMDB file with the same records and networks, for a process with many lookups. Takes less time than `unpackFile`:
 * equal subtrees of the search tree stay apart, so the file is half as large again. It has only the metadata that this
 * package knows.
 *
 * @param allocate gives memory of zeros
 * @returns `null` when the file or its metadata is too large, the file is too small to have a tree, or its build date is impossible, and on the few
 *   processors that are big-endian
 * @throws InvalidDatabaseError when the packed file is damaged
 */
export function expandFile<Bytes extends Uint8Array>(
  file: PackedFile,
  allocate: (length: number) => Bytes,
): Bytes | null {
  const { metadata, directory, dataStart, dataEnd } = file
  const { buildDate } = metadata
  const nodeCount = directory.leafCount - 1
  const treeBytes = nodeCount * ((2 * RECORD_SIZE) / 8)
  const dataOffset = treeBytes + SEPARATOR_BYTES
  const dataBytes = dataEnd - dataStart
  const isTooLarge = dataOffset + dataBytes > MAX_EXPANDED_BYTES
  if (buildDate === null || nodeCount < 1 || isTooLarge || !isLittleEndian()) return null
  const end = metadataOf(metadata, { buildDate, nodeCount, recordSize: RECORD_SIZE })
  if (end === null) return null
  const bytes = allocate(dataOffset + dataBytes + end.length)
  writeTree(file, new Uint32Array(bytes.buffer, bytes.byteOffset, 2 * nodeCount), nodeCount)
  for (let block = 0; block < directory.dataBlocks.length.length; block++) {
    bytes.set(file.data(block).bytes(), (file.dataStarts[block] ?? 0) - dataStart + dataOffset)
  }
  bytes.set(end, dataOffset + dataBytes)
  return bytes
}

/** @returns `null` when it would be too long, as with text that the original metadata repeats by pointers */
function metadataOf(
  metadata: Metadata,
  changed: Pick<DatabaseMetadata, 'buildDate' | 'nodeCount' | 'recordSize'>,
): Uint8Array | null {
  try {
    return encodeMetadata({ ...metadata, ...changed })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Writes a node for each fork between leaves, in the order of their first addresses. */
function writeTree(file: PackedFile, tree: Uint32Array, nodeCount: number): void {
  const { directory } = file
  const records = file.allRecords()
  /** Where the right records of nodes are whose left side is being written, and the depths after them. */
  const rights = new Uint32Array(129)
  const depths = new Uint8Array(129)
  let open = 0
  let nodes = 0
  let aliases = 0
  /** Where the next record is, and the prefix length that leads to it. The first node needs none. */
  let slot = -1
  let depth = 0
  for (let block = 0; block < directory.leafBlocks.crc.length; block++) {
    const leaves = file.leaves(block)
    const { prefixLengths } = leaves
    const values = leaves.values.all()
    for (let i = 0; i < prefixLengths.length; i++) {
      const length = prefixLengths[i] ?? 0
      for (; depth < length; depth++) {
        if (slot >= 0) tree[slot] = bigEndian(nodes)
        slot = 2 * nodes++
        rights[open] = slot + 1
        depths[open++] = depth + 1
      }
      const value = values[i] ?? NONE
      let record = nodeCount
      if (value === ALIAS) record = targetOf(file, tree, aliases++, block * LEAVES_PER_BLOCK + i, nodes)
      else if (value !== NONE)
        record = Math.min(nodeCount + (records[value - FIRST_RECORD] ?? 0), 0xffff_ffff)
      if (slot < 0) throw file.fault('the packed file has no networks')
      tree[slot] = bigEndian(record)
      if (open === 0) return
      slot = rights[--open] ?? 0
      depth = depths[open] ?? 0
    }
  }
}

/**
 * The node that an alias stands for: it and all nodes below it are written before the alias. Not a closure: V8 would
 * keep the variables of the loop in memory, not in registers.
 */
function targetOf(file: PackedFile, tree: Uint32Array, row: number, leaf: number, nodes: number): number {
  const { leaf: leaves, word0, word1, word2, word3, prefixLength } = file.directory.aliases
  const words = Uint32Array.of(word0[row] ?? 0, word1[row] ?? 0, word2[row] ?? 0, word3[row] ?? 0)
  let target = 0
  for (let bit = 0; bit < (prefixLength[row] ?? 0) && target < nodes; bit++) {
    target = bigEndian(tree[2 * target + bitAt(words, file.shape.base + bit)] ?? 0)
  }
  // In an unfinished subtree, the last record is still zero.
  let last = target
  while (last < nodes && last > 0) last = bigEndian(tree[2 * last + 1] ?? 0)
  if (leaves[row] !== leaf || target >= nodes || last === 0) {
    throw file.fault('a network of the packed file is an alias of no other')
  }
  return target
}

/** Exchanges the byte orders of MMDB and of a little-endian processor. */
function bigEndian(number: number): number {
  return ((number << 24) | ((number & 0xff00) << 8) | ((number >>> 8) & 0xff00) | (number >>> 24)) >>> 0
}
