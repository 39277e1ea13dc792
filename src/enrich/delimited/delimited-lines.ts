import { ByteSink } from '../byte-sink.ts'
import type { LineFormat, LineResult } from '../line-format.ts'
import type { Locator } from '../locator.ts'
import type { DelimitedPlan } from './plan.ts'
import { RecordFields } from './record-fields.ts'

const QUOTE = 0x22
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/**
 * Records of CSV and TSV. The bytes of a record stay as they are, and columns follow; with `overwrite` those that
 * are there already get new values in their place. Without a location columns are empty.
 */
export class DelimitedLines implements LineFormat {
  readonly rewrites = false
  readonly header: LineFormat['header']
  #fault = ''
  readonly #plan: DelimitedPlan
  readonly #locator: Locator
  readonly #record: RecordFields
  /** The names of the columns that are appended, and as many empty fields. */
  readonly #names: Uint8Array
  readonly #nothing: Uint8Array
  /** The indexes in the plan's fields of what is appended. */
  readonly #appended: readonly number[]
  /** All of the plan's fields, in the quotes that CSV needs, where they are not written as they are. */
  readonly #answer = new ByteSink(1024)
  readonly #answered: RecordFields

  constructor(plan: DelimitedPlan, locator: Locator) {
    this.#plan = plan
    this.#locator = locator
    this.#record = new RecordFields(plan.delimiter, plan.quotes, plan.width)
    this.#answered = new RecordFields(plan.delimiter, true, plan.fields.length)
    this.#appended = [...plan.fields.keys()].filter((index) => !plan.replaced.includes(index))
    const delimiter = String.fromCharCode(plan.delimiter)
    const names = this.#appended.map((index) => delimiter + plan.fields[index])
    this.#names = new TextEncoder().encode(names.join(''))
    this.#nothing = new Uint8Array(this.#appended.length).fill(plan.delimiter)
    if (plan.headerLine > 0)
      this.header = (bytes, start, end, out) => this.#writeHeader(bytes, start, end, out)
  }

  get fault(): string {
    return this.#fault
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const { address, time, width, replaced } = this.#plan
    const record = this.#record
    if (!record.read(bytes, start, end)) {
      this.#fault = record.fault
      return 'bad'
    }
    if (record.count !== width) {
      this.#fault = `it has ${record.count} ${record.count === 1 ? 'column' : 'columns'}, not ${width}`
      return 'bad'
    }
    record.findValue(bytes, address)
    const isLocated = this.#locator.locate(bytes, record.valueStart, record.valueEnd)
    if (time !== null) {
      record.findValue(bytes, time)
      this.#locator.time(bytes, record.valueStart, record.valueEnd)
    }
    if (replaced.length > 0) this.#replace(bytes, isLocated, out)
    else {
      out.writeRange(bytes, start, end)
      if (isLocated) this.#append(out)
      else out.writeRange(this.#nothing, 0, this.#nothing.length)
    }
    return isLocated ? 'resolved' : 'unresolved'
  }

  #writeHeader(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    out.writeRange(bytes, start, end)
    out.writeRange(this.#names, 0, this.#names.length)
  }

  #append(out: ByteSink): void {
    const { fields, delimiter, quotes } = this.#plan
    out.writeByte(delimiter)
    const before = out.length
    this.#locator.writeColumns(out, fields, delimiter)
    // Where quotes are text, none may be put around a value.
    if (quotes || !hasQuote(out.room(0), before, out.length)) return
    out.length = before - 1
    this.#ask()
    for (const index of this.#appended) this.#writeAnswered(index, out)
  }

  /** Writes the record with new values in the place of old ones, and those that have no place behind it. */
  #replace(bytes: Uint8Array, isLocated: boolean, out: ByteSink): void {
    const { width, replaced, delimiter } = this.#plan
    if (isLocated) this.#ask()
    for (let column = 0; column < width; column++) {
      const index = replaced[column] ?? -1
      if (index < 0) {
        if (column > 0) out.writeByte(delimiter)
        out.writeRange(bytes, this.#record.start(column), this.#record.end(column))
      } else if (isLocated) this.#writeAnswered(index, out, column > 0)
      else if (column > 0) out.writeByte(delimiter)
    }
    if (isLocated) for (const index of this.#appended) this.#writeAnswered(index, out)
    else out.writeRange(this.#nothing, 0, this.#nothing.length)
  }

  /** Gets the values of all fields into the memory of `#answer`. */
  #ask(): void {
    const answer = this.#answer
    answer.length = 0
    this.#locator.writeColumns(answer, this.#plan.fields, this.#plan.delimiter)
    this.#answered.read(answer.room(0), 0, answer.length)
  }

  #writeAnswered(index: number, out: ByteSink, isDelimited = true): void {
    const { quotes, delimiter } = this.#plan
    const bytes = this.#answer.room(0)
    const [start, end] = [this.#answered.start(index), this.#answered.end(index)]
    if (isDelimited) out.writeByte(delimiter)
    if (quotes || bytes[start] !== QUOTE) {
      out.writeRange(bytes, start, end)
      return
    }
    for (let at = start + 1; at < end - 1; at++) {
      const byte = bytes[at] ?? 0
      // What would end the field or the line has no spelling without quotes.
      const isEnd = byte === delimiter || byte === LINE_FEED || byte === CARRIAGE_RETURN
      out.writeByte(isEnd ? SPACE : byte)
      if (byte === QUOTE) at++
    }
  }
}

function hasQuote(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === QUOTE) return true
  return false
}
