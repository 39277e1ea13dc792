import type { ByteSink } from '../../../bytes/byte-sink.ts'
import { BACKSLASH, CARRIAGE_RETURN, LINE_FEED, QUOTE } from '../../ascii.ts'
import type { LineFormat, LineResult, RowParts } from '../../engine/record-lines.ts'
import { eventTime } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import type { DelimitedPlan } from './table-reader.ts'

const CAPITAL_N = 0x4e
const SMALL_N = 0x6e
const SMALL_R = 0x72

/** Where a row that comes in parts is: at the start of a field, in it, in quotes, or after the quote that closes them. */
type Place = 'start' | 'text' | 'quoted' | 'closed'

/**
 * Enriches the rows of a table. A row keeps its bytes, and columns are appended. It can have any number of columns; without
 * the column of the address it has no location.
 */
export class TableRows implements LineFormat, RowParts {
  readonly rewrites = false
  readonly fault = ''
  readonly rowParts = this
  readonly escapes: boolean
  readonly #plan: DelimitedPlan
  readonly #locator: LineLocator
  readonly #fields: RecordFields
  /** The columns of a row without a location. */
  readonly #nothing: Uint8Array
  /** Whether the row, as far as it is written, ends in a backslash that escapes nothing. Only without quotes. */
  #dangles = false
  /** Only with quotes, in a row that comes in parts. */
  #place: Place = 'start'

  constructor(plan: DelimitedPlan, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    const { delimiter, quotes, address, time, fields } = plan
    const escapes = !quotes
    this.escapes = escapes
    this.#fields = new RecordFields(delimiter, !escapes, Math.max(address, ...time) + 1, escapes)
    const nothing = escapes ? [delimiter, BACKSLASH, CAPITAL_N] : [delimiter]
    this.#nothing = Uint8Array.from(fields.flatMap(() => nothing))
  }

  /**
   * A row with a quote that is not closed gets no columns: its field continues in the next line, which is read as a row of
   * its own.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const { address, delimiter } = this.#plan
    const [time] = this.#plan.time
    const fields = this.#fields
    this.#writeCells(bytes, start, end, out)
    if (!fields.read(bytes, start, end)) return 'unresolved'
    fields.findValue(bytes, address)
    if (!this.#locator.locate(bytes, fields.valueStart, fields.valueEnd)) {
      this.#writeNothing(out)
      return 'unresolved'
    }
    if (time !== undefined) {
      fields.findValue(bytes, time)
      this.#locator.instant = eventTime(bytes, fields.valueStart, fields.valueEnd)
    }
    this.#completeEscape(out)
    out.writeByte(delimiter)
    this.#locator.writeRendered(out)
    return 'resolved'
  }

  part(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    if (!this.escapes) this.#follow(bytes, start, end)
    this.#writeCells(bytes, start, end, out)
  }

  /** Ends a row that came in parts, as `line` ends one without a location. */
  end(out: ByteSink): void {
    if (this.#place !== 'quoted') this.#writeNothing(out)
    this.#place = 'start'
  }

  /** Reads the quotes of a part of a row as `RecordFields` does. Only with quotes. */
  #follow(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at++) {
      const isQuote = bytes[at] === QUOTE
      if (this.#place === 'quoted') {
        if (isQuote) this.#place = 'closed'
      } else if (isQuote && this.#place !== 'text') this.#place = 'quoted'
      else this.#place = bytes[at] === this.#plan.delimiter ? 'start' : 'text'
    }
  }

  /** Writes a row, or a part of one, without the added columns. */
  #writeCells(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    const from = out.length
    out.write(bytes, start, end)
    if (!this.escapes) return
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
  #writeNothing(out: ByteSink): void {
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
