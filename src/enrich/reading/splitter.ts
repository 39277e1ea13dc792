import { LINE_FEED } from '../ascii.ts'
import { headOf, type Layout, type RecordEnds, recordEndsOf, stateAfter } from './layout.ts'
import type { Sample } from './sample.ts'

/** Whole lines of the input, or a piece of a line that is too long. */
export interface Block {
  /** Nothing else has a view of its memory. */
  readonly bytes: Uint8Array
  /** Whether it is what precedes the first record: a byte order mark, a preamble and a header. */
  readonly isHead: boolean
  /** Whether this is a piece of a line over `maxLineBytes`, which is written or dropped but never parsed. */
  readonly oversized: boolean
  /** `false` only for the second and further pieces of an oversized line. */
  readonly startsLine: boolean
  /** What the directives before the block say, as plain data. Only for formats that have directives. */
  readonly state?: unknown
  /** The columns of a table that are fields of its records. They become rows of it. Absent if they become objects. */
  readonly columns?: readonly string[]
}

/** Gives at least `size` bytes, with any content. Reusing memory avoids new page faults and garbage. */
export type Allocate = (size: number) => Uint8Array

const NO_BYTES = new Uint8Array(0)
const BLOCK_BYTES = 1024 * 1024

/**
 * Cuts an input, without its head, into blocks of whole records. Holds at most `maxLineBytes` and two blocks, besides the
 * current chunk.
 */
export class Splitter {
  readonly #ends: RecordEnds
  /** The state after the last block, if the format has directives. */
  #state: unknown
  /** Bytes that are not in a block yet: the first `#length` of this. */
  #bytes: Uint8Array
  #length = 0
  /** Bytes to collect before the next attempt to cut. */
  #target: number
  /** Whether the next bytes belong to a line that is too long. */
  #isOversized = false

  /**
   * @param blockBytes approximate size of a block, which ends with a record
   */
  constructor(
    private readonly layout: Layout,
    private readonly blockBytes = BLOCK_BYTES,
    private readonly allocate: Allocate = (size) => new Uint8Array(size),
  ) {
    this.#ends = recordEndsOf(layout)
    this.#state = layout.directives?.initial
    this.#target = blockBytes
    this.#bytes = allocate(blockBytes)
  }

  /** Adds a chunk, which is copied. @returns the blocks that are now complete */
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
      if (this.#length >= this.#target) blocks.push(...this.#cut(false))
    }
    return blocks
  }

  /** Memory for the next bytes, to be read into instead of a chunk; empty if they must come as one. See {@link filled}. */
  room(): Uint8Array {
    return this.#isOversized ? NO_BYTES : this.#bytes.subarray(this.#length, this.#target)
  }

  /** Adds the first `size` bytes of {@link room}, which were read. @returns the blocks that are now complete */
  filled(size: number): Block[] {
    this.#length += size
    return this.#length >= this.#target ? this.#cut(false) : []
  }

  /**
   * The whole records that are held back, for an input that pauses, such as a pipe from `tail -f`. Keeps a record
   * whose end has not arrived yet.
   */
  flush(): Block[] {
    return this.#cut(false)
  }

  /** The rest of the input, at its end. */
  end(): Block[] {
    return this.#cut(true)
  }

  #append(chunk: Uint8Array, from: number, until: number): void {
    const needed = this.#length + until - from
    if (needed > this.#bytes.length) {
      const larger = this.allocate(Math.max(needed, Math.min(this.#bytes.length * 2, this.#target)))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(chunk.subarray(from, until), this.#length)
    this.#length = needed
  }

  #cut(isLast: boolean): Block[] {
    if (this.#length === 0) return []
    const blocks: Block[] = []
    const whole = this.#wholeRecords(isLast)
    const rest = this.#length - whole
    const isTooLong = rest > this.layout.maxLineBytes && this.#hasNoEndAfter(whole)
    if (whole > 0) blocks.push(this.#taken(whole, false))
    if (!isTooLong) {
      // Double it each time, so that the start of a long record is scanned again only a few times.
      const twice = Math.min(2 * rest, this.layout.maxLineBytes + this.blockBytes)
      // With a small rest, collect no more than the memory of a block, so that it need not grow.
      this.#target = 2 * rest <= this.blockBytes ? this.blockBytes : Math.max(twice, rest + this.blockBytes)
      return blocks
    }
    blocks.push(this.#taken(rest, true))
    this.#isOversized = true
    this.#target = this.blockBytes
    return blocks
  }

  /** @returns the end of the last record after which the bytes may be cut; 0 if there is none */
  #wholeRecords(isLast: boolean): number {
    const bytes = this.#bytes
    const end = this.#length
    // Each line is a record.
    if (this.layout.recordEnds === null) return isLast ? end : bytes.lastIndexOf(LINE_FEED, end - 1) + 1
    this.#ends.reset(bytes)
    let whole = 0
    for (let start = 0; start < end; ) {
      const recordEnd = this.#ends.next(start, end, isLast)
      // Bytes before a physical line over the bound do not affect later records, so cut there.
      if (recordEnd === -1) return start > 0 && end - start > this.layout.maxLineBytes ? start : whole
      start = Math.min(recordEnd + 1, end)
      if (this.#ends.mayCut(start)) whole = start
    }
    return isLast ? end : whole
  }

  /** Whether the record at `start`, for which no end was found, has none however it is read. */
  #hasNoEndAfter(start: number): boolean {
    if (!this.#ends.endWithLines) return true
    const at = this.#bytes.indexOf(LINE_FEED, start)
    return at === -1 || at >= this.#length
  }

  /** Takes bytes off the front, with their memory, and copies the others to new memory. */
  #taken(size: number, oversized: boolean): Block {
    const rest = this.#bytes.subarray(size, this.#length)
    const bytes = this.#bytes.subarray(0, size)
    this.#bytes = this.allocate(Math.max(this.blockBytes, rest.length))
    this.#bytes.set(rest)
    this.#length = rest.length
    const block = { bytes, isHead: false, oversized, startsLine: true }
    if (this.layout.directives === null) return block
    const state = this.#state
    this.#state = stateAfter(bytes, state, this.layout)
    return { ...block, state }
  }

  /** Emits a piece of a line that is too long. @returns its end in the chunk */
  #passOn(chunk: Uint8Array, from: number, blocks: Block[]): number {
    const most = Math.min(chunk.length, from + this.blockBytes)
    const end = this.#ends.passOver(chunk, from, most)
    const until = end === -1 ? most : end
    const size = until - from
    const memory = 2 * size > this.blockBytes ? this.allocate(this.blockBytes) : new Uint8Array(size)
    const piece = memory.subarray(0, size)
    piece.set(chunk.subarray(from, until))
    blocks.push({ bytes: piece, isHead: false, oversized: true, startsLine: false })
    if (end !== -1) this.#isOversized = false
    return until
  }
}

/** Bytes of a sample that are cut at a time. */
const PIECE_BYTES = 4096

/** The block of the head of an input. @param sample the start of the input, with its whole head */
export function headBlock(sample: Uint8Array, layout: Layout): Block {
  const bytes = sample.slice(0, headOf(sample, layout).length)
  return { bytes, isHead: true, oversized: false, startsLine: true, state: layout.directives?.initial }
}

/**
 * Cuts the start of an input into its head and blocks.
 *
 * @param splitter by default it makes blocks of one record, or few, so that no more of them need be enriched than are wanted
 */
export function* sampleBlocks(
  { bytes, isWhole = false }: Sample,
  layout: Layout,
  splitter = new Splitter(layout, 1),
): Generator<Block> {
  const head = headBlock(bytes, layout)
  if (head.bytes.length > 0) yield head
  for (let at = head.bytes.length; at < bytes.length; at += PIECE_BYTES)
    yield* splitter.push(bytes.subarray(at, at + PIECE_BYTES))
  yield* isWhole ? splitter.end() : splitter.flush()
}
