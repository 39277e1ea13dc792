import { METADATA_MARKER } from '../format.ts'
import { DataSection } from './data-section.ts'
import type { RecordSize } from './search-tree.ts'
import { uint16, uint32, uint64, type WritableValue } from './value.ts'
import { ValueTable } from './value-table.ts'

/** What a database says about itself ("Database Metadata" of the MMDB specification). */
export type DatabaseMetadata = {
  readonly databaseType: string
  readonly ipVersion: 4 | 6
  readonly recordSize: RecordSize
  readonly nodeCount: number
  /** Locales that records may hold names in, such as `en` or `pt-BR`. */
  readonly languages: readonly string[]
  /** Text about the database by language code. */
  readonly description: Readonly<Record<string, string>>
  readonly buildDate: Date
}

/** How far from the end of a file libmaxminddb looks for the marker, and this package too. */
const LONGEST_METADATA = 128 * 1024

/**
 * The metadata section, its marker included. Without pointers, so that the simplest reader understands it.
 *
 * @throws TypeError when a text cannot be written; RangeError when no reader would find the section
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
  }
  const values = new ValueTable()
  const section = new DataSection(values, { pointers: false })
  section.offset(values.add(fields, 'metadata'))
  const length = METADATA_MARKER.length + section.bytes.length
  if (length > LONGEST_METADATA) {
    throw new RangeError(
      `databaseType, languages and description make ${length} bytes of metadata: readers look for it in the last ${LONGEST_METADATA} of a file`,
    )
  }
  const bytes = new Uint8Array(length)
  bytes.set(METADATA_MARKER)
  bytes.set(section.bytes, METADATA_MARKER.length)
  return bytes
}
