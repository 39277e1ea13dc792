import { CARRIAGE_RETURN, LINE_FEED, QUOTE } from '../../ascii.ts'
import { eventTime } from '../../locating/event-time.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { ByteFinder } from '../../swar.ts'
import type { DelimitedPlan } from './table-reader.ts'

/** Where a row is: at the start of a field, in it, in quotes, or after the quote that closes them. */
type Place = 'start' | 'text' | 'quoted' | 'closed'

/** Reads the rows of a table, which can have any number of columns. Without the column of the address, a row has no location. */
export class TableRowReader extends RecordReader {
  override readonly hasUsual = true
  readonly #plan: DelimitedPlan
  readonly #row: RecordFields
  /** Where a row that is not read is. */
  #place: Place = 'start'
  #lineFeeds = new ByteFinder(LINE_FEED, this.record)

  constructor(plan: DelimitedPlan) {
    super()
    this.#plan = plan
    const { delimiter, quotes, address, time } = plan
    this.#row = new RecordFields(delimiter, quotes, Math.max(address, ...time) + 1, !quotes)
  }

  override usual(bytes: Uint8Array, _view: DataView, start: number, limit: number): number {
    if (this.#lineFeeds.bytes !== bytes) this.#lineFeeds = new ByteFinder(LINE_FEED, bytes)
    const end = this.#lineFeeds.next(start, limit)
    if (end === start || bytes[end - 1] === CARRIAGE_RETURN) return -1
    return this.read(bytes, start, end) === 'read' ? end : -1
  }

  /** A row with a quote that is not closed is bad: its field continues in the next line, which is read as a row of its own. */
  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const row = this.#row
    if (!row.read(bytes, start, end)) {
      this.fault = row.fault
      return 'bad'
    }
    this.useBytes(bytes, start, end)
    const [time] = this.#plan.time
    if (time !== undefined) {
      row.findValue(bytes, time)
      this.instant = eventTime(bytes, row.valueStart, row.valueEnd)
    }
    row.findValue(bytes, this.#plan.address)
    this.useAddress(bytes, row.valueStart, row.valueEnd)
    return 'read'
  }

  override find(): boolean {
    return false
  }

  /** Reads quotes as `RecordFields` does. */
  override isOpenAfter(bytes: Uint8Array, start: number, end: number, isFirst: boolean): boolean {
    const { delimiter, quotes } = this.#plan
    if (isFirst) this.#place = 'start'
    for (let at = start; at < end && quotes; at++) {
      const isQuote = bytes[at] === QUOTE
      if (this.#place === 'quoted') {
        if (isQuote) this.#place = 'closed'
      } else if (isQuote && this.#place !== 'text') this.#place = 'quoted'
      else this.#place = bytes[at] === delimiter ? 'start' : 'text'
    }
    return this.#place === 'quoted'
  }
}
