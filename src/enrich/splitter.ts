import { separatorLine } from './formats/delimited/table.ts'
import { definitionOf, type Plan } from './formats/formats.ts'
import { RecordEnds } from './record-ends.ts'
import { markLength } from './sample.ts'
import { LineFeeds } from './swar.ts'

/** Whole lines of the input, or a piece of a line that is too long. */
export interface Block {
  /** In memory of its own: nothing else has a view of it. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Number of the first line in the input, from 1; lines are physical ones also where CSV records span several. */
  readonly firstLine: number
  /** Line starts in it. */
  readonly lines: number
  /** Whether it is a piece of a line over `maxLineBytes`, which is passed on or dropped and never parsed. */
  readonly oversized: boolean
  /** Whether it starts a line; only a further piece of an oversized line does not. */
  readonly startsLine: boolean
}

const LINE_FEED = 0x0a
const BLOCK_BYTES = 1024 * 1024

/**
 * Cuts an input into blocks that end where records end. Holds `maxLineBytes` and two blocks at most, besides the
 * chunk that it is given.
 */
export class Splitter {
  readonly #ends: RecordEnds
  readonly #isQuoted: boolean
  readonly #maxLineBytes: number
  readonly #blockBytes: number
  /** What is not in a block yet. */
  #bytes: Uint8Array<ArrayBuffer>
  #length = 0
  /** How much there is to be before the next cut is tried. */
  #target: number
  #line = 1
  #isAtStart = true
  /** Whether the bytes that come belong to a line that is too long. */
  #isOversized = false

  /** @param blockBytes bytes of a block, roughly: a block ends with a record */
  constructor(plan: Plan, blockBytes = BLOCK_BYTES) {
    this.#isQuoted = quotedDelimiterOf(plan) !== null
    this.#ends = recordEndsOf(plan)
    this.#maxLineBytes = plan.maxLineBytes
    this.#blockBytes = blockBytes
    this.#target = blockBytes
    this.#bytes = new Uint8Array(blockBytes)
  }

  /** @returns the blocks that are complete with this chunk, which is copied */
  push(chunk: Uint8Array): Block[] {
    const blocks: Block[] = []
    for (let from = 0; from < chunk.length; ) {
      if (this.#isOversized) {
        from = this.#passOn(chunk, from, blocks)
        continue
      }
      const until = Math.min(chunk.length, from + this.#target - this.#length)
      this.#append(chunk, from, until)
      from = until
      if (this.#length >= this.#target) this.#cut(false, blocks)
    }
    return blocks
  }

  /**
   * The whole records that are held back, for an input that pauses, such as a pipe from `tail -f`. What has no end
   * yet stays.
   */
  flush(): Block[] {
    const blocks: Block[] = []
    if (this.#length > 0) this.#cut(false, blocks)
    return blocks
  }

  /** What is left at the end of the input. */
  end(): Block[] {
    const blocks: Block[] = []
    if (this.#length > 0) this.#cut(true, blocks)
    return blocks
  }

  #append(chunk: Uint8Array, from: number, until: number): void {
    const needed = this.#length + until - from
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, Math.min(this.#bytes.length * 2, this.#target)))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(chunk.subarray(from, until), this.#length)
    this.#length = needed
  }

  #cut(isLast: boolean, blocks: Block[]): void {
    const whole = isLast && !this.#isQuoted ? this.#length : this.#wholeRecords(isLast)
    const rest = this.#length - whole
    const isTooLong =
      rest - (whole === 0 ? this.#mark() : 0) > this.#maxLineBytes && this.#hasNoEndAfter(whole)
    if (whole > 0) this.#emit(whole, blocks)
    if (rest === 0 || !isTooLong) {
      // Twice as much each time: the start of a long record is looked at again, but not often.
      const twice = Math.min(2 * rest, this.#maxLineBytes + this.#blockBytes)
      this.#target = Math.max(twice, rest + this.#blockBytes)
      return
    }
    blocks.push(this.#block(this.#taken(rest), 1, true, true))
    this.#isOversized = true
    this.#target = this.#blockBytes
  }

  /** @returns where the last record ends of those that may be cut off */
  #wholeRecords(isLast: boolean): number {
    const bytes = this.#bytes
    const end = this.#length
    if (!this.#isQuoted) return bytes.lastIndexOf(LINE_FEED, end - 1) + 1
    this.#ends.reset(bytes)
    const first = this.#mark()
    let whole = 0
    for (let start = first; start < end; ) {
      const recordEnd = this.#ends.next(start, end, isLast)
      // Nothing that decides about later records lies before a physical line that is too long.
      if (recordEnd === -1) return start > first && end - start > this.#maxLineBytes ? start : whole
      start = Math.min(recordEnd + 1, end)
      if (this.#ends.mayCut(start)) whole = start
    }
    return isLast ? end : whole
  }

  /** Bytes of the mark before the first line, which do not count. */
  #mark(): number {
    return this.#isAtStart ? markLength(this.#bytes, this.#length) : 0
  }

  #hasNoEndAfter(start: number): boolean {
    const at = this.#bytes.indexOf(LINE_FEED, start)
    return at === -1 || at >= this.#length
  }

  /** Emits the first `size` bytes and keeps the others. */
  #emit(size: number, blocks: Block[]): void {
    const bytes = this.#taken(size)
    blocks.push(this.#block(bytes, new LineFeeds(bytes).lines(), false, true))
  }

  /** Takes bytes off the front, with their memory, and moves the others into new memory. */
  #taken(size: number): Uint8Array<ArrayBuffer> {
    const rest = this.#bytes.subarray(size, this.#length)
    const bytes = this.#bytes.subarray(0, size)
    this.#bytes = new Uint8Array(Math.max(this.#blockBytes, rest.length))
    this.#bytes.set(rest)
    this.#length = rest.length
    this.#isAtStart = false
    return bytes
  }

  /** Passes on a piece of a line that is too long. @returns where in the chunk it ends */
  #passOn(chunk: Uint8Array, from: number, blocks: Block[]): number {
    const lineFeed = chunk.indexOf(LINE_FEED, from)
    const lineEnd = lineFeed === -1 ? chunk.length : lineFeed + 1
    const until = Math.min(lineEnd, from + this.#blockBytes)
    // A Buffer's own slice would share its memory.
    const piece = new Uint8Array(chunk.subarray(from, until))
    blocks.push(this.#block(piece, 0, true, false))
    if (lineFeed !== -1 && until === lineEnd) this.#isOversized = false
    return until
  }

  #block(bytes: Uint8Array<ArrayBuffer>, lines: number, oversized: boolean, startsLine: boolean): Block {
    // The pieces behind the first have the number of the line that they belong to.
    const firstLine = startsLine ? this.#line : this.#line - 1
    this.#line += lines
    return { bytes, firstLine, lines, oversized, startsLine }
  }
}

/**
 * Bytes at the start of an input that no record has, and that its output keeps: a byte order mark, and the line with
 * the separator.
 *
 * @param end of the bytes that are there
 */
export function preambleLength(bytes: Uint8Array, end: number, plan: Plan): number {
  const line =
    'hasSeparatorLine' in plan && plan.hasSeparatorLine ? separatorLine(bytes.subarray(0, end)) : null
  return line?.length ?? markLength(bytes, end)
}

/** Of the format of a plan. */
export function recordEndsOf(plan: Plan): RecordEnds {
  return new RecordEnds(quotedDelimiterOf(plan), plan.maxLineBytes)
}

/** Of the format of a plan; see `FormatDefinition`. */
function quotedDelimiterOf(plan: Plan): number | null {
  return definitionOf(plan.format).quotedDelimiter(plan)
}
