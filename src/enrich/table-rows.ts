import type { ByteSink } from './byte-sink.ts'
import { eventTime } from './event-time.ts'
import { RecordFields } from './formats/delimited/fields.ts'
import type { LineLocator } from './line-locator.ts'
import { columnsTemplate, escapedColumnsTemplate, type LocationTemplate } from './rendered-locations.ts'
import type { TablePlan } from './row-plan.ts'

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const BACKSLASH = 0x5c
const CAPITAL_N = 0x4e
const SMALL_N = 0x6e
const SMALL_R = 0x72

/** How locations are written as columns of a table. */
export function tableTemplate({ fields, delimiter, quoting }: TablePlan): LocationTemplate {
  const separator = String.fromCharCode(delimiter)
  return quoting === 'double'
    ? columnsTemplate(fields, separator, true)
    : escapedColumnsTemplate(fields, separator)
}

/**
 * Enriches the rows of a table. A row can have any number of columns: it keeps its bytes, and columns are appended. It has
 * no location if it has fewer columns than the one of the address.
 */
export class TableRows {
  readonly #plan: TablePlan
  readonly #locator: LineLocator
  readonly #fields: RecordFields
  /** The columns of a row without a location. */
  readonly #nothing: Uint8Array
  /** Where the value is that `#find` found. */
  #valueStart = 0
  #valueEnd = 0

  /** @param locator writes locations by {@link tableTemplate} */
  constructor(plan: TablePlan, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    const { delimiter, quoting, address, time, fields } = plan
    this.#fields = new RecordFields(delimiter, quoting === 'double', Math.max(address, time ?? 0) + 1)
    const nothing = quoting === 'none' ? [delimiter, BACKSLASH, CAPITAL_N] : [delimiter]
    this.#nothing = Uint8Array.from(fields.flatMap(() => nothing))
  }

  /**
   * Writes the row in `bytes[start, end)`. A row with a quote that is not closed is written alone: it is the first part of
   * a field with a line feed, whose last part gets the columns.
   */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const { address, time, quoting, delimiter } = this.#plan
    this.writeCells(bytes, start, end, out)
    if (quoting === 'double' && !this.#fields.read(bytes, start, end)) return
    this.#find(bytes, start, end, address)
    const isLocated = this.#locator.locate(bytes, this.#valueStart, this.#valueEnd)
    if (!isLocated) {
      this.writeNothing(out)
      return
    }
    if (time !== null) {
      this.#find(bytes, start, end, time)
      this.#locator.instant = eventTime(bytes, this.#valueStart, this.#valueEnd)
    }
    out.writeByte(delimiter)
    this.#locator.writeRendered(out)
  }

  /** Writes a row, or a part of one, without columns. */
  writeCells(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const from = out.length
    out.write(bytes, start, end)
    if (this.#plan.quoting === 'double') return
    // The escapes of the row stay. Only a line end must not be in it.
    const written = out.room(0)
    let at = from
    while (at < out.length && !isLineEnd(written[at])) at++
    if (at === out.length) return
    out.length = at
    for (at += start - from; at < end; at++) {
      const byte = bytes[at] ?? 0
      if (!isLineEnd(byte)) out.writeByte(byte)
      else {
        out.writeByte(BACKSLASH)
        out.writeByte(byte === LINE_FEED ? SMALL_N : SMALL_R)
      }
    }
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
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN
}
