import { MAX_METADATA_BYTES, METADATA_MARKER, SEPARATOR_BYTES } from '../format.ts'
import { OVERLAY_BYTES } from '../metadata.ts'
import { DataSectionEncoder } from './data-section-encoder.ts'
import type { RecordSize, SearchTreeEncoder } from './search-tree-encoder.ts'
import { uint16, uint32, uint64, type WritableValue } from './value.ts'
import { ValueTable } from './value-table.ts'

/** The fields of the metadata ("Database Metadata" of the MMDB specification) that are not constant. */
export type DatabaseMetadata = {
  readonly databaseType: string
  readonly ipVersion: 4 | 6
  readonly recordSize: RecordSize
  readonly nodeCount: number
  /** Locales of names in the records, such as `en` or `pt-BR`. */
  readonly languages: readonly string[]
  /** Description of the database, by language code. */
  readonly description: Readonly<Record<string, string>>
  readonly buildDate: Date
  /** Bytes at the end of the data section with records of overlays. Default: none. */
  readonly overlayBytes?: number
}

/** The metadata that the caller provides; the search tree provides the rest. */
export type DatabaseOptions = Omit<DatabaseMetadata, 'nodeCount' | 'recordSize'> & {
  /** Default: the smallest that fits. */
  readonly recordSize?: RecordSize
}

/**
 * Encodes a whole database file: search tree, separator, data section, metadata. First writes the values of the
 * tree that are not in the data section yet, in the order of their ids in the {@link ValueTable}.
 *
 * @throws RangeError when the tree and the data do not fit in the record size
 */
export function encodeDatabase(
  tree: SearchTreeEncoder,
  data: Pick<DataSectionEncoder, 'bytes' | 'offsetOf'>,
  options: DatabaseOptions,
): Uint8Array {
  let lastOffset = 0
  for (const value of tree.values()) lastOffset = Math.max(lastOffset, data.offsetOf(value))
  const recordSize = options.recordSize ?? tree.recordSizeFor(lastOffset)
  const treeBytes = tree.toBytes(recordSize, (value) => data.offsetOf(value), lastOffset)
  const metadata = encodeMetadata({ ...options, nodeCount: tree.nodeCount, recordSize })

  const dataStart = treeBytes.length + SEPARATOR_BYTES
  const bytes = new Uint8Array(dataStart + data.bytes.length + metadata.length)
  bytes.set(treeBytes)
  bytes.set(data.bytes, dataStart)
  bytes.set(metadata, dataStart + data.bytes.length)
  return bytes
}

/**
 * Encodes the metadata section, including its marker. Uses no pointers, so that the simplest reader can read it.
 *
 * @throws TypeError when a text cannot be encoded; RangeError when readers would not find the section
 */
export function encodeMetadata(metadata: DatabaseMetadata): Uint8Array {
  const fields: Record<string, WritableValue> = {
    binary_format_major_version: uint16(2),
    binary_format_minor_version: uint16(0),
    build_epoch: uint64(Math.floor(metadata.buildDate.getTime() / 1000)),
    database_type: metadata.databaseType,
    description: metadata.description,
    ip_version: uint16(metadata.ipVersion),
    languages: metadata.languages,
    node_count: uint32(metadata.nodeCount),
    record_size: uint16(metadata.recordSize),
    ...(metadata.overlayBytes === undefined ? {} : { [OVERLAY_BYTES]: uint32(metadata.overlayBytes) }),
  }
  const values = new ValueTable()
  const section = new DataSectionEncoder(values, { pointers: false })
  section.offsetOf(values.add(fields, 'metadata'))
  const length = METADATA_MARKER.length + section.bytes.length
  if (length > MAX_METADATA_BYTES) {
    throw new RangeError(
      `databaseType, languages and description are too long: the metadata would have ${length} bytes, more than ${MAX_METADATA_BYTES}`,
    )
  }
  const bytes = new Uint8Array(length)
  bytes.set(METADATA_MARKER)
  bytes.set(section.bytes, METADATA_MARKER.length)
  return bytes
}
