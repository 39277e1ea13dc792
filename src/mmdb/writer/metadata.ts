import { DataSection } from './data-section.ts'
import type { RecordSize } from './search-tree.ts'
import { type MmdbValue, uint16, uint32, uint64 } from './value.ts'
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

/** `\xab\xcd\xefMaxMind.com`: readers look for its last occurrence in the file. */
const MARKER = Uint8Array.of(0xab, 0xcd, 0xef, ...new TextEncoder().encode('MaxMind.com'))

/** The metadata section, its marker included. Without pointers, so that the simplest reader understands it. */
export function encodeMetadata(metadata: DatabaseMetadata): Uint8Array {
  const fields: Record<string, MmdbValue> = {
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
  section.offset(values.add(fields))
  const bytes = new Uint8Array(MARKER.length + section.bytes.length)
  bytes.set(MARKER)
  bytes.set(section.bytes, MARKER.length)
  return bytes
}
