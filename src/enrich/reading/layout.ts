import { CARRIAGE_RETURN, LINE_FEED, QUOTE, SPACE, TAB } from '../ascii.ts'
import type { CommonPlan } from '../options.ts'
import { ByteFinder } from '../swar.ts'
import { markLength } from './sample.ts'

/** How records of several lines are recognised. */
export interface QuotedRecords {
  /** The byte between fields that may be quoted. */
  readonly delimiter: number
  /** The most lines of a record. */
  readonly maxLines: number
}

/** Finds where records end. The result depends only on the bytes from the start of a record. */
export interface RecordEnds {
  /** Whether records end with lines. If not, the byte that ends a record is a part of it. */
  readonly endWithLines: boolean
  /** Whether the record last found can contain line ends. */
  readonly spansLines: boolean
  /** Where the content of the record last found begins: what separates it from the record before it can come first. */
  readonly contentStart: number
  /** Starts again with other bytes. Also call it after the bytes have changed. */
  reset(bytes: Uint8Array): void
  /** Whether a new reader that starts at `at` would find the same records. */
  mayCut(at: number): boolean
  /**
   * @param end end of the available bytes
   * @param isLast whether the input ends at `end`
   * @returns the index of the byte that ends the record at `start`, its line feed if records end with lines; `end` if the
   *   record is the last and has no such byte; -1 if more bytes are needed, or the record exceeds the bound
   */
  next(start: number, end: number, isLast: boolean): number
  /**
   * Continues the record for which `next` returned -1, in the bytes that follow.
   *
   * @returns the index after its last byte, which is `from` if it ended with the bytes before; -1 if it does not end in
   *   `bytes[from, until)`
   */
  passOver(bytes: Uint8Array, from: number, until: number): number
}

/** The index after the first line feed in `bytes[from, until)`; -1 if there is none. */
export function lineEndIn(bytes: Uint8Array, from: number, until: number): number {
  // Pieces of one long line are asked for one after another, so nothing after `until` is scanned.
  const lineFeed = bytes.subarray(from, until).indexOf(LINE_FEED)
  return lineFeed === -1 ? -1 : from + lineFeed + 1
}

/**
 * Finds where records end: at line feeds, and in delimited files only at line feeds outside quotes. A quote opens only
 * at the start of a field, and closes at the next quote that is not doubled. Anywhere else it is a character.
 *
 * Logs can contain foreign text with a stray quote, which would swallow rows. A quote that opens a field of several lines is
 * stray in two cases: the field does not close within the bounds of bytes and lines, or text follows the closing quote, which
 * is then the opening quote of another field. The first physical line of a stray quote is a record, which its format finds
 * bad. The next record begins in the next line.
 *
 * Repeated scans of a chain of such fields would take quadratic time. If a second one opens within a 64th of the bound of
 * bytes, each physical line that starts there is a record.
 *
 * The result depends only on the bytes from the start of a record, so a splitter and the reader of its blocks agree. The
 * bytes of a block can end where the splitter has cut a record off. They then end in quotes, so the result is the same.
 */
export class LineRecordEnds implements RecordEnds {
  readonly endWithLines = true
  spansLines = false
  contentStart = 0
  readonly #quoted: QuotedRecords | null
  protected bytes: Uint8Array = new Uint8Array(0)
  protected lineFeeds = new ByteFinder(LINE_FEED, this.bytes)
  #quotes = new ByteFinder(QUOTE, this.bytes)
  /** Records that start before this are single physical lines. */
  protected plainUntil = 0
  /** Where the second field of several lines of the last record opened; -1 if there is none. */
  #second = -1
  /** The first quote at or after the start of the last search; the length of the bytes if there is none. */
  #quote = -1
  #searchedFrom = 0

  /**
   * @param quoted `null` if quotes have no meaning
   * @param maxBytes bound of a record, without its line feed
   */
  constructor(
    quoted: QuotedRecords | null,
    protected readonly maxBytes: number,
  ) {
    this.#quoted = quoted
  }

  reset(bytes: Uint8Array): void {
    this.bytes = bytes
    this.lineFeeds = new ByteFinder(LINE_FEED, bytes)
    if (this.#quoted !== null) this.#quotes = new ByteFinder(QUOTE, bytes)
    this.plainUntil = 0
    this.#quote = -1
  }

  mayCut(at: number): boolean {
    return at >= this.plainUntil
  }

  next(start: number, end: number, isLast: boolean): number {
    this.contentStart = start
    const lineEnd = this.lineFeeds.next(start, end)
    this.spansLines = false
    if (this.#quoted === null || start < this.plainUntil) return orLast(lineEnd, end, isLast)
    if (lineEnd !== -1 && this.#quoteAfter(start) > lineEnd) return lineEnd
    const limit = Math.min(end, start + this.maxBytes + 1)
    const recordEnd = this.#endOfQuoted(
      this.#quoted,
      start,
      Math.min(lineEnd === -1 ? limit : lineEnd, limit),
      limit,
    )
    this.spansLines = recordEnd !== lineEnd
    if (recordEnd >= 0) return recordEnd
    const isInReach = recordEnd !== STRAY && end - start <= this.maxBytes
    if (isInReach && !(isLast && recordEnd === END_IN_QUOTES)) return orLast(-1, end, isLast)
    this.spansLines = false
    // The end is not within the bound. A physical line over the bound ends at its line feed, despite its quotes.
    const plainUntil = start + Math.ceil(this.maxBytes / 64)
    if (lineEnd !== -1 && lineEnd < limit && this.#second !== -1 && this.#second < plainUntil) {
      this.plainUntil = plainUntil
    }
    return orLast(lineEnd, end, isLast)
  }

  /** A record that is too long is one physical line. */
  passOver(bytes: Uint8Array, from: number, until: number): number {
    return lineEndIn(bytes, from, until)
  }

  /**
   * @param lineEnd end of the first physical line, or `limit`
   * @returns the index of the line feed that ends the record, or, if there is none before `limit`,
   *   {@link END_IN_QUOTES} or {@link END_OUTSIDE_QUOTES}, or {@link STRAY}
   */
  #endOfQuoted(
    { delimiter, maxLines }: QuotedRecords,
    start: number,
    lineEnd: number,
    limit: number,
  ): number {
    const bytes = this.bytes
    let line = lineEnd
    let lines = 1
    this.#second = -1
    for (let at = start; ; at++) {
      // `at` is at the start of a field.
      if (at < limit && bytes[at] === QUOTE) {
        const opening = at
        at = this.#quotes.next(at + 1, limit)
        while (at !== -1 && at + 1 < limit && bytes[at + 1] === QUOTE) at = this.#quotes.next(at + 2, limit)
        const closing = at === -1 ? limit : at
        if (closing > line) {
          if (lines > 1 && this.#second === -1) this.#second = opening
          while (line < closing && lines <= maxLines) {
            const next = this.lineFeeds.next(line + 1, limit)
            line = next === -1 ? limit : next
            lines++
          }
          if (lines > maxLines) return STRAY
          if (at !== -1 && this.#hasTextAfter(at + 1, line, limit, delimiter)) return STRAY
        }
        if (at === -1) return END_IN_QUOTES
        at++
      }
      // Go to the next quote after a delimiter, from quote to quote.
      let quote = this.#quoteAfter(at + 1)
      while (quote < line && bytes[quote - 1] !== delimiter) quote = this.#quoteAfter(quote + 1)
      if (quote >= line) return line < limit ? line : END_OUTSIDE_QUOTES
      at = quote - 1
    }
  }

  /** The first quote at or after `start`; the length of the bytes if there is none. */
  #quoteAfter(start: number): number {
    if (start < this.#searchedFrom || start > this.#quote) {
      const quote = this.#quotes.next(start, this.bytes.length)
      this.#quote = quote === -1 ? this.bytes.length : quote
      this.#searchedFrom = start
    }
    return this.#quote
  }

  /** Whether a field goes on after its closing quote. Spaces, tabs and the line end do not count as text. */
  #hasTextAfter(start: number, line: number, limit: number, delimiter: number): boolean {
    const bytes = this.bytes
    let at = start
    while (at < line && bytes[at] !== delimiter && (bytes[at] === SPACE || bytes[at] === TAB)) at++
    if (at >= line || bytes[at] === delimiter) return false
    // A carriage return before the line feed, which can be the next byte to come.
    const isLineEnd = bytes[at] === CARRIAGE_RETURN && at + 1 === line
    return !isLineEnd && at < limit
  }
}

/** No record end was found: the bytes end in a quoted field, or outside of one. */
const END_IN_QUOTES = -1
const END_OUTSIDE_QUOTES = -2
/** The quote that opens its last field is stray. More bytes do not change this. */
const STRAY = -3

function orLast(lineEnd: number, end: number, isLast: boolean): number {
  return lineEnd === -1 && isLast ? end : lineEnd
}

/** Lines that change how later lines are read, such as a second `#Fields:` in the middle of a log. */
export interface Directives<State> {
  /** The byte that such a line begins with. No record begins with it. */
  readonly firstByte: number
  /** The state before the first line. A state is plain data: each block takes it to the thread that enriches the block. */
  readonly initial: State
  /** The state after the directive in `bytes[start, end)`, which has no line end. Does not change `state`. */
  next(state: State, bytes: Uint8Array, start: number, end: number): State
}

/** Where the lines of an input are that are not records, and where its records end. Its format makes it from a plan. */
export interface Layout<State = unknown> {
  /** Makes what finds the ends of records; `null` when each line is a record. */
  readonly recordEnds: (() => RecordEnds) | null
  /** The longest line that is read. Bytes. */
  readonly maxLineBytes: number
  /** Whether a line that is not a record, such as `sep=;`, comes before the header. The output keeps it. */
  readonly hasPreamble: boolean
  /** The line with the names of the columns, from 1, counting the preamble and empty lines. 0 if there is none. */
  readonly headerLine: number
  /** The number of columns that all inputs of a run must have; `null` if the format has no columns. */
  readonly columns: number | null
  /** The directives; `null` if no line changes how later lines are read. */
  readonly directives: Directives<State> | null
}

/** The layout of a format whose lines all are records. */
export function plainLayout({ maxLineBytes }: CommonPlan): Layout {
  return {
    recordEnds: null,
    maxLineBytes,
    hasPreamble: false,
    headerLine: 0,
    columns: null,
    directives: null,
  }
}

/** Finds the ends of records. */
export function recordEndsOf({ recordEnds, maxLineBytes }: Layout): RecordEnds {
  return recordEnds?.() ?? new LineRecordEnds(null, maxLineBytes)
}

/** The number of line feeds. */
export function lineFeedsIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}

/** The state after whole records and directives. */
export function stateAfter(bytes: Uint8Array, state: unknown, layout: Layout): unknown {
  const { directives, maxLineBytes } = layout
  if (directives === null) return state
  const { firstByte } = directives
  let after = state
  // Records of formats with directives are lines. Few of their bytes are the first one of a directive.
  for (let at = bytes.indexOf(firstByte); at !== -1; at = bytes.indexOf(firstByte, at + 1)) {
    if (at > 0 && bytes[at - 1] !== LINE_FEED) continue
    const lineFeed = bytes.indexOf(LINE_FEED, at)
    const lineEnd = lineFeed === -1 ? bytes.length : lineFeed
    // A directive over the bound is a bad line, as any other.
    if (lineEnd - at > maxLineBytes) continue
    const end = bytes[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd
    after = directives.next(after, bytes, at, end)
  }
  return after
}

const NO_BYTES = new Uint8Array(0)

/** The start of an input, before its first record. */
export interface Head {
  /** The line with the column names, without its line end. Empty if there is none. */
  readonly header: Uint8Array
  /** Bytes before the first record: a byte order mark, the preamble, and the header. They stay unless lines are rewritten. */
  readonly length: number
  /** Physical lines before the first record. A quoted column name can contain line feeds. */
  readonly lines: number
}

/** @param sample the start of an input */
export function headOf(sample: Uint8Array, layout: Layout): Head {
  let start = markLength(sample)
  const before = start
  if (layout.headerLine === 0 || start >= sample.length) {
    const { hasPreamble } = layout
    const lineEnd = hasPreamble ? lineEndIn(sample, start, sample.length) : start
    const length = lineEnd === -1 ? sample.length : lineEnd
    return { header: NO_BYTES, length, lines: length > start ? 1 : 0 }
  }
  for (let line = 1; line < layout.headerLine; line++) start = sample.indexOf(LINE_FEED, start) + 1
  const ends = recordEndsOf(layout)
  ends.reset(sample)
  const lineFeed = ends.next(start, sample.length, true)
  const end = sample[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
  const length = Math.min(lineFeed + 1, sample.length)
  return { header: sample.subarray(start, end), length, lines: lineFeedsIn(sample.subarray(before, length)) }
}
