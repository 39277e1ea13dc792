import { LineFeeds } from './swar.ts'

const QUOTE = 0x22

/**
 * Finds where records end: at line feeds, and in delimited files only at those outside quotes. A quote opens at
 * the start of a field only and closes at the next one that is not doubled; anywhere else it is a character.
 *
 * A record whose end is not found within the bound of a line has a quote that was never meant to open, as logs of
 * foreign text have them, and would swallow the rest of the file. Its first physical line is then a record of its
 * own, which its format finds bad. For some lines behind it quotes do not reach over line ends, so that looking
 * again does not take a time that grows with the square of the bound.
 *
 * What is decided depends on the bytes from the start of a record only, so that a splitter and whoever reads its
 * blocks agree.
 */
export class RecordEnds {
  readonly #delimiter: number | null
  readonly #maxBytes: number
  #bytes: Uint8Array = new Uint8Array(0)
  #lineFeeds = new LineFeeds(this.#bytes)
  /** Records that start before this are single physical lines. */
  #plainUntil = 0
  /** The first quote at or behind the last start that was looked from; the length of the bytes when there is none. */
  #quote = -1

  /**
   * @param delimiter of fields that may be quoted; `null` when quotes mean nothing
   * @param maxBytes bound of a record
   */
  constructor(delimiter: number | null, maxBytes: number) {
    this.#delimiter = delimiter
    this.#maxBytes = maxBytes
  }

  /** Begins anew: with other bytes, or when they have changed. */
  reset(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#lineFeeds = new LineFeeds(bytes)
    this.#plainUntil = 0
    this.#quote = -1
  }

  /** Whether the bytes may be cut before `at`, so that another reader of what follows decides the same. */
  mayCut(at: number): boolean {
    return at >= this.#plainUntil
  }

  /**
   * @param end of the bytes that are there
   * @param isLast whether nothing follows them
   * @returns the index of the line feed that ends the record starting at `start`; `end` when it is the last and
   *   has none; -1 when more bytes are needed, or it is a physical line over the bound
   */
  next(start: number, end: number, isLast: boolean): number {
    const bytes = this.#bytes
    const lineEnd = this.#lineFeeds.next(start, end)
    if (this.#delimiter === null || start < this.#plainUntil) return orLast(lineEnd, end, isLast)
    if (this.#quote < start) {
      const quote = bytes.indexOf(QUOTE, start)
      this.#quote = quote === -1 ? bytes.length : quote
    }
    if (lineEnd !== -1 && this.#quote > lineEnd) return lineEnd
    const limit = Math.min(end, start + this.#maxBytes + 1)
    const recordEnd = this.#endOfQuoted(start, Math.min(lineEnd === -1 ? limit : lineEnd, limit), limit)
    if (recordEnd >= 0) return recordEnd
    const isInReach = end - start <= this.#maxBytes
    if (isInReach && !(isLast && recordEnd === END_IN_QUOTES)) return orLast(-1, end, isLast)
    // The end is out of reach. A physical line that is too long ends at its line feed, whatever its quotes.
    if (lineEnd !== -1 && lineEnd < limit) this.#plainUntil = start + Math.ceil(this.#maxBytes / 64)
    return orLast(lineEnd, end, isLast)
  }

  /**
   * @param lineEnd of the first physical line, or `limit`
   * @returns the index of the line feed that ends the record, or how the bytes ended before `limit`
   */
  #endOfQuoted(start: number, lineEnd: number, limit: number): number {
    const bytes = this.#bytes
    let line = lineEnd
    for (let at = start; ; at++) {
      // At the start of a field.
      if (at < limit && bytes[at] === QUOTE) {
        at = bytes.indexOf(QUOTE, at + 1)
        while (at !== -1 && at + 1 < limit && bytes[at + 1] === QUOTE) at = bytes.indexOf(QUOTE, at + 2)
        if (at === -1 || at >= limit) return END_IN_QUOTES
        at++
        if (at > line) {
          const next = this.#lineFeeds.next(at, limit)
          line = next === -1 ? limit : next
        }
      }
      while (at < line && bytes[at] !== this.#delimiter) at++
      if (at >= line) return line < limit ? line : END_OUTSIDE_QUOTES
    }
  }
}

/** The bytes ended, in a quoted field or outside. */
const END_IN_QUOTES = -1
const END_OUTSIDE_QUOTES = -2

function orLast(lineEnd: number, end: number, isLast: boolean): number {
  return lineEnd === -1 && isLast ? end : lineEnd
}
