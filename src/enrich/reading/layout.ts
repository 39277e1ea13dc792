import { CARRIAGE_RETURN, LINE_FEED } from '../ascii.ts'
import type { CommonPlan } from '../options.ts'
import { LineRecordEnds, type RecordEnds } from './record-ends.ts'
import { markLength } from './sample.ts'

/** Lines that change how later lines are read, such as a second `#Fields:` in the middle of a log. */
export interface Directives<State> {
  /** The byte that such a line begins with. No record begins with it. */
  readonly firstByte: number
  /** The state before the first line. A state is plain data: each block takes it to the thread that enriches the block. */
  readonly initial: State
  /** The state after the directive in `bytes[start, end)`, which has no line end. It changes nothing that it is given. */
  next(state: State, bytes: Uint8Array, start: number, end: number): State
}

/** Where the lines of an input are that are not records, and where its records end. Its format makes it from a plan. */
export interface Layout<State = unknown> {
  /** Makes what finds the ends of records; `null` when each line is a record. */
  readonly recordEnds: (() => RecordEnds) | null
  /** The longest line that is read. Bytes. */
  readonly maxLineBytes: number
  /** Lines at the start of the input, before the header, that are not records. The output keeps them. */
  readonly preambleLines: number
  /** The line with the names of the columns, from 1, counting the preamble and empty lines. 0 if there is none. */
  readonly headerLine: number
  /** The number of columns that all inputs of a run must have; `null` if the format has no columns. */
  readonly columns: number | null
  /** The directives; `null` if no line changes how later lines are read. */
  readonly directives: Directives<State> | null
}

/** The layout of a format whose lines all are records. */
export function plainLayout({ maxLineBytes }: CommonPlan): Layout {
  return { recordEnds: null, maxLineBytes, preambleLines: 0, headerLine: 0, columns: null, directives: null }
}

/** Finds the ends of records. */
export function recordEndsOf({ recordEnds, maxLineBytes }: Layout): RecordEnds {
  return recordEnds?.() ?? new LineRecordEnds(null, maxLineBytes)
}

/**
 * Size of the bytes before the first record or header: a byte order mark, and the preamble. They stay in the output
 * unless the format rewrites lines.
 *
 * @param end end of the available bytes
 */
export function preambleLength(bytes: Uint8Array, end: number, { preambleLines }: Layout): number {
  let start = markLength(bytes, end)
  for (let line = 0; line < preambleLines && start < end; line++) start = endOfLine(bytes, start, end)
  return start
}

function endOfLine(bytes: Uint8Array, start: number, end: number): number {
  const lineFeed = bytes.indexOf(LINE_FEED, start)
  return lineFeed === -1 ? end : Math.min(lineFeed + 1, end)
}

/** The number of line feeds. */
export function lineFeedsIn(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}

/** The state after whole records and directives, which begin at `start` and end with the bytes. */
export function stateAfter(bytes: Uint8Array, start: number, state: unknown, layout: Layout): unknown {
  const { directives, maxLineBytes } = layout
  if (directives === null) return state
  const { firstByte } = directives
  let after = state
  // Records of formats with directives are lines. Few of their bytes are the first one of a directive.
  for (let at = bytes.indexOf(firstByte, start); at !== -1; at = bytes.indexOf(firstByte, at + 1)) {
    if (at > start && bytes[at - 1] !== LINE_FEED) continue
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
  /** Bytes before the first record: a byte order mark, the preamble, and the header. */
  readonly length: number
  /** Physical lines before the first record. A quoted column name can contain line feeds. */
  readonly lines: number
}

/** @param sample the start of an input */
export function headOf(sample: Uint8Array, layout: Layout): Head {
  let start = markLength(sample)
  const before = start
  if (layout.headerLine === 0 || start >= sample.length) {
    const length = preambleLength(sample, sample.length, layout)
    return { header: NO_BYTES, length, lines: length > start ? layout.preambleLines : 0 }
  }
  for (let line = 1; line < layout.headerLine; line++) start = sample.indexOf(LINE_FEED, start) + 1
  const ends = recordEndsOf(layout)
  ends.reset(sample)
  const lineFeed = ends.next(start, sample.length, true)
  const end = sample[lineFeed - 1] === CARRIAGE_RETURN ? lineFeed - 1 : lineFeed
  const length = Math.min(lineFeed + 1, sample.length)
  return { header: sample.subarray(start, end), length, lines: lineFeedsIn(sample.subarray(before, length)) }
}
