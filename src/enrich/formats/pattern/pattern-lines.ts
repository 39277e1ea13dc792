import type { ByteSink } from '../../../bytes/byte-sink.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { appendedNothing } from '../../writing/appended-location.ts'
import { JsonText, jsonRoom } from '../../writing/json-text.ts'
import { PatternLine, PatternTime, REST } from './pattern-line.ts'
import { PatternValues } from './pattern-values.ts'
import type { PatternPlan } from './plan.ts'

const NO_BYTES = new Uint8Array(0)
const TAB = 0x09
const QUOTE = 0x22
const ZERO = 0x30
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
/** Longer numbers would lose digits where JSON numbers are read as doubles. */
const MAX_DIGITS = 15

/**
 * Enriches lines that a server writes by a pattern. A line becomes an object of its fields, `null` where it has `-`. With
 * `append` the line is kept, followed by its location. Values keep the escapes of the log.
 */
export class PatternLines implements LineFormat {
  readonly rewrites: boolean
  readonly values: PatternValues
  readonly #plan: PatternPlan
  readonly #locator: LineLocator
  readonly #line: PatternLine
  readonly #time = new PatternTime()
  readonly #text = new JsonText()
  /** `,"name":` for each field, then for the rest of the line and the location. */
  readonly #names: readonly Uint8Array[]
  readonly #nothing: Uint8Array

  constructor(plan: PatternPlan, locator: LineLocator) {
    const encoder = new TextEncoder()
    this.#plan = plan
    this.#locator = locator
    this.#line = new PatternLine(plan.pattern)
    this.values = new PatternValues(plan, this.#line)
    this.rewrites = !plan.append
    const names = [...plan.pattern.fields.map(({ name }) => name), REST, plan.into]
    this.#names = names.map((name) => encoder.encode(`,${JSON.stringify(name)}:`))
    this.#nothing = appendedNothing(plan) ?? new Uint8Array(0)
  }

  get fault(): string {
    return `it is not a line of the log format: ${this.#line.fault}`
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const line = this.#line
    if (!line.read(bytes, start, end)) return 'bad'
    const { address, time, append, fields } = this.#plan
    const isLocated = this.#locator.locate(bytes, line.starts[address] ?? 0, line.ends[address] ?? 0)
    if (time !== null) {
      this.#locator.instant = this.#time.read(bytes, line.starts[time] ?? 0, line.ends[time] ?? 0)
    }
    this.values.bytes = bytes
    if (!this.#locator.writesLines) return isLocated ? 'resolved' : 'unresolved'
    if (!append) this.#object(bytes, end, out)
    else {
      out.write(bytes, start, end)
      if (!isLocated) out.write(this.#nothing)
      else {
        out.writeByte(TAB)
        if (fields === null) this.#locator.writeJson(out)
        else this.#locator.writeRendered(out)
      }
    }
    return isLocated ? 'resolved' : 'unresolved'
  }

  #object(bytes: Uint8Array, lineEnd: number, out: ByteSink): void {
    const { starts, ends, rest } = this.#line
    out.writeByte(OPEN_BRACE)
    for (let field = 0; field < starts.length; field++) {
      out.write(this.#names[field] ?? NO_BYTES, field === 0 ? 1 : 0)
      const start = starts[field] ?? 0
      const end = ends[field] ?? 0
      if (this.#line.isMissing(bytes, field)) out.writeAscii('null')
      else if (this.#plan.numbers.includes(field) && isNumber(bytes, start, end)) out.write(bytes, start, end)
      else this.#string(bytes, start, end, out)
    }
    if (rest < lineEnd) {
      out.write(this.#names.at(-2) ?? NO_BYTES)
      // Without the space after the last field.
      this.#string(bytes, rest + 1, lineEnd, out)
    }
    out.write(this.#names.at(-1) ?? NO_BYTES)
    this.#locator.writeJson(out)
    out.writeByte(CLOSE_BRACE)
  }

  #string(bytes: Uint8Array, start: number, end: number, out: ByteSink): void {
    out.writeByte(QUOTE)
    out.length = this.#text.put(bytes, start, end, out.room(jsonRoom(end - start)), out.length)
    out.writeByte(QUOTE)
  }
}

/** Whether a value is a whole number as JSON has it. */
function isNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_DIGITS || (bytes[start] === ZERO && end - start > 1)) return false
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return false
  }
  return true
}
