// The only importer of hyparquet-writer, which is bundled into the command line's output.
import type { ColumnChunk, Encoding, KeyValue, SchemaElement, Statistics } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { writePlain } from 'hyparquet-writer/src/plain.js'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'

/** Names the program in the metadata of files. */
const CREATED_BY = 'geofix'
/** A page ends before its values, or four bytes for each of their indexes, have more. Bytes. */
const PAGE_BYTES = 2 ** 20

/** A value as its column holds it. Text and JSON are bytes. */
export type ParquetValue = Uint8Array | bigint | number | boolean

/** The values of a column, or of a member of a column of structs, in a row group. */
export interface Leaf {
  /** The elements of the structs around the column, and then its own. All of them are optional. */
  readonly path: readonly SchemaElement[]
  /** The distinct values. */
  readonly values: readonly ParquetValue[]
  /** The index of the value of each row, or the complement of how many elements of the path it has. */
  readonly codes: Int32Array
}

/** The values of a column that each row has, and few rows share. */
export interface PlainLeaf {
  readonly path: readonly SchemaElement[]
  /** All values as Parquet stores them: `PLAIN`. */
  readonly plain: Uint8Array
  /** Where the value of each row ends. */
  readonly ends: Int32Array
  /** The smallest and the largest value; `null` if they are not known. */
  readonly range: readonly [least: ParquetValue, most: ParquetValue] | null
}

/** Writes a file of columns, a row group at a time. The caller takes the bytes. */
export class ColumnWriter {
  readonly #bytes = new ByteWriter()
  readonly #writer: ParquetWriter

  /** @param columns the elements of each column */
  constructor(columns: readonly (readonly SchemaElement[])[], metadata?: KeyValue[]) {
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: 'schema', num_children: columns.length }, ...columns.flat()],
      createdBy: CREATED_BY,
      ...(metadata === undefined ? {} : { kvMetadata: metadata }),
    })
  }

  /** Adds a row group. @param leaves of all columns, each with the same number of rows */
  add(leaves: Iterable<Leaf | PlainLeaf>, rows: number): void {
    const start = this.#bytes.offset
    const columns: ColumnChunk[] = []
    let size = 0n
    for (const leaf of leaves) {
      const chunk = 'plain' in leaf ? writePlainChunk(this.#bytes, leaf) : writeChunk(this.#bytes, leaf)
      size += chunk.meta_data?.total_uncompressed_size ?? 0n
      columns.push(chunk)
    }
    this.#writer.num_rows += BigInt(rows)
    this.#writer.row_groups.push({
      columns,
      total_byte_size: size,
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(this.#bytes.offset - start),
    })
  }

  /** Adds the end of the file. */
  end(): void {
    void this.#writer.finish()
  }

  /** Hands over the bytes since the last call. */
  take(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice()
    this.#bytes.index = 0
    return bytes
  }
}

/** Writes indexes as they are. `writeColumn` of hyparquet-writer makes a value for each row first: a run takes 1.2 times as long. */
function writeChunk(writer: ByteWriter, { path, values, codes }: Leaf): ColumnChunk {
  const { type = 'BYTE_ARRAY', logical_type } = path.at(-1) ?? { name: '' }
  const sizes = new Int32Array(values.length)
  for (const [code, value] of values.entries())
    sizes[code] = value instanceof Uint8Array ? value.length + 4 : 8
  let rowsWithValue = 0
  let plainBytes = 0
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] ?? -1
    if (code < 0) continue
    rowsWithValue++
    plainBytes += sizes[code] ?? 0
  }
  const width = bitsOf(values.length - 1)
  const dictionaryBytes = sizes.reduce((sum, size) => sum + size, 0) + Math.ceil((rowsWithValue * width) / 8)
  // A dictionary is worth it if it takes at most half of the bytes.
  const hasDictionary = rowsWithValue > 0 && type !== 'BOOLEAN' && 2 * dictionaryBytes <= plainBytes
  const encoding: Encoding = hasDictionary ? 'RLE_DICTIONARY' : 'PLAIN'
  const start = writer.offset
  let uncompressed = 0
  if (hasDictionary) {
    const page = new ByteWriter()
    writePlain(page, [...values], type, undefined)
    const body = snappyCompress(page.getBytes())
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: page.offset,
      compressed_page_size: body.length,
      dictionary_page_header: { num_values: values.length, encoding: 'PLAIN' },
    })
    uncompressed += writer.offset - start + page.offset
    writer.appendBytes(body)
  }
  const dataStart = writer.offset
  for (let from = 0; from < codes.length; ) {
    let to = from
    for (let bytes = 0; to < codes.length && (bytes < PAGE_BYTES || to === from); to++) {
      const code = codes[to] ?? -1
      if (code >= 0) bytes += hasDictionary ? 4 : (sizes[code] ?? 0)
    }
    const page = codes.subarray(from, to)
    uncompressed += writePage(writer, page, path.length, encoding, (body, present) => {
      if (!hasDictionary)
        writePlain(
          body,
          Array.from(present, (code) => values[code]),
          type,
          undefined,
        )
      else {
        body.appendUint8(width)
        writeRleBitPackedHybrid(body, present, width)
      }
    })
    from = to
  }
  const hasStatistics = logical_type?.type !== 'JSON'
  return {
    meta_data: {
      type,
      encodings: hasDictionary ? ['PLAIN', encoding] : [encoding],
      path_in_schema: path.map(({ name }) => name),
      codec: 'SNAPPY',
      num_values: BigInt(codes.length),
      total_compressed_size: BigInt(writer.offset - start),
      total_uncompressed_size: BigInt(uncompressed),
      data_page_offset: BigInt(dataStart),
      ...(hasDictionary && { dictionary_page_offset: BigInt(start) }),
      ...(hasStatistics && { statistics: statisticsOf(values, codes.length - rowsWithValue) }),
    },
    file_offset: BigInt(start),
  }
}

function writePlainChunk(writer: ByteWriter, { path, plain, ends, range }: PlainLeaf): ColumnChunk {
  const { type = 'BYTE_ARRAY' } = path.at(-1) ?? { name: '' }
  const start = writer.offset
  let uncompressed = 0
  for (let from = 0; from < ends.length; ) {
    const first = ends[from - 1] ?? 0
    let to = from + 1
    while (to < ends.length && (ends[to] ?? 0) - first <= PAGE_BYTES) to++
    const bytes = plain.subarray(first, ends[to - 1])
    const present = new Int32Array(to - from)
    uncompressed += writePage(writer, present, path.length, 'PLAIN', (body) => body.appendBytes(bytes))
    from = to
  }
  return {
    meta_data: {
      type,
      encodings: ['PLAIN'],
      path_in_schema: path.map(({ name }) => name),
      codec: 'SNAPPY',
      num_values: BigInt(ends.length),
      total_compressed_size: BigInt(writer.offset - start),
      total_uncompressed_size: BigInt(uncompressed),
      data_page_offset: BigInt(start),
      ...(range !== null && { statistics: { null_count: 0n, min_value: range[0], max_value: range[1] } }),
    },
    file_offset: BigInt(start),
  }
}

/** Writes a page of data, of version 2. @returns its size before compression */
function writePage(
  writer: ByteWriter,
  codes: Int32Array,
  maxLevel: number,
  encoding: Encoding,
  writeBody: (body: ByteWriter, present: Int32Array) => void,
): number {
  const levels = new Uint8Array(codes.length)
  const present = new Int32Array(codes.length)
  let count = 0
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] ?? -1
    levels[row] = code < 0 ? ~code : maxLevel
    if (code >= 0) present[count++] = code
  }
  const levelBytes = new ByteWriter()
  writeRleBitPackedHybrid(levelBytes, levels, bitsOf(maxLevel))
  const body = new ByteWriter()
  writeBody(body, present.subarray(0, count))
  const compressed = snappyCompress(body.getBytes())
  const start = writer.offset
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levelBytes.offset + body.offset,
    compressed_page_size: levelBytes.offset + compressed.length,
    data_page_header_v2: {
      num_values: codes.length,
      num_nulls: codes.length - count,
      num_rows: codes.length,
      encoding,
      definition_levels_byte_length: levelBytes.offset,
      repetition_levels_byte_length: 0,
      is_compressed: true,
    },
  })
  const headerSize = writer.offset - start
  writer.appendBytes(levelBytes.getBytes())
  writer.appendBytes(compressed)
  return headerSize + levelBytes.offset + body.offset
}

/** How many bits numbers up to this one take. */
function bitsOf(most: number): number {
  return most <= 0 ? 0 : 32 - Math.clz32(most)
}

/** The smallest and the largest value. */
function statisticsOf(values: readonly ParquetValue[], nulls: number): Statistics {
  let min: ParquetValue | undefined
  let max: ParquetValue | undefined
  for (const value of values) {
    if (Number.isNaN(value)) continue
    if (min === undefined || isBefore(value, min)) min = value
    if (max === undefined || isBefore(max, value)) max = value
  }
  return {
    null_count: BigInt(nulls),
    ...(min !== undefined && { min_value: min === 0 ? -0 : min }),
    ...(max !== undefined && { max_value: max === 0 ? 0 : max }),
  }
}

/** Texts are in the order of their bytes. */
function isBefore(value: ParquetValue, other: ParquetValue): boolean {
  return value instanceof Uint8Array && other instanceof Uint8Array
    ? Buffer.compare(value, other) < 0
    : value < other
}
