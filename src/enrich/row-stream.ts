import { ByteSink } from '../bytes/byte-sink.ts'
import { CARRIAGE_RETURN, LINE_FEED } from './ascii.ts'
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

/** Enriches rows that come in chunks of bytes. Each row is written as soon as its chunk completes it. */
export class RowStream {
  readonly #writer: RowWriter
  readonly #headers: ChunkHeaders
  readonly #unread = new ByteSink()
  /** The index in the unread bytes at which the search for a line feed continues. */
  #searched = 0
  /** Whether the bytes continue a row that is too long. */
  #isInLongRow = false
  /** Rows left in the block. A chunk header is next if there are none. */
  #rowsLeft: number
  /** Line feeds read. Only with chunk headers. */
  #lines = 0

  constructor(writer: RowWriter, headers: ChunkHeaders) {
    this.#writer = writer
    this.#headers = headers
    this.#rowsLeft = headers.read ? 0 : Number.POSITIVE_INFINITY
  }

  /**
   * Takes a chunk of input, and yields the output for all rows that end in it.
   *
   * @throws ChunkHeaderError when a chunk header is not a number of rows
   */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    const unread = this.#unread
    unread.write(this.#writer.escaped(chunk))
    const { bytes } = unread
    const out = new ByteSink(Math.min(4 * chunk.length + 4096, MAX_OUTPUT_BYTES))
    let start = 0
    for (;;) {
      const lineFeed = bytes.indexOf(LINE_FEED, Math.max(start, this.#searched))
      if (lineFeed === -1) break
      let end = lineFeed + 1
      if (this.#rowsLeft === 0) {
        this.#rowsLeft = this.#rowsOf(bytes, start, lineFeed)
        this.#lines++
        if (this.#headers.write) out.write(bytes, start, end)
      } else {
        const isPart = this.#isInLongRow
        end = this.#endOfRows(bytes, end, isPart ? 1 : this.#rowsLeft)
        this.#isInLongRow = false
        for (const rows of this.#writer.write(bytes.subarray(start, end), isPart, !isPart)) {
          out.write(rows)
          if (out.length >= MAX_OUTPUT_BYTES) yield out.take()
        }
      }
      start = end
    }
    if (this.#rowsLeft === 0) {
      if (bytes.length - start > MAX_HEADER_BYTES) this.#rowsOf(bytes, start, bytes.length)
    } else if (this.#isInLongRow || bytes.length - start > this.#writer.maxBytes) {
      const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length
      for (const part of this.#writer.write(bytes.subarray(start, end), true, !this.#isInLongRow))
        out.write(part)
      this.#isInLongRow ||= start < end
      start = end
    }
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
    if (this.#headers.read && this.#rowsLeft > 0) {
      throw new ChunkHeaderError(`the input ends before its last block does: rows missing: ${this.#rowsLeft}`)
    }
  }

  /** Counts whole rows, at most so many. @param end of the first one @returns the end of the last one */
  #endOfRows(bytes: Uint8Array, end: number, most: number): number {
    if (most === Number.POSITIVE_INFINITY) return bytes.lastIndexOf(LINE_FEED) + 1
    let rows = 1
    let last = end
    for (let next = last; rows < most; rows++, last = next) {
      next = bytes.indexOf(LINE_FEED, last) + 1
      if (next === 0) break
    }
    this.#rowsLeft -= rows
    this.#lines += rows
    return last
  }

  #rowsOf(bytes: Uint8Array, start: number, end: number): number {
    const text = end - start > MAX_HEADER_BYTES ? '' : String.fromCharCode(...bytes.subarray(start, end))
    const rows = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (Number.isSafeInteger(rows)) return rows
    throw new ChunkHeaderError(`line ${this.#lines + 1} does not count the rows of a block`)
  }
}
