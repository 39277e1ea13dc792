import { ByteSink } from '../bytes/byte-sink.ts'
import { LINE_FEED } from './ascii.ts'
import type { RowWriter } from './row-writer.ts'

/** Yield output when it reaches this size: a hostile database can expand input 2,000-fold. Bytes. */
const MAX_OUTPUT_BYTES = 2 ** 20

/** Longer lines are not chunk headers. Bytes. */
const MAX_HEADER_BYTES = 20

/** A chunk header is not a number of rows, or the input ends before its block does. */
export class ChunkHeaderError extends Error {
  override readonly name = 'ChunkHeaderError'
}

/** Whether blocks of rows begin with a line that counts them. */
export interface ChunkHeaders {
  /** In the input. */
  readonly read: boolean
  /** In the output too. */
  readonly write: boolean
}

/**
 * Enriches rows that come in chunks of bytes. Each row is written as soon as its chunk completes it.
 *
 * A run cuts its input into blocks, which are counted and can go to other threads. Rows use the formats and the locator of
 * a run, and no blocks: a row that comes alone would need a block with its own memory and counts. A block can also drop
 * lines, while each row, blank or unreadable, becomes one row.
 */
export class RowStream {
  readonly #writer: RowWriter
  readonly #headers: ChunkHeaders
  readonly #unread = new ByteSink()
  /** The index in the unread bytes at which the search for a line feed continues. */
  #searched = 0
  /** Whether the bytes continue a row that is too long. */
  #isInLongRow = false
  /** Rows left in the block. Only with chunk headers. */
  #rowsLeft = 0
  /** Line feeds read. */
  #lines = 0

  constructor(writer: RowWriter, headers: ChunkHeaders) {
    this.#writer = writer
    this.#headers = headers
  }

  /**
   * Takes a chunk of input, and yields the output for all rows that end in it.
   *
   * @throws ChunkHeaderError when a chunk header is not a number of rows
   */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    const unread = this.#unread
    unread.write(chunk)
    let out = new ByteSink(Math.min(4 * chunk.length + 4096, MAX_OUTPUT_BYTES))
    const bytes = unread.room(0).subarray(0, unread.length)
    this.#writer.use(bytes)
    let start = 0
    for (;;) {
      const lineFeed = bytes.indexOf(LINE_FEED, Math.max(start, this.#searched))
      if (lineFeed === -1) break
      this.#line(bytes, start, lineFeed, out)
      this.#lines++
      start = lineFeed + 1
      if (out.length < MAX_OUTPUT_BYTES) continue
      yield out.take()
      out = new ByteSink()
    }
    start = this.#longRow(start, out)
    unread.drop(start)
    this.#searched = unread.length
    if (out.length > 0) yield out.take()
  }

  /**
   * Yields the output for a last row that has no line feed. The output has none either.
   *
   * @throws ChunkHeaderError when the input ends within a block
   */
  *end(): Generator<Uint8Array> {
    if (this.#unread.length > 0 || this.#isInLongRow) {
      // One row has one output at most.
      const [last = new Uint8Array(0)] = [...this.push(Uint8Array.of(LINE_FEED))]
      if (last.length > 1) yield last.subarray(0, -1)
    }
    if (this.#rowsLeft > 0) {
      throw new ChunkHeaderError(`the input ends before its last block does: rows missing: ${this.#rowsLeft}`)
    }
  }

  #line(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    if (this.#isInLongRow) {
      this.#writer.writePart(start, end, out)
      this.#writer.writeEnd(out)
      this.#isInLongRow = false
    } else if (this.#headers.read && this.#rowsLeft === 0) {
      this.#rowsLeft = this.#rowsOf(bytes, start, end)
      if (this.#headers.write) out.write(bytes, start, end + 1)
      return
    } else this.#writer.write(start, end, out)
    out.writeByte(LINE_FEED)
    if (this.#headers.read) this.#rowsLeft--
  }

  #rowsOf(bytes: Uint8Array, start: number, end: number): number {
    const text = end - start > MAX_HEADER_BYTES ? '' : String.fromCharCode(...bytes.subarray(start, end))
    const rows = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(rows)) return rows
    throw new ChunkHeaderError(`line ${this.#lines + 1} does not count the rows of a block`)
  }

  /** Writes the bytes of an overlong row that are in the buffer. @returns the index after it */
  #longRow(start: number, out: ByteSink): number {
    const [memory, end] = [this.#unread.room(0), this.#unread.length]
    if (this.#isInLongRow) {
      this.#writer.writePart(start, end, out)
      return end
    }
    if (this.#headers.read && this.#rowsLeft === 0) {
      if (end - start > MAX_HEADER_BYTES) this.#rowsOf(memory, start, end)
      return start
    }
    if (end - start <= this.#writer.maxBytes) return start
    this.#writer.writePart(start, end, out)
    this.#isInLongRow = true
    return end
  }
}
