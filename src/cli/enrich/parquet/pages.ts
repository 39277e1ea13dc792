// The pages of a column (github.com/apache/parquet-format, Data Pages), before hyparquet decodes them: it trusts their headers
// and the lengths of their runs, so that damaged ones could make it read for ever, or take all memory.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress } from 'fzstd'
import { type ColumnMetaData, type Compressors, type SchemaTree, snappyUncompress } from 'hyparquet'
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js'
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js'
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors/src/lz4.js'
import { countOf, flagOf, partOf, readStruct } from './footer.ts'

/** Limit of one page, decompressed. */
export const MAX_PAGE_BYTES = 2 ** 30
/** Limit of the rows of a row group, and of the values of a column in it. */
export const MAX_GROUP_VALUES = 2 ** 26

export const COMPRESSORS: Compressors = {
  SNAPPY: bounded((input, length) => {
    const output = new Uint8Array(length)
    snappyUncompress(input, output)
    return output
  }),
  GZIP: bounded((input, length) => gunzipSync(input, { maxOutputLength: Math.max(length, 1) })),
  BROTLI: bounded((input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(length, 1) })),
  ZSTD: bounded((input, length) => decompress(input, new Uint8Array(length))),
  LZ4: bounded(decompressLz4),
  LZ4_RAW: bounded(decompressLz4Raw),
}

type Decompress = (input: Uint8Array, length: number) => Uint8Array

/** A page says how long it is; a damaged one could ask for any memory. */
function bounded(decompressPage: Decompress): Decompress {
  return (input, length) => {
    if (!(length >= 0 && length <= MAX_PAGE_BYTES)) throw new Error(`a page has ${length} bytes`)
    return length === 0 ? new Uint8Array(0) : decompressPage(input, length)
  }
}

/** Fields of the structs in parquet.thrift. */
const PAGE = { type: 1, size: 2, storedSize: 3, data: 5, dictionary: 7, dataV2: 8 } as const
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
const RLE = 3
/** Each value repeats a prefix of the value before it. */
const DELTA_BYTE_ARRAY = 7
/** Limit of what the prefixes of a column take in a row group, decoded. A few bytes of a page can repeat any number. Bytes. */
const MAX_PREFIX_BYTES = 2 ** 30
/** Encodings whose values are runs of indexes into the dictionary. */
const DICTIONARY_ENCODINGS: readonly number[] = [2, 8]

/** The path of a column in the schema, which begins with the root. */
export type SchemaPath = readonly SchemaTree[]

/**
 * Checks the pages of a column in a row group.
 *
 * @param chunk its bytes
 * @param rows of the row group
 * @throws Error when a page is damaged, or the pages have other values than the footer says
 */
export function checkPages(
  chunk: Uint8Array,
  path: SchemaPath,
  metadata: ColumnMetaData,
  rows: number,
): void {
  if (path.at(-1)?.element.type !== metadata.type) throw damaged('another type than its schema says')
  const isFlat = path.length === 2 && path[1]?.element.repetition_type !== 'REPEATED'
  const total = Number(metadata.num_values)
  if (!(total <= MAX_GROUP_VALUES) || (isFlat && total !== rows)) throw damaged(`${total} values`)
  const pages = new Pages(path, metadata)
  let seen = 0
  let at = 0
  // hyparquet ends at the last byte too.
  while (at < chunk.length - 1 && seen < total) {
    const { struct: header, end } = readStruct(chunk, at)
    const storedSize = countOf(header, PAGE.storedSize, chunk.length - end)
    seen += pages.check(header, chunk.subarray(end, end + storedSize), total - seen)
    at = end + storedSize
  }
  if (seen < total || (!isFlat && at < chunk.length - 1)) throw damaged('other values than its footer says')
}

function damaged(what: string): Error {
  return new Error(`a column has ${what}`)
}

class Pages {
  readonly #codec: string
  readonly #isBoolean: boolean
  /** The most repetition levels, and definition levels, of a value. */
  readonly #repetition: number
  readonly #definition: number
  #prefixBytes = 0

  constructor(path: SchemaPath, { codec, type }: ColumnMetaData) {
    const below = path.slice(1).map(({ element }) => element.repetition_type)
    this.#codec = codec
    this.#isBoolean = type === 'BOOLEAN'
    this.#repetition = below.filter((each) => each === 'REPEATED').length
    this.#definition = below.filter((each) => each !== 'REQUIRED').length
  }

  /** Returns the values of a page; 0 for a dictionary. */
  check(header: ReturnType<typeof readStruct>['struct'], stored: Uint8Array, left: number): number {
    const size = countOf(header, PAGE.size, MAX_PAGE_BYTES)
    switch (countOf(header, PAGE.type, TYPES.dataV2)) {
      case TYPES.dictionary:
        countOf(partOf(header, PAGE.dictionary), DATA.values, MAX_GROUP_VALUES)
        return 0
      case TYPES.data: {
        const data = partOf(header, PAGE.data)
        const values = countOf(data, DATA.values, left)
        const page = this.#decompressed(stored, size)
        let at = 0
        let levels = 0
        for (const most of [this.#repetition, this.#definition]) {
          if (most === 0) continue
          checkRuns(page, at + 4, bitsOf(most), values)
          levels = at
          at += 4 + uint32(page, at)
        }
        const encoding = countOf(data, DATA.encoding, 255)
        this.#checkValues(page.subarray(at), encoding, values)
        if (encoding === DELTA_BYTE_ARRAY)
          this.#checkPrefixes(page.subarray(at), this.#presentIn(page.subarray(levels), values))
        return values
      }
      case TYPES.dataV2: {
        const data = partOf(header, PAGE.dataV2)
        const values = countOf(data, DATA_V2.values, left)
        const nulls = countOf(data, DATA_V2.nulls, values)
        countOf(data, DATA_V2.rows, values)
        const repetition = countOf(data, DATA_V2.repetition, Math.min(size, stored.length))
        const definition = countOf(data, DATA_V2.definition, Math.min(size, stored.length) - repetition)
        if (this.#repetition > 0) checkRuns(stored, 0, bitsOf(this.#repetition), values)
        if (this.#definition > 0) checkRuns(stored, repetition, bitsOf(this.#definition), values)
        const rest = stored.subarray(repetition + definition)
        const isStored = flagOf(data, DATA_V2.isStored) === false
        const page = isStored ? rest : this.#decompressed(rest, size - repetition - definition)
        const encoding = countOf(data, DATA_V2.encoding, 255)
        this.#checkValues(page, encoding, values)
        if (encoding === DELTA_BYTE_ARRAY) this.#checkPrefixes(page, values - nulls)
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
    return decompressPage(stored, size)
  }

  #checkValues(bytes: Uint8Array, encoding: number, values: number): void {
    if (encoding === RLE && this.#isBoolean) checkRuns(bytes, 4, 1, values)
    const width = bytes[0] ?? 0
    if (DICTIONARY_ENCODINGS.includes(encoding)) checkRuns(bytes, 1, width, values)
  }

  /** The values of a page that are not missing. @param bytes the definition levels, after their length */
  #presentIn(bytes: Uint8Array, values: number): number {
    const most = this.#definition
    if (most === 0) return values
    const levels = new Uint8Array(values)
    readRleBitPackedHybrid(readerOf(bytes), bitsOf(most), levels)
    return levels.reduce((sum, level) => (level === most ? sum + 1 : sum), 0)
  }

  /** @param bytes begin with the lengths of the prefixes of this number of values */
  #checkPrefixes(bytes: Uint8Array, count: number): void {
    const lengths = new Int32Array(count)
    if (count > 0) deltaBinaryUnpack(readerOf(bytes), count, lengths)
    for (const length of lengths) this.#prefixBytes += length
    if (this.#prefixBytes > MAX_PREFIX_BYTES) throw damaged(`more than ${MAX_PREFIX_BYTES} bytes of prefixes`)
  }
}

function readerOf(bytes: Uint8Array) {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 }
}

/**
 * Checks the lengths of runs in the hybrid of run lengths and packed bits.
 *
 * @param count the most values that are read; missing values have no run
 * @throws Error when a run has more values
 */
function checkRuns(bytes: Uint8Array, start: number, width: number, count: number): void {
  // Packed values come in groups of eight. Some writers fill the last run with up to 504 values.
  const most = count + 504
  for (let at = start, seen = 0; seen < count && at < bytes.length; ) {
    let header = 0
    let shift = 0
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0
      header += (byte & 0x7f) * 2 ** shift
      if (header > 2 ** 31) throw damaged('a run that is too long')
    }
    const half = Math.floor(header / 2)
    const values = header % 2 === 1 ? half * 8 : half
    if (values > most) throw damaged('a run that is too long')
    at += header % 2 === 1 ? half * width : (width + 7) >> 3
    seen += values
  }
}

function bitsOf(most: number): number {
  return 32 - Math.clz32(most)
}

function uint32(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) throw damaged('a page that is too short')
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true)
}
