import { ByteSink } from '../../bytes/byte-sink.ts'
import { MAX_METADATA_BYTES, METADATA_MARKER } from '../../bytes/file-kind.ts'
import { DataType, SEPARATOR_BYTES } from '../format.ts'
import type { Metadata } from '../metadata.ts'
import type { RecordSize, SearchTreeEncoder } from './search-tree-encoder.ts'
import {
  pointerLength,
  uint16,
  uint32,
  uint64,
  type WritableValue,
  writeControlByte,
  writePointer,
} from './value.ts'
import { type Composite, ValueTable } from './value-table.ts'

/**
 * Encodes the data section: the values of a {@link ValueTable}, in the order in which they are requested. A value
 * that was written before is replaced by a pointer to it if the pointer is shorter.
 *
 * Numbers and booleans are always written in place: a pointer would save only a few bytes, and readers would have to
 * follow it.
 */
export class DataSectionEncoder {
  readonly #pointers: boolean
  readonly #buffer: ByteSink
  /** Where each value was written, by its id. */
  readonly #written: { readonly offset: number; readonly length: number }[] = []

  /** @param options `before` are bytes that the section starts with, such as those of another file */
  constructor(
    private readonly values: ValueTable,
    { pointers = true, before }: { readonly pointers?: boolean; readonly before?: Uint8Array } = {},
  ) {
    this.#pointers = pointers
    this.#buffer = new ByteSink((before?.length ?? 0) + 2 ** 16)
    if (before !== undefined) this.#buffer.write(before)
  }

  /** The bytes so far. */
  get bytes(): Uint8Array {
    return this.#buffer.bytes
  }

  /** The offset of a value in the section. Writes the value if it is not in the section. */
  offsetOf(id: number): number {
    const written = this.#written[id]
    if (written !== undefined) return written.offset
    const offset = this.#buffer.length
    this.#writeInPlace(id)
    // A record is written once, even if it is a short scalar: readers distinguish records by offset.
    this.#written[id] ??= { offset, length: this.#buffer.length - offset }
    return offset
  }

  #write(id: number): void {
    const written = this.#written[id]
    if (this.#pointers && written !== undefined && pointerLength(written.offset) < written.length) {
      writePointer(this.#buffer, written.offset)
    } else {
      this.#writeInPlace(id)
    }
  }

  #writeInPlace(id: number): void {
    const offset = this.#buffer.length
    const entry = this.values.entry(id)
    if (entry instanceof Uint8Array) {
      this.#buffer.write(entry)
      if (!isShareable(entry)) return
    } else {
      this.#writeComposite(entry)
    }
    this.#written[id] ??= { offset, length: this.#buffer.length - offset }
  }

  #writeComposite({ type, parts }: Composite): void {
    writeControlByte(this.#buffer, type, type === DataType.map ? parts.length / 2 : parts.length)
    for (const part of parts) this.#write(part)
  }
}

/** Only text and bytes can be much longer than a pointer. The control byte's high bits are the type. */
function isShareable(scalar: Uint8Array): boolean {
  const type = (scalar[0] ?? 0) >> 5
  return type === DataType.utf8String || type === DataType.bytes
}

/** The fields of the metadata ("Database Metadata" of the MMDB specification) that are not constant. */
export type DatabaseMetadata = Omit<Metadata, 'buildDate' | 'overlayBytes' | 'start'> & {
  readonly buildDate: Date
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
