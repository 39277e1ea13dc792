import { quoted } from '../../address/quoted.ts'
import { JSON_HEAD } from '../answer-text.ts'
import type { ByteSink } from '../byte-sink.ts'
import type { LineFormat, LineResult } from '../line-format.ts'
import type { Locator } from '../locator.ts'
import { viewOf, Words } from '../words.ts'
import { JsonScanner } from './json-scanner.ts'
import { MemberPath, NOWHERE, unescaped } from './member-path.ts'
import type { NdjsonPlan } from './plan.ts'
import { ShapeMemory } from './shape-memory.ts'

const QUOTE = 0x22
/** `n` of `null`. */
const NULL_START = 0x6e
const SPACE = 0x20

/** What is written before a location, together with how that begins or that there is none. */
interface Lead {
  readonly toRecord: DataView
  readonly withNull: DataView
}

/** Objects, one a line: each gets one member more, and keeps all its bytes. */
export class NdjsonLines implements LineFormat {
  readonly rewrites = false
  fault = ''
  readonly #locator: Locator
  readonly #overwrite: boolean
  readonly #into: string
  readonly #address: MemberPath
  readonly #time: MemberPath | null
  readonly #member: MemberPath
  readonly #scanner: JsonScanner
  readonly #shapes: ShapeMemory
  readonly #words = new Words()
  readonly #nextMember: Lead
  readonly #onlyMember: Lead
  readonly #valueOnly: Lead

  constructor(plan: NdjsonPlan, locator: Locator) {
    this.#locator = locator
    this.#overwrite = plan.overwrite
    this.#into = plan.into
    this.#address = new MemberPath(plan.path)
    this.#time = plan.timePath === null ? null : new MemberPath(plan.timePath)
    this.#member = new MemberPath([plan.into])
    const wanted = this.#time === null ? [this.#address] : [this.#address, this.#time]
    this.#scanner = new JsonScanner(wanted, this.#member)
    this.#shapes = new ShapeMemory(wanted)
    const name = `${JSON.stringify(plan.into)}:`
    this.#nextMember = leadOf(`,${name}`)
    this.#onlyMember = leadOf(name)
    this.#valueOnly = leadOf('')
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const shape = this.#shapes.find(bytes, this.#words.view(bytes), start, end)
    if (shape !== null) return this.#write(bytes, start, shape.braceOf(end), end, this.#nextMember, out)
    if (!this.#scanner.scan(bytes, start, end)) {
      if (isBlank(bytes, start, end)) return 'blank'
      this.fault = this.#scanner.fault
      return 'bad'
    }
    if (this.#member.start !== NOWHERE) return this.#replace(bytes, start, end, out)
    const { brace, isEmpty } = this.#scanner
    if (!isEmpty) this.#shapes.learn(bytes, start, end, brace)
    return this.#write(bytes, start, brace, end, isEmpty ? this.#onlyMember : this.#nextMember, out)
  }

  /** Writes the line with a member more, before its closing brace. */
  #write(
    bytes: Uint8Array,
    start: number,
    brace: number,
    end: number,
    lead: Lead,
    out: ByteSink,
  ): LineResult {
    out.writeRange(bytes, start, brace)
    const result = this.#writeLocation(bytes, lead, out)
    out.writeRange(bytes, brace, end)
    return result
  }

  /** Writes the line with another value of the member that is there already. */
  #replace(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    if (!this.#overwrite) {
      this.fault = `it has a member ${quoted(this.#into)} already`
      return 'bad'
    }
    out.writeRange(bytes, start, this.#member.start)
    const result = this.#writeLocation(bytes, this.#valueOnly, out)
    out.writeRange(bytes, this.#member.end, end)
    return result
  }

  #writeLocation(bytes: Uint8Array, lead: Lead, out: ByteSink): LineResult {
    this.#readTime(bytes)
    if (this.#locate(bytes)) {
      this.#locator.writeJson(out, lead.toRecord)
      return 'resolved'
    }
    out.writeView(lead.withNull, 0, lead.withNull.byteLength)
    return 'unresolved'
  }

  #locate(bytes: Uint8Array): boolean {
    const { start, end, isEscaped } = this.#address
    if (start === NOWHERE) return this.#locator.missing()
    if (bytes[start] !== QUOTE) {
      // Of the other values none is an address; `null` is the absence of one.
      return bytes[start] === NULL_START ? this.#locator.missing() : this.#locator.locate(bytes, start, end)
    }
    if (isEscaped) return this.#locator.locateText(unescaped(bytes, start, end))
    return this.#locator.locate(bytes, start + 1, end - 1)
  }

  #readTime(bytes: Uint8Array): void {
    if (this.#time === null) return
    const { start, end, isEscaped } = this.#time
    if (start === NOWHERE) this.#locator.noTime()
    else if (bytes[start] !== QUOTE) this.#locator.time(bytes, start, end)
    else if (isEscaped) this.#locator.timeText(unescaped(bytes, start, end))
    else this.#locator.time(bytes, start + 1, end - 1)
  }
}

function leadOf(text: string): Lead {
  const encoder = new TextEncoder()
  return {
    toRecord: viewOf(encoder.encode(text + JSON_HEAD)),
    withNull: viewOf(encoder.encode(`${text}null`)),
  }
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) > SPACE) return false
  return true
}
