import type { ByteSink } from '../../../bytes/byte-sink.ts'
import type { LocationTemplate } from '../../../location/rendered-locations.ts'
import { eventTime } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { type LineOptions, LOCATION_FIELDS, type LocationField, type Planned } from '../../options.ts'
import { columnsTemplate, escapedColumnsTemplate } from '../../writing/column-templates.ts'
import {
  QUOTING,
  type Quoting,
  type RowFormat,
  type RowLineOptions,
  type RowsDefinition,
} from '../row-format.ts'
import { MAX_COLUMNS, RecordFields } from './table.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTE = 0x22
const BACKSLASH = 0x5c
const CAPITAL_N = 0x4e
const SMALL_N = 0x6e
const SMALL_R = 0x72
const DASH = 0x2d

/** How to read and write the rows of a table. */
export interface TablePlan {
  readonly delimiter: number
  readonly quoting: Quoting
  /** The column of the address, from 0. */
  readonly address: number
  /** The column of the time, from 0; `null` when there is none. */
  readonly time: number | null
  /** The columns that are appended. */
  readonly fields: readonly LocationField[]
}

/** A sample for the plan of the lines: rows can have any number of columns, so only its common part is used. */
export const ANY_ROW = Uint8Array.of(DASH, LINE_FEED)

/** How the rows of a table are read. @param planLines plans the lines of {@link ANY_ROW} */
export function tableRows<Plan>(
  delimiter: number,
  planLines: (options: LineOptions) => Planned<Plan>,
): RowsDefinition<Plan, TablePlan> {
  return {
    plan: (options) => {
      const rows = planRows(options, delimiter)
      const { plan } = planLines({ ...options, header: false, field: '1', timeField: undefined })
      return { plan, rows }
    },
    template: tableTemplate,
    make: (rows, locator) => new TableRows(rows, locator),
  }
}

/** @throws TypeError when an option is wrong */
function planRows(options: RowLineOptions, delimiter: number): TablePlan {
  const { field = '', timeField, quoting = 'double', fields = LOCATION_FIELDS } = options
  if (!QUOTING.includes(quoting)) {
    throw new TypeError(`the option "quoting" must be one of ${QUOTING.join(', ')}`)
  }
  if (options.overwrite === true) {
    throw new TypeError('the option "overwrite" is for ndjson: the columns of rows have no names')
  }
  const address = columnOf(field, 'field')
  const time = timeField === undefined ? null : columnOf(timeField, 'timeField')
  return { delimiter, quoting, address, time, fields: [...fields] }
}

function columnOf(field: string, option: 'field' | 'timeField'): number {
  const column = /^[1-9]\d{0,8}$/.test(field) ? Number(field) : 0
  if (column >= 1 && column <= MAX_COLUMNS) return column - 1
  throw new TypeError(
    `the option "${option}" must be the number of a column, from 1 to ${MAX_COLUMNS}: rows have no header`,
  )
}

/** How locations are written as columns of a table. */
function tableTemplate({ fields, delimiter, quoting }: TablePlan): LocationTemplate {
  const separator = String.fromCharCode(delimiter)
  return quoting === 'double'
    ? columnsTemplate(fields, separator, true)
    : escapedColumnsTemplate(fields, separator)
}

/** Where a row that comes in parts is: at the start of a field, in it, in quotes, or after the quote that closes them. */
type Place = 'start' | 'text' | 'quoted' | 'closed'

/**
 * Enriches the rows of a table. A row keeps its bytes, and columns are appended. It can have any number of columns; without
 * the column of the address it has no location.
 */
class TableRows implements RowFormat {
  readonly escapes: boolean
  readonly #plan: TablePlan
  readonly #locator: LineLocator
  readonly #fields: RecordFields
  /** The columns of a row without a location. */
  readonly #nothing: Uint8Array
  /** Whether the row, as far as it is written, ends in a backslash that escapes nothing. Only without quotes. */
  #dangles = false
  /** Only with quotes, in a row that comes in parts. */
  #place: Place = 'start'

  /** @param locator writes locations by {@link tableTemplate} */
  constructor(plan: TablePlan, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    const { delimiter, quoting, address, time, fields } = plan
    const escapes = quoting === 'none'
    this.escapes = escapes
    this.#fields = new RecordFields(delimiter, !escapes, Math.max(address, time ?? 0) + 1, escapes)
    const nothing = escapes ? [delimiter, BACKSLASH, CAPITAL_N] : [delimiter]
    this.#nothing = Uint8Array.from(fields.flatMap(() => nothing))
  }

  /**
   * See `RowFormat`. A row with a quote that is not closed gets no columns: its field
   * continues in the next line, which is read as a row of its own.
   */
  write(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const { address, time, delimiter } = this.#plan
    const fields = this.#fields
    this.writeCells(bytes, start, end, out)
    if (!fields.read(bytes, start, end)) return
    fields.findValue(bytes, address)
    if (!this.#locator.locate(bytes, fields.valueStart, fields.valueEnd)) {
      this.writeNothing(out)
      return
    }
    if (time !== null) {
      fields.findValue(bytes, time)
      this.#locator.instant = eventTime(bytes, fields.valueStart, fields.valueEnd)
    }
    this.#completeEscape(out)
    out.writeByte(delimiter)
    this.#locator.writeRendered(out)
  }

  /** Reads the quotes of a part of a row as `RecordFields` does. Only with quotes. */
  follow(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const isQuote = bytes[at] === QUOTE
      if (this.#place === 'quoted') {
        if (isQuote) this.#place = 'closed'
      } else if (isQuote && this.#place !== 'text') this.#place = 'quoted'
      else this.#place = bytes[at] === this.#plan.delimiter ? 'start' : 'text'
    }
  }

  /** Ends a row that came in parts, as `write` ends one without a location. */
  writeEnd(out: ByteSink): void {
    if (this.#place !== 'quoted') this.writeNothing(out)
    this.#place = 'start'
  }

  /** Writes a row, or a part of one, without the added columns. */
  writeCells(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const from = out.length
    out.write(bytes, start, end)
    if (this.#plan.quoting === 'double') return
    // Keep the escapes of the row. Escape only line ends.
    const written = out.room(0)
    let at = from
    while (at < out.length && !isLineEnd(written[at])) at++
    out.length = at
    for (at += start - from; at < end; at++) {
      const byte = bytes[at] ?? 0
      if (!isLineEnd(byte)) out.writeByte(byte)
      else {
        if (this.#danglesAt(bytes, start, at)) out.writeByte(BACKSLASH)
        out.writeByte(BACKSLASH)
        out.writeByte(byte === LINE_FEED ? SMALL_N : SMALL_R)
      }
    }
    this.#dangles = this.#danglesAt(bytes, start, end)
  }

  /** Writes the columns of a row without a location. */
  writeNothing(out: ByteSink): void {
    this.#completeEscape(out)
    out.write(this.#nothing)
  }

  /** Whether an odd number of backslashes is before `end`, in `bytes[start, end)` and the parts before it. */
  #danglesAt(bytes: Uint8Array, start: number, end: number): boolean {
    let at = end
    while (at > start && bytes[at - 1] === BACKSLASH) at--
    const isOdd = (end - at) % 2 === 1
    return at === start && this.#dangles ? !isOdd : isOdd
  }

  /** A backslash at the end of the row would escape the delimiter after it, and shift the columns. */
  #completeEscape(out: ByteSink): void {
    if (this.#dangles) out.writeByte(BACKSLASH)
    this.#dangles = false
  }
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN
}
