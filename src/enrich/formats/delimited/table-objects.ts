import { ByteSink } from '../../../bytes/byte-sink.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { RecordFields } from '../../reading/record-fields.ts'
import { JsonText, jsonRoom } from '../../writing/json-text.ts'
import { DelimitedLines } from './delimited-lines.ts'
import type { DelimitedPlan } from './plan.ts'
import { RecordValues } from './record-values.ts'

const QUOTE = 0x22
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Makes an object of each record of a table: its columns as texts, or `null` for empty ones, and the location. */
export class TableObjects implements LineFormat {
  readonly rewrites = true
  /** Objects have names of their own. */
  readonly header = undefined
  readonly #lines: DelimitedLines
  readonly #locator: LineLocator
  readonly #record: RecordFields
  readonly #columns: RecordValues
  readonly #text = new JsonText()
  /** `,"name":` for each column, then for the location. */
  readonly #names: readonly Uint8Array[]
  readonly #unwritten = new ByteSink(1024)

  constructor(plan: DelimitedPlan, locator: LineLocator) {
    this.#lines = new DelimitedLines(plan, locator)
    this.#locator = locator
    this.#record = new RecordFields(plan.delimiter, plan.quotes, plan.width)
    this.#columns = new RecordValues(this.#record, plan.quotes, [...plan.names.keys()])
    const encoder = new TextEncoder()
    this.#names = [...namesOf(plan), plan.into].map((name) => encoder.encode(`,${JSON.stringify(name)}:`))
  }

  get fault(): string {
    return this.#lines.fault
  }

  get doubt(): string {
    return this.#lines.doubt
  }

  get values(): RecordValues {
    return this.#lines.values
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    // It finds the location, which is then written once more.
    this.#unwritten.length = 0
    const result = this.#lines.line(bytes, start, end, this.#unwritten)
    if (result === 'bad' || !this.#locator.writesLines) return result
    this.#record.read(bytes, start, end)
    this.#columns.use(bytes)
    const width = this.#names.length - 1
    for (let column = 0; column <= width; column++) {
      const name = this.#names[column] ?? new Uint8Array(0)
      if (column === 0) out.writeByte(OPEN_BRACE)
      out.write(name, column === 0 ? 1 : 0)
      if (column < width) this.#writeValue(column, out)
    }
    this.#locator.writeJson(out)
    out.writeByte(CLOSE_BRACE)
    return result
  }

  #writeValue(column: number, out: ByteSink): void {
    const values = this.#columns
    if (!values.find(column)) {
      out.writeAscii('null')
      return
    }
    out.writeByte(QUOTE)
    const room = out.room(jsonRoom(values.end - values.start))
    out.length = this.#text.put(values.bytes, values.start, values.end, room, out.length)
    out.writeByte(QUOTE)
  }
}

/** An object has each name once: a table can have one name twice, or none. */
function namesOf({ names }: DelimitedPlan): string[] {
  const used = new Set<string>()
  return names.map((name, index) => {
    const base = name === '' ? `column_${index + 1}` : name
    let own = base
    for (let number = 2; used.has(own); number++) own = `${base}_${number}`
    used.add(own)
    return own
  })
}
