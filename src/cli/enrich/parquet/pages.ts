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
import { parquetHeader } from 'hyparquet/src/column.js'
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js'
import { byteStreamSplit } from 'hyparquet/src/encoding.js'
import { readPlain } from 'hyparquet/src/plain.js'
import { readVarInt } from 'hyparquet/src/thrift.js'
import type { ColumnTexts } from '../../../enrich/column-stream.ts'
import { NATIVE_CODEC } from '../../../node/file-bytes.ts'
import { bitsOf, COMPRESSORS, MAX_PAGE_BYTES, RunReader } from './compression.ts'
import { ParquetFault } from './footer.ts'

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
/** A column is read from the file in parts of this size, or of a page if that is larger. Bytes. */
const PART_BYTES = 2 ** 18
/** Levels are read and counted this many at a time. */
const LEVELS_AT_ONCE = 1024
const NO_NUMBERS: Int32Array = new Int32Array(0)
const NO_BYTES = new Uint8Array(0)

/** The path of a column in the schema, which begins with the root. */
export type SchemaPath = readonly SchemaTree[]

type PageParts = readonly [repetitions: Uint8Array, definitions: Uint8Array, values: Uint8Array]

/** A page of values. */
export interface Page {
  /** The levels of each value. */
  readonly repetitions: RunReader
  readonly definitions: RunReader
  readonly count: number
  /** The values that are not missing. `bytes` has them. */
  readonly present: number
  readonly encoding: Encoding
  readonly bytes: Uint8Array
}

/** Where a column of a row group is in its file. */
export interface ColumnBytes {
  readonly size: number
  /** Reads bytes of the column. They stay as they are. */
  read(start: number, end: number): Uint8Array
}

/** Reads a column of a row group, a page at a time. */
export class ColumnReader {
  readonly element: SchemaTree['element']
  /** The most repetition levels, and definition levels, of a value. */
  readonly repetition: number
  readonly definition: number
  /** Where the values of the dictionary are. There are none until its page has been read. */
  dictionary: ColumnTexts = { bytes: NO_BYTES, starts: NO_NUMBERS, ends: NO_NUMBERS }
  /** The number of these values. */
  dictionarySize = 0
  readonly #source: ColumnBytes
  readonly #metadata: ColumnMetaData
  readonly #fixedSize: number
  readonly #total: number
  /** Part of the column, and where it begins. */
  #part: Uint8Array = NO_BYTES
  #partStart = 0
  #prefixBytes = 0
  readonly #levels = new Int32Array(LEVELS_AT_ONCE)

  /**
   * @param rows of the row group
   * @throws Error when the footer says other values than there are rows, or too many
   */
  constructor(source: ColumnBytes, path: SchemaPath, metadata: ColumnMetaData, rows: number) {
    const { type } = metadata
    const { element }: Pick<SchemaTree, 'element'> = path.at(-1) ?? { element: { name: '' } }
    const below = path.slice(1).map((node) => node.element.repetition_type)
    this.element = element
    this.repetition = below.filter((each) => each === 'REPEATED').length
    this.definition = below.filter((each) => each !== 'REQUIRED').length
    this.#source = source
    this.#metadata = metadata
    this.#fixedSize = SIZES[type] ?? element.type_length ?? 0
    this.#total = Number(metadata.num_values)
    if (element.type !== type) throw damaged('another type than its schema says')
    if (!(this.#total <= MAX_GROUP_VALUES) || (this.repetition === 0 && this.#total !== rows))
      throw damaged(`${this.#total} values`)
  }

  /**
   * The pages of values. The dictionary has been read before a page that needs it.
   *
   * @throws Error when a page is damaged, or the pages have other values than the footer says
   */
  *pages(): Generator<Page> {
    const { size } = this.#source
    let at = 0
    let left = this.#total
    while (at < size && left > 0) {
      const reader = readerOf(this.#read(at, Math.min(at + MAX_HEADER_BYTES, size)))
      const header = parquetHeader(reader)
      const start = at + reader.offset
      at = start + counted(header.compressed_page_size, size - start)
      const page = this.#pageOf(header, this.#read(start, at), left)
      if (page === null) continue
      left -= page.count
      yield page
    }
    if (left > 0 || (this.repetition > 0 && at < size)) throw damaged('other values than its footer says')
  }

  #read(start: number, end: number): Uint8Array {
    if (start < this.#partStart || end > this.#partStart + this.#part.length) {
      this.#part = this.#source.read(start, Math.max(end, Math.min(start + PART_BYTES, this.#source.size)))
      this.#partStart = start
    }
    return this.#part.subarray(start - this.#partStart, end - this.#partStart)
  }

  /** Returns `null` for a dictionary. @param left the values that no page before has */
  #pageOf(header: PageHeader, stored: Uint8Array, left: number): Page | null {
    const { data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header
    const size = counted(header.uncompressed_page_size, MAX_PAGE_BYTES)
    if (header.crc !== undefined && Number(header.crc) >>> 0 !== NATIVE_CODEC.crc32(stored))
      throw damaged('a page that does not match its checksum')
    if (header.type === 'DICTIONARY_PAGE' && dictionary !== undefined) {
      const count = counted(dictionary.num_values, MAX_GROUP_VALUES)
      const bytes = this.#decompressed(stored, size)
      this.dictionary = this.placesIn(bytes, count)
      this.dictionarySize = Math.min(count, size)
      return null
    }
    const data = header.type === 'DATA_PAGE' ? v1 : header.type === 'DATA_PAGE_V2' ? v2 : undefined
    if (data === undefined) throw damaged('a page of an unknown type')
    const count = counted(data.num_values, left)
    const [first, second, bytes] =
      data === v1 ? this.#partsOf(this.#decompressed(stored, size)) : this.#partsOfV2(v2, stored, size)
    const repetitions = levelsIn(first, this.repetition, count)
    const definitions = levelsIn(second, this.definition, count)
    const present = this.#presentIn(second, count)
    if (data === v2 && present !== count - counted(v2?.num_nulls, count))
      throw damaged('other missing values than the header of its page says')
    return { repetitions, definitions, count, present, encoding: data.encoding, bytes }
  }

  /** How many values of a page are not missing. */
  #presentIn(bytes: Uint8Array, count: number): number {
    if (this.definition === 0) return count
    const reader = levelsIn(bytes, this.definition, count)
    let present = 0
    for (let left = count; left > 0; left -= LEVELS_AT_ONCE) {
      const levels = reader.read(this.#levels.subarray(0, left))
      for (let index = 0; index < levels.length; index++) if (levels[index] === this.definition) present++
    }
    return present
  }

  /** The repetition levels of a page, its definition levels, and its values. Levels have their length before them. */
  #partsOf(page: Uint8Array): PageParts {
    const { view } = readerOf(page)
    const second = this.repetition === 0 ? 0 : 4 + view.getUint32(0, true)
    const values = this.definition === 0 ? second : second + 4 + view.getUint32(second, true)
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
    const { codec } = this.#metadata
    if (size === 0) return NO_BYTES
    const page = codec === 'UNCOMPRESSED' ? stored : COMPRESSORS[codec]?.(stored, size)
    if (page === undefined) throw damaged(`the compression ${codec ?? 'of an unknown number'}`)
    if (page.length !== size) throw damaged('a page of another length than its header says')
    return page
  }

  /** The values of a page that are not missing. It has no indexes. */
  valuesOf({ bytes, encoding, present }: Page): DecodedArray {
    const { type } = this.#metadata
    if (ENCODED[encoding]?.includes(type) === false) throw damaged('an encoding of another type')
    if (present === 0) return []
    const reader = readerOf(bytes)
    switch (encoding) {
      case 'PLAIN':
        this.placesIn(bytes, present)
        return readPlain(reader, type, present, this.element.type_length)
      case 'RLE':
        return Array.from(
          new RunReader(bytes.subarray(4), 1, 1, present).read(new Int32Array(present)),
          Boolean,
        )
      case 'DELTA_BINARY_PACKED':
        return deltasIn(reader, type === 'INT32' ? new Int32Array(present) : new BigInt64Array(present))
      case 'DELTA_LENGTH_BYTE_ARRAY':
      case 'DELTA_BYTE_ARRAY':
        return this.#textsIn(bytes, present, encoding === 'DELTA_BYTE_ARRAY')
      case 'BYTE_STREAM_SPLIT':
        return byteStreamSplit(reader, present, type, this.element.type_length)
      case 'ALP':
        return alpDecode(reader, present, type)
      default:
        throw damaged('an unknown encoding')
    }
  }

  /** The indexes that a page has of values of the dictionary; `null` if it has values. */
  indexesOf({ bytes, encoding, present }: Page): RunReader | null {
    if (!INDEXED.includes(encoding)) return null
    const most = this.dictionarySize - 1
    if (present > 0 && (most < 0 || this.#metadata.type === 'BOOLEAN'))
      throw damaged('indexes without a dictionary')
    const [width = 0] = bytes
    if (present > 0 && bytes.length === 0) throw damaged('a page that is too short')
    return new RunReader(bytes.subarray(1), width, most, present)
  }

  /** A value of the dictionary, which has no texts. */
  entryAt(index: number): unknown {
    const reader = { view: readerOf(this.dictionary.bytes).view, offset: this.#fixedSize * index }
    return readPlain(reader, this.#metadata.type, 1, this.element.type_length)[0]
  }

  /** Checks that there are all of so many plain values, and finds the texts among them. */
  placesIn(bytes: Uint8Array, count: number): ColumnTexts {
    const { view } = readerOf(bytes)
    const isText = this.#metadata.type === 'BYTE_ARRAY'
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
function levelsIn(bytes: Uint8Array, most: number, count: number): RunReader {
  if (most === 0 && bytes.length > 0) throw damaged('levels that its schema does not have')
  return new RunReader(bytes, bitsOf(most), most, count)
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
