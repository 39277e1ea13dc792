// The only importer of hyparquet-writer, which is bundled into the command line's output.
import type { ColumnChunk, Encoding, KeyValue, SchemaElement, Statistics } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import { writePlain } from 'hyparquet-writer/src/plain.js'
import { ByteSink } from '../../../bytes/byte-sink.ts'
import { grown, MAX_KEPT_BYTES } from '../../../bytes/distinct-texts.ts'
import { CachedView } from '../../../enrich/swar.ts'
import { bitsOf, MAX_WIDTH, SnappyCompressor } from './compression.ts'

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
  /** Values as Parquet stores them: `PLAIN`, but a byte for each boolean. */
  readonly plain: Uint8Array
  /** Where each value ends. */
  readonly ends: Int32Array
  /** The smallest and the largest value, if there are values; `null` if that is not known. */
  readonly statistics: Pick<Statistics, 'min_value' | 'max_value'> | null
  /** The index of the value of each row, or the complement of how many elements of the path it has. */
  readonly codes: Int32Array
}

/** Makes the values of a {@link Leaf}. */
export class PlainValues {
  count = 0
  readonly #bytes = new ByteSink(256)
  readonly #view = new CachedView()
  #ends = new Int32Array(32)
  #least: ParquetValue | undefined
  #most: ParquetValue | undefined
  /** The smallest and the largest text. `#least` and `#most` are undefined then. */
  readonly #leastText = new ByteSink(64)
  readonly #mostText = new ByteSink(64)
  #hasText = false

  add(value: ParquetValue): void {
    if (value instanceof Uint8Array) {
      this.addBytes(value, 0, value.length)
      return
    }
    const out = this.#bytes
    if (typeof value === 'boolean') out.writeByte(Number(value))
    else {
      const view = this.#view.view(out.room(8))
      if (typeof value === 'bigint') view.setBigInt64(out.length, value, true)
      else view.setFloat64(out.length, value, true)
      out.length += 8
    }
    this.#end()
    if (Number.isNaN(value)) return
    if (this.#least === undefined || value < this.#least) this.#least = value
    if (this.#most === undefined || value > this.#most) this.#most = value
  }

  /** Adds `bytes[start, end)`. Texts are in the order of their bytes. @param isFixed whether the column says the length */
  addBytes(bytes: Uint8Array, start: number, end: number, isFixed = false): void {
    const out = this.#bytes
    if (!isFixed) {
      this.#view.view(out.room(4)).setInt32(out.length, end - start, true)
      out.length += 4
    }
    out.write(bytes, start, end)
    this.#end()
    const isFirst = !this.#hasText
    this.#hasText = true
    if (isFirst || compared(bytes, start, end, this.#leastText) < 0) keep(this.#leastText, bytes, start, end)
    if (isFirst || compared(bytes, start, end, this.#mostText) > 0) keep(this.#mostText, bytes, start, end)
  }

  #end(): void {
    if (this.count === this.#ends.length) this.#ends = grown(this.#ends, 0)
    this.#ends[this.count++] = this.#bytes.length
  }

  /** The values, which it forgets. They are valid until the next one is added. */
  take(): Pick<Leaf, 'plain' | 'ends' | 'statistics'> {
    const out = this.#bytes
    const plain = out.length > MAX_KEPT_BYTES ? out.take() : out.bytes
    const ends = this.#ends.subarray(0, this.count)
    const texts = this.#hasText ? [this.#leastText.bytes, this.#mostText.bytes] : []
    const [least = this.#least, most = this.#most] = texts.map((text) => new Uint8Array(text))
    this.#hasText = false
    this.count = out.length = 0
    this.#least = this.#most = undefined
    const statistics = {
      ...(least !== undefined && { min_value: least === 0 ? -0 : least }),
      ...(most !== undefined && { max_value: most === 0 ? 0 : most }),
    }
    return { plain, ends, statistics }
  }
}

/** Writes a file of columns, a row group at a time. The caller takes the bytes. */
export class ColumnWriter {
  readonly #bytes = new ByteWriter()
  readonly #writer: ParquetWriter
  readonly #snappy = new SnappyCompressor()
  // Memory for each page. New memory would stay until a garbage collection.
  readonly #levelBytes = new ByteWriter()
  /** Indexes or booleans. */
  readonly #packed = new ByteWriter()
  readonly #values = new ByteSink()
  #levels = new Int32Array(0)
  #present = new Int32Array(0)

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
  add(leaves: Iterable<Leaf>, rows: number): void {
    const start = this.#bytes.offset
    const columns: ColumnChunk[] = []
    let size = 0n
    for (const leaf of leaves) {
      const chunk = this.#writeChunk(leaf)
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

  /** Hands over the bytes since the last call, which are valid until the next row group. */
  take(): Uint8Array {
    const bytes = this.#bytes.getBytes()
    this.#bytes.index = 0
    return bytes
  }

  /** Writes indexes as they are. `writeColumn` of hyparquet-writer makes a value for each row first: a run takes 1.2 times as long. */
  #writeChunk({ path, plain, ends, statistics, codes }: Leaf): ColumnChunk {
    const writer = this.#bytes
    const sizeOf = (code: number): number => (ends[code] ?? 0) - (ends[code - 1] ?? 0)
    const { type = 'BYTE_ARRAY', logical_type } = path.at(-1) ?? { name: '' }
    let rowsWithValue = 0
    for (let row = 0; row < codes.length; row++) if ((codes[row] ?? -1) >= 0) rowsWithValue++
    const width = bitsOf(ends.length - 1)
    const dictionaryBytes = plain.length + Math.ceil((rowsWithValue * width) / 8)
    // Each value occurs at least once. That is often enough to decide without the sizes of all rows.
    let least = sizeOf(0)
    for (let code = 1; code < ends.length; code++) least = Math.min(least, sizeOf(code))
    let plainBytes = plain.length + (rowsWithValue - ends.length) * least
    if (2 * dictionaryBytes > plainBytes) {
      plainBytes = 0
      for (let row = 0; row < codes.length; row++) plainBytes += sizeOf(codes[row] ?? -1)
    }
    // A dictionary is worth it if it takes at most half of the bytes.
    const hasDictionary =
      rowsWithValue > 0 && type !== 'BOOLEAN' && width <= MAX_WIDTH && 2 * dictionaryBytes <= plainBytes
    const encoding: Encoding = hasDictionary ? 'RLE_DICTIONARY' : 'PLAIN'
    const start = writer.offset
    let uncompressed = 0
    if (hasDictionary) {
      const body = this.#snappy.compress(plain)
      writePageHeader(writer, {
        type: 'DICTIONARY_PAGE',
        uncompressed_page_size: plain.length,
        compressed_page_size: body.length,
        dictionary_page_header: { num_values: ends.length, encoding: 'PLAIN' },
      })
      uncompressed += writer.offset - start + plain.length
      writer.appendBytes(body)
    }
    const dataStart = writer.offset
    for (let from = 0; from < codes.length; ) {
      let to = hasDictionary ? Math.min(from + PAGE_BYTES / 4, codes.length) : from
      for (let bytes = 0; to < codes.length && !hasDictionary && (bytes < PAGE_BYTES || to === from); to++)
        bytes += sizeOf(codes[to] ?? -1)
      const page = codes.subarray(from, to)
      const isFull = rowsWithValue === codes.length
      uncompressed += this.#writePage(page, path.length, isFull, encoding, (present) => {
        const [packed, values] = [this.#packed, this.#values]
        packed.index = values.length = 0
        if (hasDictionary) {
          packed.appendUint8(width)
          writeRleBitPackedHybrid(packed, present, width)
        } else if (type === 'BOOLEAN') {
          const booleans = Array.from(present, (code) => plain[code] === 1)
          writePlain(packed, booleans, type, undefined)
        } else writeValues(values, present, plain, ends)
        return packed.index > 0 ? packed.getBytes() : values.bytes
      })
      from = to
    }
    const hasStatistics = logical_type?.type !== 'JSON' && statistics !== null
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
        ...(hasStatistics && {
          statistics: { null_count: BigInt(codes.length - rowsWithValue), ...statistics },
        }),
      },
      file_offset: BigInt(start),
    }
  }

  /** Writes a page of data, of version 2. @param isFull whether all rows have a value @returns its size before compression */
  #writePage(
    codes: Int32Array,
    maxLevel: number,
    isFull: boolean,
    encoding: Encoding,
    bodyOf: (present: Int32Array) => Uint8Array,
  ): number {
    const [writer, levelBytes] = [this.#bytes, this.#levelBytes]
    levelBytes.index = 0
    let present = codes
    if (isFull) {
      levelBytes.appendVarInt(2 * codes.length)
      levelBytes.appendUint8(maxLevel)
    } else {
      if (codes.length > this.#levels.length) {
        this.#levels = new Int32Array(codes.length)
        this.#present = new Int32Array(codes.length)
      }
      const [levels, own] = [this.#levels, this.#present]
      let count = 0
      for (let row = 0; row < codes.length; row++) {
        const code = codes[row] ?? -1
        levels[row] = code < 0 ? ~code : maxLevel
        if (code >= 0) own[count++] = code
      }
      writeRleBitPackedHybrid(levelBytes, levels.subarray(0, codes.length), bitsOf(maxLevel))
      present = own.subarray(0, count)
    }
    const body = bodyOf(present)
    const compressed = this.#snappy.compress(body)
    const start = writer.offset
    writePageHeader(writer, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levelBytes.index + body.length,
      compressed_page_size: levelBytes.index + compressed.length,
      data_page_header_v2: {
        num_values: codes.length,
        num_nulls: codes.length - present.length,
        num_rows: codes.length,
        encoding,
        definition_levels_byte_length: levelBytes.index,
        repetition_levels_byte_length: 0,
        is_compressed: true,
      },
    })
    const headerSize = writer.offset - start
    writer.appendBytes(levelBytes.getBytes())
    writer.appendBytes(compressed)
    return headerSize + levelBytes.index + body.length
  }
}

/** Writes the values with these codes. Neighbours are copied together. */
function writeValues(body: ByteSink, codes: Int32Array, plain: Uint8Array, ends: Int32Array): void {
  for (let at = 0; at < codes.length; ) {
    const first = codes[at] ?? 0
    let size = 1
    while (codes[at + size] === first + size) size++
    body.write(plain, ends[first - 1] ?? 0, ends[first + size - 1])
    at += size
  }
}

function keep(text: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  text.length = 0
  text.write(bytes, start, end)
}

/** How `bytes[start, end)` compares with another text. */
function compared(bytes: Uint8Array, start: number, end: number, text: ByteSink): number {
  const [other, length] = [text.room(0), text.length]
  const size = Math.min(end - start, length)
  for (let at = 0; at < size; at++) {
    const difference = (bytes[start + at] ?? 0) - (other[at] ?? 0)
    if (difference !== 0) return difference
  }
  return end - start - length
}
