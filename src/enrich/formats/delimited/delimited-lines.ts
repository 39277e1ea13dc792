import { ByteSink } from '../../../bytes/byte-sink.ts'
import { fieldIndex } from '../../counting/field-values.ts'
import type { FusedLoop } from '../../engine/fused-loop.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import { eventTime } from '../../locating/event-time.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import type { DelimitedPlan } from './plan.ts'
import { RecordLoop } from './record-loop.ts'
import { RecordValues } from './record-values.ts'

/**
 * Enriches records of CSV and TSV. A record keeps its bytes, and columns are appended. With `overwrite`, columns that
 * are there already get new values in place. Without a location the columns are empty.
 */
export class DelimitedLines implements LineFormat {
  readonly rewrites: boolean = false
  readonly header: LineFormat['header']
  fault = ''
  doubt = ''
  readonly values: RecordValues
  readonly #plan: DelimitedPlan
  readonly #locator: LineLocator
  readonly #record: RecordFields
  /** The names of the appended columns, with a delimiter before each. */
  readonly #names: Uint8Array
  /** The same number of empty fields, for a record without a location. */
  readonly #nothing: Uint8Array
  /** The appended columns, as indexes in the plan's `fields`. */
  readonly #appended: readonly number[]
  /** If columns are replaced: the values of the plan's `fields`, and where each is. */
  readonly #values = new ByteSink(1024)
  readonly #valueFields: RecordFields

  constructor(plan: DelimitedPlan, locator: LineLocator) {
    this.#plan = plan
    this.#locator = locator
    this.#record = new RecordFields(plan.delimiter, plan.quotes, plan.width)
    this.values = new RecordValues(
      this.#record,
      plan.quotes,
      (plan.counted ?? []).map((field) => fieldIndex(plan.names, field)),
    )
    this.#valueFields = new RecordFields(plan.delimiter, plan.quotes, plan.fields.length)
    this.#appended = [...plan.fields.keys()].filter((index) => !plan.replaced.includes(index))
    const delimiter = String.fromCharCode(plan.delimiter)
    const names = this.#appended.map((index) => delimiter + plan.columns[index])
    this.#names = new TextEncoder().encode(names.join(''))
    this.#nothing = new Uint8Array(this.#appended.length).fill(plan.delimiter)
    if (plan.headerLine > 0)
      this.header = (bytes, start, end, out) => {
        out.write(bytes, start, end)
        out.write(this.#names)
      }
  }

  makeLoop(): FusedLoop | null {
    if (this.#plan.replaced.length > 0 || !this.#locator.writesLines) return null
    return new RecordLoop(this.#locator, this.#plan, this.#record, this.values, this.#nothing)
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const { address, time, width, replaced, delimiter } = this.#plan
    const record = this.#record
    if (!record.read(bytes, start, end)) {
      this.fault = record.fault
      return 'bad'
    }
    if (record.count !== width) {
      this.fault = `it has ${record.count} ${record.count === 1 ? 'column' : 'columns'}, not ${width}`
      return 'bad'
    }
    this.doubt =
      record.textAfterQuote > 0
        ? `text follows the closing quote of its field ${record.textAfterQuote}: look at its quotes`
        : ''
    record.findValue(bytes, address)
    const isLocated = this.#locator.locate(bytes, record.valueStart, record.valueEnd)
    if (time !== null) {
      record.findValue(bytes, time)
      this.#locator.instant = eventTime(bytes, record.valueStart, record.valueEnd)
    }
    this.values.use(bytes)
    if (!this.#locator.writesLines) return isLocated ? 'resolved' : 'unresolved'
    if (replaced.length > 0) this.#replace(bytes, isLocated, out)
    else {
      out.write(bytes, start, end)
      if (isLocated) {
        out.writeByte(delimiter)
        this.#locator.writeRendered(out)
      } else out.write(this.#nothing)
    }
    return isLocated ? 'resolved' : 'unresolved'
  }

  /** Writes the record with new values in the replaced columns, and then the appended columns. */
  #replace(bytes: Uint8Array, isLocated: boolean, out: ByteSink): void {
    const { width, replaced, delimiter } = this.#plan
    this.#values.length = 0
    if (isLocated) this.#locator.writeRendered(this.#values)
    this.#valueFields.read(this.#values.room(0), 0, this.#values.length)
    for (let column = 0; column < width; column++) {
      if (column > 0) out.writeByte(delimiter)
      const index = replaced[column] ?? -1
      if (index < 0) out.write(bytes, this.#record.start(column), this.#record.end(column))
      else if (isLocated) this.#writeValue(index, out)
    }
    for (const index of this.#appended) {
      out.writeByte(delimiter)
      if (isLocated) this.#writeValue(index, out)
    }
  }

  #writeValue(index: number, out: ByteSink): void {
    out.write(this.#values.room(0), this.#valueFields.start(index), this.#valueFields.end(index))
  }
}
