import { ByteFinder } from './swar.ts'

const LINE_FEED = 0x0a
const QUOTE = 0x22

/**
 * Finds where records end: at line feeds, and in delimited files only at line feeds outside quotes. A quote opens only
 * at the start of a field, and closes at the next quote that is not doubled. Anywhere else it is a character.
 *
 * If a record does not end within the bound, its opening quote is probably plain text, as in logs that contain foreign
 * text, and would swallow the rest of the file. The first physical line is then a record, which its format finds bad.
 * For the next bytes, a 64th of the bound, each physical line is a record: otherwise repeated scans take quadratic time.
 *
 * The result depends only on the bytes from the start of a record, so a splitter and the reader of its blocks agree.
 */
export class RecordEnds {
  /** Whether the record last found can contain line ends. */
  spansLines = false
  readonly #delimiter: number | null
  readonly #maxBytes: number
  #bytes: Uint8Array = new Uint8Array(0)
  #lineFeeds = new ByteFinder(LINE_FEED, this.#bytes)
  #quotes = new ByteFinder(QUOTE, this.#bytes)
  /** Records that start before this are single physical lines. */
  #plainUntil = 0
  /** The first quote at or after the start of the last search; the length of the bytes if there is none. */
  #quote = -1

  /**
   * @param delimiter the byte between fields that may be quoted; `null` if quotes have no meaning
   * @param maxBytes bound of a record, without its line feed
   */
  constructor(delimiter: number | null, maxBytes: number) {
    this.#delimiter = delimiter
    this.#maxBytes = maxBytes
  }

  /** Starts again with other bytes. Also call it after the bytes have changed. */
  reset(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#lineFeeds = new ByteFinder(LINE_FEED, bytes)
    this.#quotes = new ByteFinder(QUOTE, bytes)
    this.#plainUntil = 0
    this.#quote = -1
  }

  /** Whether a new reader that starts at `at` would find the same records. */
  mayCut(at: number): boolean {
    return at >= this.#plainUntil
  }

  /**
   * @param end end of the available bytes
   * @param isLast whether the input ends at `end`
   * @returns the index of the line feed that ends the record at `start`; `end` if the record is the last and has no
   *   line feed; -1 if more bytes are needed, or the physical line exceeds the bound
   */
  next(start: number, end: number, isLast: boolean): number {
    const bytes = this.#bytes
    const lineEnd = this.#lineFeeds.next(start, end)
    this.spansLines = false
    if (this.#delimiter === null || start < this.#plainUntil) return orLast(lineEnd, end, isLast)
    if (this.#quote < start) {
      const quote = this.#quotes.next(start, bytes.length)
      this.#quote = quote === -1 ? bytes.length : quote
    }
    if (lineEnd !== -1 && this.#quote > lineEnd) return lineEnd
    const limit = Math.min(end, start + this.#maxBytes + 1)
    const recordEnd = this.#endOfQuoted(start, Math.min(lineEnd === -1 ? limit : lineEnd, limit), limit)
    this.spansLines = recordEnd !== lineEnd
    if (recordEnd >= 0) return recordEnd
    const isInReach = end - start <= this.#maxBytes
    if (isInReach && !(isLast && recordEnd === END_IN_QUOTES)) return orLast(-1, end, isLast)
    this.spansLines = false
    // The end is not within the bound. A physical line over the bound ends at its line feed, despite its quotes.
    if (lineEnd !== -1 && lineEnd < limit) this.#plainUntil = start + Math.ceil(this.#maxBytes / 64)
    return orLast(lineEnd, end, isLast)
  }

  /**
   * @param lineEnd end of the first physical line, or `limit`
   * @returns the index of the line feed that ends the record, or, if there is none before `limit`,
   *   {@link END_IN_QUOTES} or {@link END_OUTSIDE_QUOTES}
   */
  #endOfQuoted(start: number, lineEnd: number, limit: number): number {
    const bytes = this.#bytes
    let line = lineEnd
    for (let at = start; ; at++) {
      // At the start of a field.
      if (at < limit && bytes[at] === QUOTE) {
        at = this.#quotes.next(at + 1, limit)
        while (at !== -1 && at + 1 < limit && bytes[at + 1] === QUOTE) at = this.#quotes.next(at + 2, limit)
        if (at === -1) return END_IN_QUOTES
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

/** No record end was found: the bytes end in a quoted field, or outside of one. */
const END_IN_QUOTES = -1
const END_OUTSIDE_QUOTES = -2

function orLast(lineEnd: number, end: number, isLast: boolean): number {
  return lineEnd === -1 && isLast ? end : lineEnd
}
