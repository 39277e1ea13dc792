import { isTar } from '../../bytes/file-kind.ts'
import { BRACE, BRACE_END, CARRIAGE_RETURN, LINE_FEED, QUOTE } from '../ascii.ts'
import { EnrichError } from '../errors.ts'
import { latin1 } from '../swar.ts'

/** Bytes of the byte order mark (RFC 3629 section 6) that `bytes[0, end)` starts with: 3 or 0. */
export function markLength(bytes: Uint8Array, end: number = bytes.length): number {
  return end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

/** The start of an input, decompressed. Its plan is made from it; see {@link SampleSize}. */
export interface Sample {
  readonly bytes: Uint8Array
  /** Whether it is the whole input. If not, its last line can be cut off. */
  readonly isWhole?: boolean
  /** Whether the input paused before the sample was full: later lines can have a field that it lacks. */
  readonly isCut?: boolean
}

/** The range `[start, end)` of a line in a sample, without its line end. */
export interface LineRange {
  readonly start: number
  readonly end: number
}

/**
 * The first lines of a sample that are not empty, after a byte order mark. A last line without a line end counts if
 * the sample is the whole input or has no other line.
 *
 * @param most the largest number of lines
 */
export function firstLines({ bytes, isWhole = false }: Sample, most: number): LineRange[] {
  const lines: LineRange[] = []
  let start = markLength(bytes)
  while (start < bytes.length && lines.length < most) {
    const lineFeed = bytes.indexOf(LINE_FEED, start)
    if (lineFeed === -1 && !isWhole && lines.length > 0) break
    const next = lineFeed === -1 ? bytes.length : lineFeed
    const end = next > start && bytes[next - 1] === CARRIAGE_RETURN ? next - 1 : next
    if (end > start) lines.push({ start, end })
    start = next + 1
  }
  return lines
}

/** The first lines of a sample that are not empty, without their ends, as text; see {@link firstLines}. */
export function sampleLines(sample: Sample, most = 1000): string[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return firstLines(sample, most).map(({ start, end }) => decoder.decode(sample.bytes.subarray(start, end)))
}

/** Usual size of the sample that a plan is made from. Bytes. */
export const SAMPLE_BYTES = 256 * 1024

/** The sample holds this many whole lines: a header and a record, or the separator line and the header. */
const WHOLE_LINES = 2

/**
 * Decides how much of an input a plan is made from: 256 KiB, or more if the first two lines that are not empty are
 * longer, as in a table with many columns. A line feed between quotes does not end a line.
 */
export class SampleSize {
  /** Bytes added so far. */
  length = 0
  readonly #most: number
  #lines = 0
  #isQuoted = false
  #isEmpty = true
  /** End of the last whole line, an offset in the input. */
  #end = 0

  /** @param maxLineBytes the longest line that may be parsed: the sample does not wait for longer ones */
  constructor(maxLineBytes: number) {
    this.#most = maxLineBytes + SAMPLE_BYTES
  }

  /** Bytes that a sample should have, as far as the bytes added so far tell. */
  get wanted(): number {
    return this.#lines === WHOLE_LINES ? Math.max(SAMPLE_BYTES, Math.min(this.#end, this.#most)) : this.#most
  }

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && this.#lines < WHOLE_LINES; at++) {
      const byte = chunk[at]
      if (byte === LINE_FEED && !this.#isQuoted) {
        if (!this.#isEmpty) this.#lines++
        this.#isEmpty = true
        this.#end = this.length + at + 1
      } else if (byte === QUOTE) this.#isQuoted = !this.#isQuoted
      else if (byte !== CARRIAGE_RETURN) this.#isEmpty = false
    }
    this.length += chunk.length
  }
}

/** A JSON array is recognised within these first bytes. */
const ARRAY_HEAD_BYTES = 1024

/**
 * Whether the sample starts with an array of objects, or is an empty array. A bracket alone is not enough: logs also
 * start with brackets around a time or a level.
 */
export function startsJsonArray(sample: Uint8Array): boolean {
  return /^\s*\[\s*(?:\{\s*["}]|\]\s*$)/.test(new TextDecoder().decode(sample.subarray(0, ARRAY_HEAD_BYTES)))
}

/** Encodings with units of two or four bytes, which cannot be split at line feed bytes as UTF-8 can. */
export type WideEncoding = 'UTF-16LE' | 'UTF-16BE' | 'UTF-32LE' | 'UTF-32BE'

/** Byte order marks. UTF-32LE comes before UTF-16LE, because its mark begins with that of UTF-16LE. */
const MARKS: readonly [WideEncoding, readonly number[]][] = [
  ['UTF-32LE', [0xff, 0xfe, 0, 0]],
  ['UTF-32BE', [0, 0, 0xfe, 0xff]],
  ['UTF-16LE', [0xff, 0xfe]],
  ['UTF-16BE', [0xfe, 0xff]],
]

/** How many bytes to examine if there is no mark. A multiple of four. */
const LOOKED_AT = 1024

/**
 * The encoding of an input in UTF-16 or UTF-32, by its byte order mark, or by the positions of its zero bytes, as in
 * RFC 4627 section 3: addresses and delimiters are ASCII, so most units of such text have a zero, always in the same
 * byte. `null` for any other input.
 */
export function wideEncodingOf(sample: Uint8Array): WideEncoding | null {
  for (const [encoding, mark] of MARKS) if (mark.every((byte, at) => sample[at] === byte)) return encoding
  const quads = Math.floor(Math.min(sample.length, LOOKED_AT) / 4)
  if (quads === 0) return null
  const zeros = (...bytes: readonly number[]): number => {
    let count = 0
    for (let at = 0; at < quads * 4; at++) if (sample[at] === 0 && bytes.includes(at % 4)) count++
    return count
  }
  // UTF-8 can contain NUL bytes too: long runs after a crash, or a few as separators.
  if (zeros(2, 3) === 2 * quads && zeros(0) === 0) return 'UTF-32LE'
  if (zeros(0, 1) === 2 * quads && zeros(3) === 0) return 'UTF-32BE'
  if (zeros(1, 3) >= quads && zeros(0, 2) === 0) return 'UTF-16LE'
  if (zeros(0, 2) >= quads && zeros(1, 3) === 0) return 'UTF-16BE'
  return null
}

/** An archive or a compressed file, which has no lines to read. */
export interface Container {
  /** Text that can follow "the input is". */
  readonly what: string
  /** What to do about it, with the command. */
  readonly advice: string
}

/** Bytes that are read to recognise a format. No magic number below is longer. */
const HEAD_BYTES = 16

/** Compressed formats by magic bytes in hexadecimal. The program, with `-dc`, decompresses to standard output. */
const COMPRESSED: readonly [name: string, program: string, ...magic: string[]][] = [
  ['gzip', 'gzip', '1f8b08'],
  ['compress', 'gzip', '1f9d'],
  // Parallel compressors write a skippable frame first. Its first byte has 16 values (RFC 8878 section 3.1.2).
  ['zstd', 'zstd', '28b52ffd', ...Array.from('0123456789abcdef', (digit) => `5${digit}2a4d18`)],
  // Include the magic number of a block or of an empty stream, because text can start with "BZh".
  [
    'bzip2',
    'bzip2',
    ...Array.from('123456789', (level) => [
      `425a683${level}314159265359`,
      `425a683${level}177245385090`,
    ]).flat(),
  ],
  ['xz', 'xz', 'fd377a585a00'],
  ['lzma', 'xz', '5d0000'],
  ['lz4', 'lz4', '04224d18', '02214c18'],
  ['lzip', 'lzip', '4c5a495001'],
  ['lzop', 'lzop', '894c5a4f000d0a1a0a'],
]

const DOCUMENT = 'an office document'
const SAVE_AS_CSV = 'save its sheet as CSV in UTF-8'

/** Magic bytes of a zip archive's first member, and the offset of the member's name. */
const ZIP_MEMBER = '504b0304'
const ZIP_NAME = 30
/** Possible starts of the name of the first member in an Office or OpenDocument file. */
const IN_DOCUMENTS = ['[Content_Types]', '_rels/', 'docProps/', 'xl/', 'mimetype']

/** Other containers, by magic bytes in hexadecimal. */
const OTHERS: readonly [what: string, advice: string, ...magic: string[]][] = [
  // The last three: an archive with members, an empty one, and one that is split into parts.
  ['a zip archive', 'unpack it, as unzip FILE does', ZIP_MEMBER, '504b0506', '504b0708'],
  ['a 7z archive', 'unpack it, as 7z x FILE does', '377abcaf271c'],
  ['a rar archive', 'unpack it, as unrar x FILE does', '526172211a07'],
  [DOCUMENT, SAVE_AS_CSV, 'd0cf11e0a1b11ae1'],
]

/**
 * Recognises a container by the first bytes of an input; `null` if it is not one. The magic bytes of tar are at offset
 * 257, and a sample below 512 bytes is not a tar archive.
 */
export function containerOf(sample: Uint8Array): Container | null {
  const head = Array.from(sample.subarray(0, HEAD_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  const hasOne = (magic: readonly string[]): boolean => magic.some((each) => head.startsWith(each))
  for (const [name, program, ...magic] of COMPRESSED) {
    if (hasOne(magic)) {
      return { what: `compressed with ${name}`, advice: `decompress it, as ${program} -dc FILE does` }
    }
  }
  const member = latin1(sample, ZIP_NAME, ZIP_NAME + HEAD_BYTES)
  if (head.startsWith(ZIP_MEMBER) && IN_DOCUMENTS.some((each) => member.startsWith(each)))
    return { what: DOCUMENT, advice: SAVE_AS_CSV }
  for (const [what, advice, ...magic] of OTHERS) if (hasOne(magic)) return { what, advice }
  return isTar(sample) ? { what: 'a tar archive', advice: 'unpack it, as tar -xf FILE does' } : null
}

/**
 * Whether lines end with a carriage return and no line feed, as in "CSV (Macintosh)", so that the whole input would be
 * one line. This is so if the first line contains carriage returns, at least as many as the sample has line feeds. It does
 * not count carriage returns between quotes, where they are in a field; inside an object, where they are white space; and
 * before a line feed, where they belong to a line end.
 */
export function hasLoneCarriageReturns(sample: Uint8Array): boolean {
  // Nearly all inputs. The loop would be hot enough for V8's compiler.
  if (!sample.includes(CARRIAGE_RETURN)) return false
  let start = markLength(sample)
  while (sample[start] === LINE_FEED || sample[start] === CARRIAGE_RETURN) start++
  const isObject = sample[start] === BRACE
  let isQuoted = false
  let alone = 0
  let lineFeeds = 0
  for (let at = start; at < sample.length; at++) {
    const byte = sample[at]
    if (byte === QUOTE && !isObject) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (byte === LINE_FEED) lineFeeds++
    else if (byte === CARRIAGE_RETURN && lineFeeds === 0) {
      const next = sample[at + 1] ?? LINE_FEED
      const isLineEnd = next !== LINE_FEED && next !== CARRIAGE_RETURN
      if (isObject ? sample[at - 1] === BRACE_END && next === BRACE : isLineEnd) alone++
    }
  }
  return alone > 0 && alone >= lineFeeds
}

/** @throws EnrichError `ENRICH_INPUT_UNREADABLE` when the input is not lines of UTF-8 */
export function refuseUnreadable(sample: Uint8Array): void {
  const encoding = wideEncodingOf(sample)
  if (encoding !== null) {
    throw unreadable(
      `the input is ${encoding}: convert it to UTF-8, as iconv -f ${encoding} -t UTF-8 FILE does`,
    )
  }
  const container = containerOf(sample)
  if (container !== null) throw unreadable(`the input is ${container.what}: ${container.advice}`)
  if (hasLoneCarriageReturns(sample)) {
    throw unreadable(
      "the input's lines end with carriage returns alone: convert them to line feeds, as tr '\\r' '\\n' < FILE does",
    )
  }
}

function unreadable(message: string): EnrichError {
  return new EnrichError('ENRICH_INPUT_UNREADABLE', message)
}
