// The pages of a column (github.com/apache/parquet-format, Data Pages), before hyparquet decodes them: it trusts their headers,
// the lengths of their runs, and indexes. Damaged ones could make it read for ever, take all memory, or give other values.
import type { ColumnMetaData, ParquetType, SchemaTree } from 'hyparquet'
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js'
import { readVarInt } from 'hyparquet/src/thrift.js'
import type { ColumnTexts } from '../../../enrich/column-stream.ts'
import { NATIVE_CODEC } from '../../../node/file-bytes.ts'
import { COMPRESSORS, MAX_PAGE_BYTES } from './compression.ts'
import { checksumOf, countOf, flagOf, partOf, readStruct } from './footer.ts'

/** Limit of the rows of a row group, and of the values of a column in it. */
export const MAX_GROUP_VALUES = 2 ** 26

/** Fields of the structs in parquet.thrift. */
const PAGE = { type: 1, size: 2, storedSize: 3, checksum: 4, data: 5, dictionary: 7, dataV2: 8 } as const
const DATA = { values: 1, encoding: 2 } as const
const DATA_V2 = {
  values: 1,
  nulls: 2,
  rows: 3,
  encoding: 4,
  definition: 5,
  repetition: 6,
  isStored: 7,
} as const
const TYPES = { data: 0, dictionary: 2, dataV2: 3 } as const
/** Encodings, as parquet.thrift numbers them. */
const ENCODING = {
  plain: 0,
  plainDictionary: 2,
  runs: 3,
  deltas: 5,
  lengths: 6,
  prefixes: 7,
  dictionary: 8,
  split: 9,
  floats: 10,
} as const
const TEXTS: readonly ParquetType[] = ['BYTE_ARRAY']
const INTEGERS: readonly ParquetType[] = ['INT32', 'INT64']
const FLOATS: readonly ParquetType[] = ['FLOAT', 'DOUBLE']
/** The types that have each encoding. hyparquet reads the values of others as another type. */
const ENCODED = new Map<number, readonly ParquetType[]>([
  [ENCODING.runs, ['BOOLEAN']],
  [ENCODING.deltas, INTEGERS],
  [ENCODING.lengths, TEXTS],
  [ENCODING.prefixes, [...TEXTS, 'FIXED_LEN_BYTE_ARRAY']],
  [ENCODING.split, [...INTEGERS, ...FLOATS, 'FIXED_LEN_BYTE_ARRAY']],
  [ENCODING.floats, FLOATS],
])
/** The encodings whose texts are read here. hyparquet reads the others. */
const TEXT_ENCODINGS: readonly number[] = [ENCODING.plain, ENCODING.plainDictionary, ENCODING.dictionary]
/** Bytes of a plain value. */
const SIZES: Partial<Record<ParquetType, number>> = { INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8 }
/** Limit of what the prefixes of a column take in a row group, decoded. A few bytes of a page can repeat any number. Bytes. */
const MAX_PREFIX_BYTES = 2 ** 30
/** hyparquet loses bits of wider packed values. */
const MAX_PACKED_BITS = 24

const NO_NUMBERS: Int32Array = new Int32Array(0)

/** The path of a column in the schema, which begins with the root. */
export type SchemaPath = readonly SchemaTree[]

/**
 * Checks the pages of a column in a row group.
 *
 * @param chunk its bytes
 * @param rows of the row group
 * @param pages gets the texts of each page of a column of texts; `null` if they are not wanted
 * @returns whether it has got all of them. Some encodings are left out
 * @throws Error when a page is damaged, or the pages have other values than the footer says
 */
export function checkPages(
  chunk: Uint8Array,
  path: SchemaPath,
  metadata: ColumnMetaData,
  rows: number,
  pages: ColumnTexts[] | null = null,
): boolean {
  if (path.at(-1)?.element.type !== metadata.type) throw damaged('another type than its schema says')
  const isFlat = path.length === 2 && path[1]?.element.repetition_type !== 'REPEATED'
  const total = Number(metadata.num_values)
  if (!(total <= MAX_GROUP_VALUES) || (isFlat && total !== rows)) throw damaged(`${total} values`)
  const reader = new PageReader(path, metadata, pages)
  let seen = 0
  let at = 0
  // hyparquet ends at the last byte too.
  while (at < chunk.length - 1 && seen < total) {
    const { struct: header, end } = readStruct(chunk, at)
    const storedSize = countOf(header, PAGE.storedSize, chunk.length - end)
    seen += reader.check(header, chunk.subarray(end, end + storedSize), total - seen)
    at = end + storedSize
  }
  if (seen < total || (!isFlat && at < chunk.length - 1)) throw damaged('other values than its footer says')
  return reader.hasTexts && seen === rows
}

function damaged(what: string): Error {
  return new Error(`a column has ${what}`)
}

class PageReader {
  readonly #codec: string
  readonly #type: ParquetType
  readonly #fixedSize: number
  /** The most repetition levels, and definition levels, of a value. */
  readonly #repetition: number
  readonly #definition: number
  /** The values of the dictionary; 0 until its page has been read. */
  #dictionary = 0
  #prefixBytes = 0
  /** Gets the texts; `null` if they are not wanted, or have another encoding. */
  #pages: ColumnTexts[] | null
  /** The texts of the dictionary. */
  #entries: ColumnTexts = { bytes: new Uint8Array(0), starts: NO_NUMBERS, ends: NO_NUMBERS }

  constructor(path: SchemaPath, { codec, type }: ColumnMetaData, pages: ColumnTexts[] | null) {
    this.#pages = pages
    const below = path.slice(1).map(({ element }) => element.repetition_type)
    this.#codec = codec
    this.#type = type
    this.#fixedSize = SIZES[type] ?? path.at(-1)?.element.type_length ?? 0
    this.#repetition = below.filter((each) => each === 'REPEATED').length
    this.#definition = below.filter((each) => each !== 'REQUIRED').length
  }

  get hasTexts(): boolean {
    return this.#pages !== null
  }

  /** Returns the values of a page; 0 for a dictionary. */
  check(header: ReturnType<typeof readStruct>['struct'], stored: Uint8Array, left: number): number {
    const size = countOf(header, PAGE.size, MAX_PAGE_BYTES)
    const checksum = checksumOf(header, PAGE.checksum)
    if (checksum !== undefined && checksum !== NATIVE_CODEC.crc32(stored))
      throw damaged('a page that does not match its checksum')
    switch (countOf(header, PAGE.type, TYPES.dataV2)) {
      case TYPES.dictionary:
        this.#dictionary = countOf(partOf(header, PAGE.dictionary), DATA.values, MAX_GROUP_VALUES)
        // hyparquet cannot read beyond a decompressed page, which has memory of its own.
        if (this.#codec === 'UNCOMPRESSED' || this.#pages !== null) {
          const bytes = this.#decompressed(stored, size)
          this.#entries = { bytes, ...this.#checkPlain(bytes, this.#dictionary) }
        }
        return 0
      case TYPES.data: {
        const data = partOf(header, PAGE.data)
        const values = countOf(data, DATA.values, left)
        const page = this.#decompressed(stored, size)
        let at = 0
        let present = values
        const levels = this.#room(values)
        for (const most of [this.#repetition, this.#definition]) {
          if (most === 0) continue
          const start = at + 4
          at = start + uint32(page, at)
          present = checkRuns(page.subarray(start, at), bitsOf(most), values, most, levels)
        }
        this.#checkValues(page.subarray(at), countOf(data, DATA.encoding, 255), present, levels)
        return values
      }
      case TYPES.dataV2: {
        const data = partOf(header, PAGE.dataV2)
        const values = countOf(data, DATA_V2.values, left)
        const nulls = countOf(data, DATA_V2.nulls, values)
        countOf(data, DATA_V2.rows, values)
        const repetition = countOf(data, DATA_V2.repetition, Math.min(size, stored.length))
        const definition = countOf(data, DATA_V2.definition, Math.min(size, stored.length) - repetition)
        const stops = stored.subarray(repetition, repetition + definition)
        const levels = this.#room(values)
        if (this.#repetition > 0)
          checkRuns(stored.subarray(0, repetition), bitsOf(this.#repetition), values, this.#repetition)
        if (this.#definition === 0 && definition > 0) throw damaged('levels that its schema does not have')
        const present =
          this.#definition > 0
            ? checkRuns(stops, bitsOf(this.#definition), values, this.#definition, levels)
            : values
        if (present !== values - nulls) throw damaged('other missing values than the header of its page says')
        const rest = stored.subarray(repetition + definition)
        const isStored = flagOf(data, DATA_V2.isStored) === false
        const page = isStored ? rest : this.#decompressed(rest, size - repetition - definition)
        this.#checkValues(page, countOf(data, DATA_V2.encoding, 255), present, levels)
        return values
      }
      default:
        throw damaged('a page of an unknown type')
    }
  }

  #decompressed(stored: Uint8Array, size: number): Uint8Array {
    if (this.#codec === 'UNCOMPRESSED') return stored
    const decompressPage = Object.entries(COMPRESSORS).find(([codec]) => codec === this.#codec)?.[1]
    if (decompressPage === undefined) throw damaged(`the compression ${this.#codec}`)
    const page = decompressPage(stored, size)
    if (page.length !== size) throw damaged('a page of another length than its header says')
    return page
  }

  /** Memory for numbers of a page, if its texts are wanted. */
  #room(count: number): Int32Array {
    return this.#pages === null ? NO_NUMBERS : new Int32Array(count)
  }

  /** @param count of the values that are not missing. @param levels of all values, if texts are wanted */
  #checkValues(bytes: Uint8Array, encoding: number, count: number, levels: Int32Array): void {
    if (!TEXT_ENCODINGS.includes(encoding)) this.#pages = null
    if (ENCODED.get(encoding)?.includes(this.#type) === false) throw damaged('an encoding of another type')
    let texts: ColumnTexts = { bytes, starts: NO_NUMBERS, ends: NO_NUMBERS }
    switch (count === 0 ? -1 : encoding) {
      case ENCODING.plain:
        texts = { bytes, ...this.#checkPlain(bytes, count) }
        break
      case ENCODING.runs:
        checkRuns(bytes.subarray(4), 1, count, 1)
        break
      case ENCODING.plainDictionary:
      case ENCODING.dictionary: {
        if (this.#dictionary === 0 || this.#type === 'BOOLEAN') throw damaged('indexes without a dictionary')
        const indexes = this.#room(count)
        checkRuns(bytes.subarray(1), bytes[0] ?? 0, count, this.#dictionary - 1, indexes)
        texts = chosen(this.#entries, indexes)
        break
      }
      case ENCODING.deltas:
        checkDeltas(readerOf(bytes), count)
        break
      case ENCODING.lengths:
      case ENCODING.prefixes:
        this.#checkLengths(bytes, count, encoding === ENCODING.prefixes)
    }
    this.#pages?.push(count < levels.length ? chosen(texts, presentIn(levels, this.#definition)) : texts)
  }

  /**
   * Checks that a page has all of its plain values. hyparquet would read them from the page after it.
   *
   * @returns where the texts are, if they are wanted
   */
  #checkPlain(bytes: Uint8Array, count: number): Omit<ColumnTexts, 'bytes'> {
    const { view } = readerOf(bytes)
    const [starts, ends] = [this.#room(count), this.#room(count)]
    let end = this.#fixedSize * count
    if (this.#type === 'BYTE_ARRAY')
      for (let value = 0; value < count; value++) {
        const start = end + 4
        end = start + view.getUint32(end, true)
        starts[value] = start
        ends[value] = end
      }
    if (end > bytes.length) throw damaged('a page that is too short')
    return { starts, ends }
  }

  /** Checks the lengths of texts, and of the prefixes that they repeat. */
  #checkLengths(bytes: Uint8Array, count: number, havePrefixes: boolean): void {
    const reader = readerOf(bytes)
    const [prefixes, lengths] = [new Int32Array(count), new Int32Array(count)]
    for (const numbers of havePrefixes ? [prefixes, lengths] : [lengths]) {
      checkDeltas(reader, count)
      deltaBinaryUnpack(reader, count, numbers)
    }
    let left = bytes.length - reader.offset
    let before = 0
    for (const [value, prefix] of prefixes.entries()) {
      const length = lengths[value] ?? 0
      left -= length
      this.#prefixBytes += prefix
      if (prefix < 0 || prefix > before || length < 0 || left < 0)
        throw damaged('a text that is longer than its page')
      before = prefix + length
    }
    if (this.#prefixBytes > MAX_PREFIX_BYTES) throw damaged(`more than ${MAX_PREFIX_BYTES} bytes of prefixes`)
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

function readerOf(bytes: Uint8Array) {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 }
}

/** Checks that delta-packed numbers are as many as the values. hyparquet would make up the others. */
function checkDeltas(reader: ReturnType<typeof readerOf>, count: number): void {
  const header = { ...reader }
  // Before it are the sizes of blocks.
  const [, , found] = [readVarInt(header), readVarInt(header), readVarInt(header)]
  if (found !== count) throw damaged('other values than the header of its page says')
}

/**
 * Checks the hybrid of run lengths and packed bits.
 *
 * @param width of a value. Bits
 * @param count of the values
 * @param most the greatest value that there may be
 * @param into gets the values, if it has room
 * @returns how many values are `most`
 * @throws Error when a run has more values, the bytes have fewer, or a value is greater
 */
function checkRuns(bytes: Uint8Array, width: number, count: number, most: number, into = NO_NUMBERS): number {
  let found = 0
  for (let at = 0, seen = 0; seen < count; ) {
    // Some writers have no run of indexes into a dictionary of one value.
    if (width === 0 && at >= bytes.length) break
    let header = 0
    let shift = 0
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0
      header += (byte & 0x7f) * 2 ** shift
      if (header > 2 ** 31) throw damaged('a run that is too long')
    }
    const half = Math.floor(header / 2)
    const isPacked = header % 2 === 1
    const values = isPacked ? half * 8 : half
    // Packed values come in groups of eight. Some writers fill the last run with up to 504 values.
    if (values > (isPacked ? count + 504 : count - seen)) throw damaged('a run that is too long')
    const used = Math.min(values, count - seen)
    if (at + Math.ceil((isPacked ? used * width : width) / 8) > bytes.length)
      throw damaged('fewer values than the header of its page says')
    if (isPacked) {
      found += checkPacked(bytes, at, width, used, most, into.subarray(seen))
      at += half * width
    } else {
      let value = 0
      for (let bits = 0; bits < width; bits += 8) value += (bytes[at++] ?? 0) * 2 ** bits
      if (value > most) throw damaged(BEYOND)
      if (value === most) found += used
      into.fill(value, seen, seen + used)
    }
    seen += values
  }
  return found
}

const BEYOND = 'an index beyond its dictionary, or a level beyond its schema'

/** {@link checkRuns} for one run of packed bits. */
function checkPacked(
  bytes: Uint8Array,
  start: number,
  width: number,
  count: number,
  most: number,
  into: Int32Array,
): number {
  if (width > MAX_PACKED_BITS) throw damaged(`indexes of ${width} bits`)
  const mask = 2 ** width - 1
  let found = 0
  for (let value = 0; value < count; value++) {
    const bit = value * width
    const at = start + (bit >>> 3)
    const word =
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24)
    const each = (word >>> (bit & 7)) & mask
    if (each > most) throw damaged(BEYOND)
    if (each === most) found++
    if (value < into.length) into[value] = each
  }
  return found
}

function bitsOf(most: number): number {
  return 32 - Math.clz32(most)
}

function uint32(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) throw damaged('a page that is too short')
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true)
}
