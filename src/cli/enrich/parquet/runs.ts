// The hybrid of run lengths and packed bits (github.com/apache/parquet-format, Encodings: RLE = 3).
import type { ByteSink } from '../../../bytes/byte-sink.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { writeVarint } from './compression.ts'
import { ParquetFault } from './footer.ts'

/** The most bits of a packed number that is read or written. Wider ones do not fit into a word from each bit on. */
export const MAX_WIDTH = 24

/** How many bits numbers up to this one take. */
export function bitsOf(most: number): number {
  return most <= 0 ? 0 : 32 - Math.clz32(most)
}

/**
 * Reads the hybrid of run lengths and packed bits.
 *
 * @param width of a value. Bits
 * @param most the greatest value that there may be
 * @throws Error when a run has more values, the bytes have fewer, or a value is greater
 */
export function readRuns(bytes: Uint8Array, width: number, most: number, count: number): Int32Array {
  const into = new Int32Array(count)
  for (let at = 0, seen = 0; seen < count; ) {
    // Some writers have no run of indexes into a dictionary of one value.
    if (width === 0 && at >= bytes.length) break
    let header = 0
    let shift = 0
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      byte = bytes[at++] ?? 0
      header += (byte & 0x7f) * 2 ** shift
      if (header > 2 ** 31) throw new ParquetFault('a column has a run that is too long')
    }
    const half = Math.floor(header / 2)
    const isPacked = header % 2 === 1
    const values = isPacked ? half * 8 : half
    // Packed values come in groups of eight. Some writers fill the last run with up to 504 values.
    if (values > (isPacked ? count + 504 : count - seen))
      throw new ParquetFault('a column has a run that is too long')
    const used = Math.min(values, count - seen)
    if (at + Math.ceil((isPacked ? used * width : width) / 8) > bytes.length)
      throw new ParquetFault('a column has fewer values than the header of its page says')
    if (isPacked) {
      readPacked(bytes, at, width, most, into.subarray(seen, seen + used))
      at += half * width
    } else {
      let value = 0
      for (let bits = 0; bits < width; bits += 8) value += (bytes[at++] ?? 0) * 2 ** bits
      if (value > most) throw new ParquetFault(BEYOND)
      into.fill(value, seen, seen + used)
    }
    seen += values
  }
  return into
}

const BEYOND = 'a column has an index beyond its dictionary, or a level beyond its schema'

/** {@link readRuns} for one run of packed bits. */
function readPacked(bytes: Uint8Array, start: number, width: number, most: number, into: Int32Array): void {
  if (width > MAX_WIDTH) throw new ParquetFault(`a column has indexes of ${width} bits`)
  const mask = 2 ** width - 1
  for (let value = 0; value < into.length; value++) {
    const bit = value * width
    const at = start + (bit >>> 3)
    const word =
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24)
    const each = (word >>> (bit & 7)) & mask
    if (each > most) throw new ParquetFault(BEYOND)
    into[value] = each
  }
}

/** Writes numbers as runs of equal ones, and packed in between. Runs begin after whole groups of eight. */
export function writeRuns(out: ByteSink, numbers: Int32Array, width: number): void {
  let packed = 0
  for (let at = 0; at < numbers.length; ) {
    const number = numbers[at] ?? 0
    let end = at + 1
    while (end < numbers.length && numbers[end] === number) end++
    if (end - at < 8) at += 8
    else {
      writePacked(out, numbers, packed, at, width)
      writeRun(out, number, end - at, width)
      packed = at = end
    }
  }
  writePacked(out, numbers, packed, numbers.length, width)
}

export function writeRun(out: ByteSink, number: number, count: number, width: number): void {
  writeVarint(out, 2 * count)
  for (let shift = 0; shift < width; shift += 8) out.writeByte((number >>> shift) & 0xff)
}

function writePacked(out: ByteSink, numbers: Int32Array, start: number, end: number, width: number): void {
  if (start === end) return
  writeVarint(out, 2 * Math.ceil((end - start) / 8) + 1)
  writeBits(out, numbers, start, end, width)
}

/** Writes the bits of `numbers[start, end)`, and zeros up to a multiple of eight numbers. */
export function writeBits(
  out: ByteSink,
  numbers: Int32Array,
  start: number,
  end: number,
  width: number,
): void {
  const size = Math.ceil((end - start) / 8) * width
  const bytes = out.room(size + 4)
  const view = viewOf(bytes)
  let at = out.length
  let word = 0
  let bits = 0
  out.length += size
  for (let index = start; index < end; index++) {
    word |= (numbers[index] ?? 0) << bits
    bits += width
    view.setInt32(at, word, true)
    at += bits >> 3
    word >>>= bits & 0x18
    bits &= 7
  }
  bytes[at] = word
  bytes.fill(0, at + 1, out.length)
}
