import { SEPARATOR_LENGTH } from '../format.ts'
import type { DataSection } from './data-section.ts'
import { type DatabaseMetadata, encodeMetadata } from './metadata.ts'
import type { RecordSize, SearchTree } from './search-tree.ts'

/** What the caller says about a database; the tree knows the rest. */
export type DatabaseOptions = Omit<DatabaseMetadata, 'nodeCount' | 'recordSize'> & {
  /** Default: the smallest that fits. */
  readonly recordSize?: RecordSize
}

/**
 * A whole database file: search tree, separator, data section, metadata. The values of the tree that are not
 * in the data section yet are written to it, in the order in which the {@link ValueTable} numbered them.
 *
 * @throws RangeError when the tree and the data do not fit in the record size
 */
export function encodeDatabase(tree: SearchTree, data: DataSection, options: DatabaseOptions): Uint8Array {
  let lastOffset = 0
  for (const value of tree.values()) lastOffset = Math.max(lastOffset, data.offset(value))
  const recordSize = options.recordSize ?? tree.recordSizeFor(lastOffset)
  const treeBytes = tree.toBytes(recordSize, (value) => data.offset(value), lastOffset)
  const metadata = encodeMetadata({ ...options, nodeCount: tree.nodeCount, recordSize })

  const dataStart = treeBytes.length + SEPARATOR_LENGTH
  const bytes = new Uint8Array(dataStart + data.bytes.length + metadata.length)
  bytes.set(treeBytes)
  bytes.set(data.bytes, dataStart)
  bytes.set(metadata, dataStart + data.bytes.length)
  return bytes
}
