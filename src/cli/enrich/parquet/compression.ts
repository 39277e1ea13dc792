// The compression of pages, and of the numbers in them. Snappy is github.com/google/snappy, format_description.txt; LZ4 is github.com/lz4/lz4,
// doc/lz4_Block_format.md. Numbers are in the hybrid of run lengths and packed bits (github.com/apache/parquet-format, Encodings:
// RLE = 3).
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress } from 'fzstd'
import { type Compressors, snappyUncompress } from 'hyparquet'
import { ByteSink, copy } from '../../../bytes/byte-sink.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { ParquetFault } from './footer.ts'

/** Limit of one page, decompressed. */
export const MAX_PAGE_BYTES = 2 ** 30

export const COMPRESSORS: Compressors = {
  SNAPPY: (input, length) => {
    const output = new Uint8Array(length)
    checkLiterals(input)
    snappyUncompress(input, output)
    return output
  },
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: length }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: length }),
  ZSTD: (input, length) => decompress(input, new Uint8Array(length)),
  LZ4: decompressLZ4Hadoop,
  LZ4_RAW: decompressLZ4,
}

/** Throws if a literal ends after the input. hyparquet reads lengths past 2 GiB as negative, and could read the same bytes for ever. */
function checkLiterals(input: Uint8Array): void {
  let at = 0
  while ((input[at++] ?? 0) >= 0x80);
  while (at < input.length) {
    const tag = input[at++] ?? 0
    if ((tag & 3) !== 0) at += (tag & 3) === 3 ? 4 : tag & 3
    else if (tag >>> 2 < MAX_TAG_LITERAL) at += (tag >>> 2) + 1
    else {
      const bytes = (tag >>> 2) - MAX_TAG_LITERAL + 1
      let last = 0
      for (let index = bytes; index-- > 0; ) last = last * 256 + (input[at + index] ?? 0)
      at += bytes + last + 1
    }
  }
  if (at !== input.length) throw new ParquetFault('a page is cut off')
}

/**
 * Decompresses one block. hyparquet-compressors takes blocks whose output is shorter than `length`, and reads some damaged ones for
 * ever.
 *
 * @throws Error when the output has another size than `length`
 */
function decompressLZ4(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length)
  let at = 0
  let to = 0
  const size = (nibble: number): number => {
    let sum = nibble
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; sum += byte) byte = input[at++] ?? 0
    return sum
  }
  while (at < input.length) {
    const token = input[at++] ?? 0
    const literal = size(token >>> 4)
    if (literal > input.length - at || literal > length - to) break
    to = copy(input, at, at + literal, output, to)
    at += literal
    if (at === input.length && to === length) return output
    const distance = (input[at] ?? 0) | ((input[at + 1] ?? 0) << 8)
    at += 2
    const end = to + size(token & 15) + 4
    if (distance === 0 || distance > to || end > length) break
    for (; to < end; to++) output[to] = output[to - distance] ?? 0
  }
  throw new ParquetFault('a page is damaged')
}

/**
 * Blocks of LZ4 with their sizes, decompressed and compressed, as Hadoop writes them; or one block without, as some writers of this
 * codec did (github.com/apache/parquet-format, Compression.md).
 */
function decompressLZ4Hadoop(input: Uint8Array, length: number): Uint8Array {
  const view = viewOf(input)
  const output = new Uint8Array(length)
  let to = 0
  try {
    for (let at = 0; at < input.length; ) {
      const [size, start] = [view.getUint32(at), at + 8]
      at = start + view.getUint32(at + 4)
      if (at > input.length || size > length - to) break
      output.set(decompressLZ4(input.subarray(start, at), size), to)
      to += size
      if (at === input.length && to === length) return output
    }
  } catch {}
  return decompressLZ4(input, length)
}

const HASH_BITS = 14
const HASH_FACTOR = 0x1e35_a7bd
/** How far back a copy can reach. Bytes. */
const MAX_DISTANCE = 0xffff
const MAX_COPY_BYTES = 64
const MIN_COPY_BYTES = 4
/** A longer literal has its length after its tag. Bytes. */
const MAX_TAG_LITERAL = 60
const COPY_OF_TWO_BYTES = 2

/**
 * Compresses pages. `snappyCompress` of hyparquet-writer makes an object for each literal: it takes 1.7 times as long for exported
 * networks.
 */
export class SnappyCompressor {
  readonly #out = new ByteSink(0)
  /** Where four bytes with each hash were seen last. */
  readonly #places = new Int32Array(2 ** HASH_BITS)

  /** Returns the compressed bytes, which are valid until the next call. */
  compress(input: Uint8Array): Uint8Array {
    const out = this.#out
    const places = this.#places.fill(0)
    const view = viewOf(input)
    const lastWord = input.length - MIN_COPY_BYTES
    out.length = 0
    writeVarint(out, input.length)
    let literal = 0
    let misses = 32
    for (let at = 1; at <= lastWord; ) {
      const word = view.getInt32(at, true)
      const hash = Math.imul(word, HASH_FACTOR) >>> (32 - HASH_BITS)
      const from = places[hash] ?? 0
      places[hash] = at
      if (at - from > MAX_DISTANCE || view.getInt32(from, true) !== word) {
        // The longer nothing repeats, the fewer places are tried.
        at += misses++ >>> 5
        continue
      }
      misses = 32
      let end = at + MIN_COPY_BYTES
      while (end < input.length && input[end] === input[end - at + from]) end++
      this.#addLiteral(input, literal, at)
      this.#addCopy(at - from, end - at)
      literal = at = end
      if (end <= lastWord)
        places[Math.imul(view.getInt32(end - 1, true), HASH_FACTOR) >>> (32 - HASH_BITS)] = end - 1
    }
    this.#addLiteral(input, literal, input.length)
    return out.bytes
  }

  #addLiteral(input: Uint8Array, start: number, end: number): void {
    const last = end - start - 1
    if (last < 0) return
    const out = this.#out
    if (last < MAX_TAG_LITERAL) out.writeByte(last << 2)
    else {
      const bytes = Math.ceil((32 - Math.clz32(last)) / 8)
      out.writeByte((MAX_TAG_LITERAL - 1 + bytes) << 2)
      for (let shift = 0; shift < 8 * bytes; shift += 8) out.writeByte((last >>> shift) & 0xff)
    }
    out.write(input, start, end)
  }

  #addCopy(distance: number, size: number): void {
    const out = this.#out
    for (let left = size; left > 0; ) {
      // No part may be shorter than the shortest copy.
      const part = left <= MAX_COPY_BYTES ? left : Math.min(MAX_COPY_BYTES, left - MIN_COPY_BYTES)
      if (part < 12 && distance < 2048) out.writeByte(1 + ((part - 4) << 2) + ((distance >>> 8) << 5))
      else out.writeByte(COPY_OF_TWO_BYTES + ((part - 1) << 2))
      out.writeByte(distance & 0xff)
      if (part >= 12 || distance >= 2048) out.writeByte(distance >>> 8)
      left -= part
    }
  }
}

function writeVarint(out: ByteSink, number: number): void {
  let rest = number
  for (; rest >= 0x80; rest >>>= 7) out.writeByte((rest & 0x7f) | 0x80)
  out.writeByte(rest)
}

/** The most bits of a packed number that is read or written. Wider ones do not fit into a word from each bit on. */
export const MAX_WIDTH = 24

/** How many bits numbers up to this one take. */
export function bitsOf(most: number): number {
  return most <= 0 ? 0 : 32 - Math.clz32(most)
}

const TOO_LONG = 'a column has a run that is too long'
const BEYOND = 'a column has an index beyond its dictionary, or a level beyond its schema'

/** Reads the hybrid of run lengths and packed bits, in parts. */
export class RunReader {
  readonly #bytes: Uint8Array
  readonly #width: number
  readonly #most: number
  readonly #count: number
  /** Where the next run is. */
  #at = 0
  /** The numbers after this run, and those of this run that were not read. */
  #left: number
  #inRun = 0
  /** The number of a run of equal ones. */
  #number = 0
  /** Where packed numbers begin, and the next one of them. There are none if it is -1. */
  #packed = -1
  #next = 0

  /**
   * @param width of a number. Bits
   * @param most the greatest number that there may be
   * @param count of all numbers
   */
  constructor(bytes: Uint8Array, width: number, most: number, count: number) {
    this.#bytes = bytes
    this.#width = width
    this.#most = most
    this.#count = this.#left = count
  }

  /**
   * Reads the next numbers, as many as `into` has.
   *
   * @throws Error when a run has more numbers than there are, the bytes have fewer, or a number is greater than `most`
   */
  read(into: Int32Array): Int32Array {
    for (let seen = 0; seen < into.length; ) {
      while (this.#inRun === 0) this.#readRun()
      const end = Math.min(seen + this.#inRun, into.length)
      this.#inRun -= end - seen
      if (this.#packed === -1) into.fill(this.#number, seen, end)
      else this.#readPacked(into, seen, end)
      seen = end
    }
    return into
  }

  #readRun(): void {
    const bytes = this.#bytes
    const [width, left] = [this.#width, this.#left]
    this.#packed = -1
    let at = this.#at
    // Some writers have no run of indexes into a dictionary of one value.
    if (width === 0 && at >= bytes.length) {
      this.#number = this.#left = 0
      this.#inRun = left
      return
    }
    let header = 0
    let shift = 0
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0
      header += (byte & 0x7f) * 2 ** shift
      if (header > 2 ** 31) throw new ParquetFault(TOO_LONG)
    }
    const half = Math.floor(header / 2)
    const isPacked = header % 2 === 1
    const values = isPacked ? half * 8 : half
    // Packed values come in groups of eight. Some writers fill the last run with up to 504 values.
    if (values > (isPacked ? this.#count + 504 : left)) throw new ParquetFault(TOO_LONG)
    const used = Math.min(values, left)
    if (at + Math.ceil((isPacked ? used * width : width) / 8) > bytes.length)
      throw new ParquetFault('a column has fewer values than the header of its page says')
    if (isPacked) {
      if (width > MAX_WIDTH) throw new ParquetFault(`a column has indexes of ${width} bits`)
      this.#packed = at
      this.#next = 0
      at += half * width
    } else {
      let number = 0
      for (let bits = 0; bits < width; bits += 8) number += (bytes[at++] ?? 0) * 2 ** bits
      if (number > this.#most) throw new ParquetFault(BEYOND)
      this.#number = number
    }
    this.#at = at
    this.#inRun = used
    this.#left = left - used
  }

  #readPacked(into: Int32Array, from: number, to: number): void {
    const [bytes, width, most, start] = [this.#bytes, this.#width, this.#most, this.#packed]
    const mask = 2 ** width - 1
    let bit = this.#next * width
    this.#next += to - from
    for (let index = from; index < to; index++, bit += width) {
      const at = start + (bit >>> 3)
      const word =
        (bytes[at] ?? 0) |
        ((bytes[at + 1] ?? 0) << 8) |
        ((bytes[at + 2] ?? 0) << 16) |
        ((bytes[at + 3] ?? 0) << 24)
      const each = (word >>> (bit & 7)) & mask
      if (each > most) throw new ParquetFault(BEYOND)
      into[index] = each
    }
  }
}
