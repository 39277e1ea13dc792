import { CARRIAGE_RETURN, LINE_FEED, QUOTE } from '../ascii.ts'

/** Bytes of the byte order mark (RFC 3629 section 6) that `bytes[0, end)` starts with: 3 or 0. */
export function markLength(bytes: Uint8Array, end: number = bytes.length): number {
  return end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
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
export function firstLines(sample: Uint8Array, isWhole: boolean, most: number): LineRange[] {
  const lines: LineRange[] = []
  let start = markLength(sample)
  while (start < sample.length && lines.length < most) {
    const lineFeed = sample.indexOf(LINE_FEED, start)
    if (lineFeed === -1 && !isWhole && lines.length > 0) break
    const next = lineFeed === -1 ? sample.length : lineFeed
    const end = next > start && sample[next - 1] === CARRIAGE_RETURN ? next - 1 : next
    if (end > start) lines.push({ start, end })
    start = next + 1
  }
  return lines
}

/** The first lines of a sample that are not empty, without their ends, as text; see {@link firstLines}. */
export function sampleLines(sample: Uint8Array, isWhole: boolean, most = 1000): string[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const lines = firstLines(sample, isWhole, most)
  return lines.map(({ start, end }) => decoder.decode(sample.subarray(start, end)))
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
