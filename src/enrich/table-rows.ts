import { ByteSink } from './byte-sink.ts'
import { RecordFields } from './formats/delimited/fields.ts'
import type { LineFormat } from './line-format.ts'
import type { TablePlan } from './row-plan.ts'

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const CAPITAL_N = 0x4e
const SMALL_N = 0x6e
const SMALL_R = 0x72
const SMALL_T = 0x74

/** Longer fields are no addresses, no lists of hops that are read, and no times. Bytes. */
const MAX_FIELD_BYTES = 8192

/**
 * Enriches the rows of a table. A row can have any number of columns: it keeps its bytes, and columns are appended. It has
 * no location if it has fewer columns than the one of the address.
 */
export class TableRows {
  readonly #plan: TablePlan
  readonly #lines: LineFormat
  readonly #fields: RecordFields
  /** A record of the address and the time of a row. */
  readonly #record = new Uint8Array(2 * MAX_FIELD_BYTES + 2)
  /** That record with its columns, quoted as in CSV. */
  readonly #answer = new ByteSink(1024)
  readonly #answered: RecordFields
  /** Where the value is that `#find` found. */
  #valueStart = 0
  #valueEnd = 0
  /** The columns of a row without a location. */
  readonly #nothing: Uint8Array

  /** @param lines of records that consist of the address and the time */
  constructor(plan: TablePlan, lines: LineFormat) {
    this.#plan = plan
    this.#lines = lines
    const { delimiter, quoting, address, time, added } = plan
    this.#fields = new RecordFields(delimiter, quoting === 'double', Math.max(address, time ?? 0) + 1)
    this.#answered = new RecordFields(delimiter, true, added + 2)
    const nothing = quoting === 'none' ? [delimiter, BACKSLASH, CAPITAL_N] : [delimiter]
    this.#nothing = Uint8Array.from(Array.from({ length: added }, () => nothing).flat())
  }

  /**
   * Writes the row in `bytes[start, end)`. A row with a quote that is not closed is written alone: it is the first part of
   * a field with a line feed, whose last part gets the columns.
   */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const { address, time, quoting, delimiter } = this.#plan
    this.writeCells(bytes, start, end, out)
    if (quoting === 'double' && !this.#fields.read(bytes, start, end)) return
    const record = this.#record
    this.#find(bytes, start, end, address)
    let length = this.#copy(bytes, 0)
    if (time !== null) {
      record[length++] = delimiter
      this.#find(bytes, start, end, time)
      length = this.#copy(bytes, length)
    }
    record[length] = LINE_FEED
    const answer = this.#answer
    answer.length = 0
    if (length === 0 || this.#lines.line(record, 0, length, answer) !== 'resolved') this.writeNothing(out)
    else if (this.#plan.quoting === 'double') out.write(answer.room(0).subarray(length, answer.length))
    else this.#writeEscaped(out)
  }

  /** Writes a row, or a part of one, without columns. */
  writeCells(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const from = out.length
    out.write(bytes.subarray(start, end))
    if (this.#plan.quoting === 'double') return
    // The escapes of the row stay. Only a line end must not be in it.
    const written = out.room(0)
    let at = from
    while (at < out.length && written[at] !== CARRIAGE_RETURN && written[at] !== LINE_FEED) at++
    if (at === out.length) return
    out.length = at
    for (at += start - from; at < end; at++)
      this.#writeByte(bytes[at] ?? 0, bytes[at] === CARRIAGE_RETURN || bytes[at] === LINE_FEED, out)
  }

  /** Writes the columns of a row without a location. */
  writeNothing(out: ByteSink): void {
    out.write(this.#nothing)
  }

  /** Finds the value of a column of the row in `bytes[start, end)`. It is empty if the row has no such column. */
  #find(bytes: Uint8Array, start: number, end: number, column: number): void {
    this.#valueStart = this.#valueEnd = end
    if (this.#plan.quoting === 'double') {
      if (column >= this.#fields.count) return
      this.#fields.findValue(bytes, column)
      this.#valueStart = this.#fields.valueStart
      this.#valueEnd = this.#fields.valueEnd
      return
    }
    let from = start
    for (let left = column; left > 0; left--) {
      from = this.#endOfCell(bytes, from, end) + 1
      if (from > end) return
    }
    let to = this.#endOfCell(bytes, from, end)
    while (to > from && isBlank(bytes[to - 1])) to--
    while (from < to && isBlank(bytes[from])) from++
    this.#valueStart = from
    this.#valueEnd = to
  }

  /** The end of a cell that is not quoted. A delimiter after a backslash is a part of it. */
  #endOfCell(bytes: Uint8Array, start: number, end: number): number {
    let at = start
    for (; at < end && bytes[at] !== this.#plan.delimiter; at++) if (bytes[at] === BACKSLASH) at++
    return Math.min(at, end)
  }

  /** Copies the value that was found to the record. @returns its end there */
  #copy(bytes: Uint8Array, start: number): number {
    const record = this.#record
    // Too long for an address or a time: leave it empty.
    if (this.#valueEnd - this.#valueStart > MAX_FIELD_BYTES) return start
    let at = start
    for (let from = this.#valueStart; from < this.#valueEnd; from++, at++) {
      const byte = bytes[from] ?? 0
      // These would change the record, and are in no address and no time.
      const isOdd =
        byte === this.#plan.delimiter || byte === QUOTE || byte === LINE_FEED || byte === CARRIAGE_RETURN
      record[at] = isOdd ? BACKSLASH : byte
    }
    return at
  }

  /** Writes the columns of the answer without quotes. */
  #writeEscaped(out: ByteSink): void {
    const { delimiter, added } = this.#plan
    const bytes = this.#answer.room(0)
    const answered = this.#answered
    answered.read(bytes, 0, this.#answer.length)
    for (let column = answered.count - added; column < answered.count; column++) {
      out.writeByte(delimiter)
      let at = answered.start(column)
      let end = answered.end(column)
      if (at === end) {
        out.writeByte(BACKSLASH)
        out.writeByte(CAPITAL_N)
        continue
      }
      const isQuoted = bytes[at] === QUOTE
      if (isQuoted) {
        at++
        end--
      }
      for (; at < end; at++) {
        const byte = bytes[at] ?? 0
        // In quotes, a quote is doubled.
        if (isQuoted && byte === QUOTE) at++
        this.#writeByte(
          byte,
          byte === delimiter || byte === BACKSLASH || byte === LINE_FEED || byte === CARRIAGE_RETURN,
          out,
        )
      }
    }
  }

  #writeByte(byte: number, isEscaped: boolean, out: ByteSink): void {
    if (isEscaped) out.writeByte(BACKSLASH)
    out.writeByte(isEscaped ? letterOf(byte) : byte)
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}

/** What stands for a byte after a backslash. */
function letterOf(byte: number): number {
  switch (byte) {
    case TAB:
      return SMALL_T
    case LINE_FEED:
      return SMALL_N
    case CARRIAGE_RETURN:
      return SMALL_R
    default:
      return byte
  }
}
