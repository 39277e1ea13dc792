// The pages of a column (github.com/apache/parquet-format, Data Pages). hyparquet trusts their headers, the lengths of their runs,
// and indexes: damaged ones could make it read for ever, take all memory, or give other values. It decodes what was checked here.
import type {
  ColumnMetaData,
  DataReader,
  DecodedArray,
  Encoding,
  PageHeader,
  ParquetType,
  SchemaTree,
} from 'hyparquet'
import { alpDecode } from 'hyparquet/src/alp.js'
import { assembleLists } from 'hyparquet/src/assemble.js'
import { parquetHeader } from 'hyparquet/src/column.js'
import { convert } from 'hyparquet/src/convert.js'
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js'
import { byteStreamSplit } from 'hyparquet/src/encoding.js'
import { readPlain } from 'hyparquet/src/plain.js'
import { readVarInt } from 'hyparquet/src/thrift.js'
import type { ColumnTexts } from '../../../enrich/column-stream.ts'
import { NATIVE_CODEC } from '../../../node/file-bytes.ts'
import { COMPRESSORS, MAX_PAGE_BYTES } from './compression.ts'
import { ParquetFault } from './footer.ts'
import { bitsOf, readRuns } from './runs.ts'
import { PARSERS } from './values.ts'

/** Limit of the values of a column in a row group. */
const MAX_GROUP_VALUES = 2 ** 26

/** The types that have each encoding. hyparquet reads the values of others as another type, or refuses them. */
const ENCODED: Partial<Record<Encoding, readonly ParquetType[]>> = {
  RLE: ['BOOLEAN'],
  DELTA_BINARY_PACKED: ['INT32', 'INT64'],
  DELTA_LENGTH_BYTE_ARRAY: ['BYTE_ARRAY'],
  DELTA_BYTE_ARRAY: ['BYTE_ARRAY', 'FIXED_LEN_BYTE_ARRAY'],
}
const INDEXED: readonly Encoding[] = ['PLAIN_DICTIONARY', 'RLE_DICTIONARY']
/** Bytes of a plain value. */
const SIZES: Partial<Record<ParquetType, number>> = { INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8 }
/** Limit of what the prefixes of a column take in a row group, decoded. A few bytes of a page can repeat any number. Bytes. */
const MAX_PREFIX_BYTES = 2 ** 30
/** The header of a page is read up to here: hyparquet takes quadratic time for a number of many bytes. */
const MAX_HEADER_BYTES = 2 ** 16
const NO_NUMBERS: Int32Array = new Int32Array(0)
const NO_BYTES = new Uint8Array(0)

/** The path of a column in the schema, which begins with the root. */
export type SchemaPath = readonly SchemaTree[]

type PageParts = readonly [repetitions: Uint8Array, definitions: Uint8Array, values: Uint8Array]

/** A page of values. */
interface Page {
  /** The levels of each value. There are none if the schema has only one. */
  readonly repetitions: Int32Array
  readonly definitions: Int32Array
  readonly count: number
  /** The values that are not missing. `bytes` has them. */
  readonly present: number
  readonly encoding: Encoding
  readonly bytes: Uint8Array
}

/** Reads a column of a row group. */
export class ColumnReader {
  readonly #chunk: Uint8Array
  readonly #decoder: Parameters<typeof convert>[1]
  readonly #fixedSize: number
  /** The most repetition levels, and definition levels, of a value. */
  readonly #repetition: number
  readonly #definition: number
  readonly #total: number
  /** Where the values of the dictionary are. There are none until its page has been read. */
  #entries: ColumnTexts = { bytes: NO_BYTES, starts: NO_NUMBERS, ends: NO_NUMBERS }
  /** Those that were decoded. */
  #decoded: unknown[] = []
  #prefixBytes = 0

  /**
   * @param chunk the bytes of its pages
   * @param rows of the row group
   * @throws Error when the footer says other values than there are rows, or too many
   */
  constructor(chunk: Uint8Array, path: SchemaPath, metadata: ColumnMetaData, rows: number) {
    const { codec, type, path_in_schema: pathInSchema } = metadata
    const { element }: Pick<SchemaTree, 'element'> = path.at(-1) ?? { element: { name: '' } }
    const below = path.slice(1).map((node) => node.element.repetition_type)
    this.#chunk = chunk
    this.#decoder = { pathInSchema, element, schemaPath: [...path], codec, type, parsers: PARSERS }
    this.#fixedSize = SIZES[type] ?? element.type_length ?? 0
    this.#repetition = below.filter((each) => each === 'REPEATED').length
    this.#definition = below.filter((each) => each !== 'REQUIRED').length
    this.#total = Number(metadata.num_values)
    if (element.type !== type) throw damaged('another type than its schema says')
    if (!(this.#total <= MAX_GROUP_VALUES) || (this.#repetition === 0 && this.#total !== rows))
      throw damaged(`${this.#total} values`)
  }

  /**
   * The texts of each page, as they are stored. Missing ones are empty.
   *
   * @returns `null` if they have another encoding
   * @throws Error when a page is damaged, or the pages have other values than the footer says
   */
  texts(): ColumnTexts[] | null {
    const pages: ColumnTexts[] = []
    for (const { bytes, encoding, present, definitions } of this.#pages()) {
      const isIndexed = INDEXED.includes(encoding)
      if (!isIndexed && encoding !== 'PLAIN') return null
      const texts = isIndexed
        ? chosen(this.#entries, this.#indexesIn(bytes, present))
        : this.#placesIn(bytes, present)
      const isFull = present === definitions.length || this.#definition === 0
      pages.push(isFull ? texts : chosen(texts, presentIn(definitions, this.#definition)))
    }
    return pages
  }

  /** The values of the first rows, or of all, as `assembleNested` of hyparquet takes them. Throws as {@link texts} does. */
  values(most = Number.POSITIVE_INFINITY): unknown[] {
    const { schemaPath } = this.#decoder
    const all: unknown[] = []
    let rows = 0
    for (const page of this.#pages()) {
      const { repetitions } = page
      let count = 0
      for (; count < page.count; count++) {
        if ((repetitions[count] ?? 0) > 0) continue
        if (rows === most) break
        rows++
      }
      const definitions = page.definitions.subarray(0, count)
      const present = definitions.length === 0 ? count : countOf(definitions, this.#definition)
      const values = this.#valuesOf(page, present)
      if (definitions.length > 0 && (schemaPath.length > 2 || this.#repetition > 0)) {
        const starts = Array.from(repetitions.subarray(0, count))
        assembleLists(all, Array.from(definitions), starts, values, schemaPath)
      } else
        for (let at = 0, next = 0; at < count; at++)
          all.push((definitions[at] ?? this.#definition) === this.#definition ? values[next++] : null)
      if (rows === most && (count < page.count || this.#repetition === 0)) break
    }
    return all
  }

  *#pages(): Generator<Page> {
    const chunk = this.#chunk
    let at = 0
    let left = this.#total
    while (at < chunk.length && left > 0) {
      const reader = readerOf(chunk.subarray(at, at + MAX_HEADER_BYTES))
      const header = parquetHeader(reader)
      const start = at + reader.offset
      at = start + counted(header.compressed_page_size, chunk.length - start)
      const page = this.#pageOf(header, chunk.subarray(start, at), left)
      if (page === null) continue
      left -= page.count
      yield page
    }
    if (left > 0 || (this.#repetition > 0 && at < chunk.length))
      throw damaged('other values than its footer says')
  }

  /** Returns `null` for a dictionary. @param left the values that no page before has */
  #pageOf(header: PageHeader, stored: Uint8Array, left: number): Page | null {
    const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header
    const size = counted(header.uncompressed_page_size, MAX_PAGE_BYTES)
    if (header.crc !== undefined && Number(header.crc) >>> 0 !== NATIVE_CODEC.crc32(stored))
      throw damaged('a page that does not match its checksum')
    if (header.type === 'DICTIONARY_PAGE' && dictionary !== undefined) {
      const count = counted(dictionary.num_values, MAX_GROUP_VALUES)
      this.#entries = this.#placesIn(this.#decompressed(stored, size), count)
      this.#decoded = new Array<unknown>(Math.min(count, size))
      return null
    }
    const data = header.type === 'DATA_PAGE' ? v1 : header.type === 'DATA_PAGE_V2' ? v2 : undefined
    if (data === undefined) throw damaged('a page of an unknown type')
    const count = counted(data.num_values, left)
    const [first, second, bytes] =
      data === v1 ? this.#partsOf(this.#decompressed(stored, size)) : this.#partsOfV2(v2, stored, size)
    const repetitions = levelsIn(first, this.#repetition, count)
    const definitions = levelsIn(second, this.#definition, count)
    const present = definitions.length === 0 ? count : countOf(definitions, this.#definition)
    if (data === v2 && present !== count - counted(v2?.num_nulls, count))
      throw damaged('other missing values than the header of its page says')
    return { repetitions, definitions, count, present, encoding: data.encoding, bytes }
  }

  /** The repetition levels of a page, its definition levels, and its values. Levels have their length before them. */
  #partsOf(page: Uint8Array): PageParts {
    const { view } = readerOf(page)
    const second = this.#repetition === 0 ? 0 : 4 + view.getUint32(0, true)
    const values = this.#definition === 0 ? second : second + 4 + view.getUint32(second, true)
    return [
      page.subarray(Math.min(4, second), second),
      page.subarray(second + 4, values),
      page.subarray(values),
    ]
  }

  /** {@link partsOf} for a page of version 2, whose levels are not compressed. */
  #partsOfV2(header: PageHeader['data_page_header_v2'], stored: Uint8Array, size: number): PageParts {
    const most = Math.min(size, stored.length)
    const second = counted(header?.repetition_levels_byte_length, most)
    const at = second + counted(header?.definition_levels_byte_length, most - second)
    const values = stored.subarray(at)
    const isStored = header?.is_compressed === false
    return [
      stored.subarray(0, second),
      stored.subarray(second, at),
      isStored ? values : this.#decompressed(values, size - at),
    ]
  }

  #decompressed(stored: Uint8Array, size: number): Uint8Array {
    const { codec } = this.#decoder
    if (size === 0) return NO_BYTES
    const page = codec === 'UNCOMPRESSED' ? stored : COMPRESSORS[codec]?.(stored, size)
    if (page === undefined) throw damaged(`the compression ${codec ?? 'of an unknown number'}`)
    if (page.length !== size) throw damaged('a page of another length than its header says')
    return page
  }

  /** The first values of a page that are not missing. */
  #valuesOf({ bytes, encoding, present }: Page, most: number): DecodedArray {
    const { type, element } = this.#decoder
    if (ENCODED[encoding]?.includes(type) === false) throw damaged('an encoding of another type')
    if (present === 0) return []
    const reader = readerOf(bytes)
    let values: DecodedArray = []
    switch (encoding) {
      case 'PLAIN':
        this.#placesIn(bytes, present)
        values = readPlain(reader, type, most, element.type_length)
        break
      case 'RLE':
        return Array.from(readRuns(bytes.subarray(4), 1, 1, present).subarray(0, most), Boolean)
      case 'PLAIN_DICTIONARY':
      case 'RLE_DICTIONARY':
        return Array.from(this.#indexesIn(bytes, present).subarray(0, most), (index) => this.#entry(index))
      case 'DELTA_BINARY_PACKED':
        values = deltasIn(reader, type === 'INT32' ? new Int32Array(present) : new BigInt64Array(present))
        break
      case 'DELTA_LENGTH_BYTE_ARRAY':
      case 'DELTA_BYTE_ARRAY':
        values = this.#textsIn(bytes, present, encoding === 'DELTA_BYTE_ARRAY')
        break
      case 'BYTE_STREAM_SPLIT':
        values = byteStreamSplit(reader, present, type, element.type_length)
        break
      case 'ALP':
        values = alpDecode(reader, present, type)
        break
      default:
        throw damaged('an unknown encoding')
    }
    return convert(values, this.#decoder)
  }

  #indexesIn(bytes: Uint8Array, count: number): Int32Array {
    if (count === 0) return NO_NUMBERS
    const most = this.#decoded.length - 1
    if (most < 0 || this.#decoder.type === 'BOOLEAN') throw damaged('indexes without a dictionary')
    const [width] = bytes
    if (width === undefined) throw damaged('a page that is too short')
    return readRuns(bytes.subarray(1), width, most, count)
  }

  /** A value of the dictionary. */
  #entry(index: number): unknown {
    const { type, element } = this.#decoder
    const { bytes, starts } = this.#entries
    if (this.#decoded[index] === undefined) {
      const offset = type === 'BYTE_ARRAY' ? (starts[index] ?? 0) - 4 : this.#fixedSize * index
      const { view } = readerOf(bytes)
      const values = convert(readPlain({ view, offset }, type, 1, element.type_length), this.#decoder)
      this.#decoded[index] = values[0]
    }
    return this.#decoded[index]
  }

  /** Checks that there are all of so many plain values, and finds the texts among them. */
  #placesIn(bytes: Uint8Array, count: number): ColumnTexts {
    const { view } = readerOf(bytes)
    const isText = this.#decoder.type === 'BYTE_ARRAY'
    const [starts, ends] = [new Int32Array(isText ? count : 0), new Int32Array(isText ? count : 0)]
    let end = this.#fixedSize * count
    for (let value = 0; value < starts.length; value++) {
      const start = end + 4
      end = start + view.getUint32(end, true)
      starts[value] = start
      ends[value] = end
    }
    if (end > bytes.length) throw damaged('a page that is too short')
    return { bytes, starts, ends }
  }

  /** The texts of a page that has all lengths before them. @param havePrefixes whether each repeats bytes of the one before */
  #textsIn(bytes: Uint8Array, count: number, havePrefixes: boolean): Uint8Array[] {
    const reader = readerOf(bytes)
    const prefixes = new Int32Array(count)
    if (havePrefixes) deltasIn(reader, prefixes)
    const lengths = deltasIn(reader, new Int32Array(count))
    for (const prefix of prefixes) this.#prefixBytes += Math.abs(prefix)
    if (this.#prefixBytes > MAX_PREFIX_BYTES) throw damaged(`more than ${MAX_PREFIX_BYTES} bytes of prefixes`)
    let end = reader.offset
    let text: Uint8Array = new Uint8Array(0)
    return Array.from(lengths, (length, value) => {
      const prefix = prefixes[value] ?? 0
      const start = end
      end += length
      if (prefix < 0 || prefix > text.length || length < 0 || end > bytes.length)
        throw damaged('a text that is longer than its page')
      const own = bytes.subarray(start, end)
      text = prefix === 0 ? own : Buffer.concat([text.subarray(0, prefix), own])
      return text
    })
  }
}

/** The texts at some indexes. A negative index gives an empty text. */
function chosen({ bytes, starts, ends }: ColumnTexts, indexes: Int32Array): ColumnTexts {
  const own = { bytes, starts: new Int32Array(indexes.length), ends: new Int32Array(indexes.length) }
  for (let row = 0; row < indexes.length; row++) {
    const index = indexes[row] ?? 0
    own.starts[row] = starts[index] ?? 0
    own.ends[row] = ends[index] ?? 0
  }
  return own
}

/** For each level the index of its value, or -1 if it is not `most`. */
function presentIn(levels: Int32Array, most: number): Int32Array {
  let next = 0
  return levels.map((level) => (level === most ? next++ : -1))
}

function readerOf(bytes: Uint8Array): DataReader {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 }
}

/** Reads delta-packed numbers. @throws Error when they are not as many as the values. hyparquet would make up the others */
function deltasIn<Numbers extends Int32Array | BigInt64Array>(reader: DataReader, into: Numbers): Numbers {
  const header = { ...reader }
  // Before it are the sizes of blocks.
  const [, , found] = [readVarInt(header), readVarInt(header), readVarInt(header)]
  if (found !== into.length) throw damaged('other values than the header of its page says')
  deltaBinaryUnpack(reader, found, into)
  return into
}

/** The levels of values. They are not stored if all are 0. */
function levelsIn(bytes: Uint8Array, most: number, count: number): Int32Array {
  if (most > 0) return readRuns(bytes, bitsOf(most), most, count)
  if (bytes.length > 0) throw damaged('levels that its schema does not have')
  return NO_NUMBERS
}

/** How many of the levels are this one. */
function countOf(levels: Int32Array, most: number): number {
  let count = 0
  for (const level of levels) if (level === most) count++
  return count
}

/** A number of the header of a page. @throws Error when it is missing, or not from 0 to `most` */
function counted(number: number | undefined, most: number): number {
  if (number === undefined || !Number.isInteger(number) || number < 0 || number > most)
    throw new ParquetFault('the header of a page is damaged')
  return number
}

function damaged(what: string): Error {
  return new ParquetFault(`a column has ${what}`)
}
