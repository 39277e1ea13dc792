import { quoted } from '../../../errors.ts'
import { type ByteSink, Words } from '../../byte-sink.ts'
import { shownName } from '../../errors.ts'
import { eventTime, eventTimeOf, NO_TIME } from '../../event-time.ts'
import type { LineFormat, LineResult } from '../../line-format.ts'
import type { LineLocator } from '../../line-locator.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { JsonScanner } from './json-scanner.ts'
import { TemplateCache } from './line-template.ts'
import { MemberPath, NOWHERE, pathText, unescaped } from './member-path.ts'
import { looksLikeNdjson, type NdjsonPlan, planNdjson } from './ndjson-plan.ts'

const QUOTE = 0x22
/** `n` of `null`. */
const NULL_START = 0x6e
const SPACE = 0x20
const NO_NAME = new Uint8Array(0)

/**
 * Enriches JSON objects, one object a line. An object keeps its bytes and gets one more member. With `overwrite`, a
 * member that is there already gets a new value.
 */
class NdjsonLines implements LineFormat {
  readonly rewrites = false
  fault = ''
  readonly #locator: LineLocator
  readonly #overwrite: boolean
  readonly #into: string
  readonly #address: MemberPath
  readonly #time: MemberPath | null
  readonly #member: MemberPath
  readonly #scanner: JsonScanner
  readonly #templates: TemplateCache
  readonly #words = new Words()
  /** The name and the colon of the member that is added, after a comma if it is not the only one. */
  readonly #onlyName: Uint8Array
  readonly #nextName: Uint8Array

  constructor(plan: NdjsonPlan, locator: LineLocator) {
    this.#locator = locator
    this.#overwrite = plan.overwrite
    this.#into = plan.into
    this.#address = new MemberPath(plan.path)
    this.#time = plan.timePath === null ? null : new MemberPath(plan.timePath)
    this.#member = new MemberPath([plan.into])
    const wanted = this.#time === null ? [this.#address] : [this.#address, this.#time]
    this.#scanner = new JsonScanner(wanted, this.#member)
    this.#templates = new TemplateCache(wanted)
    this.#nextName = new TextEncoder().encode(`,${JSON.stringify(plan.into)}:`)
    this.#onlyName = this.#nextName.subarray(1)
  }

  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const template = this.#templates.find(bytes, this.#words.view(bytes), start, end)
    if (template !== null) {
      const brace = template.braceOf(end)
      return this.#write(bytes, start, brace, this.#nextName, brace, end, out)
    }
    if (!this.#scanner.scan(bytes, start, end)) {
      if (isBlank(bytes, start, end)) return 'blank'
      this.fault = this.#scanner.fault
      return 'bad'
    }
    const { start: valueStart, end: valueEnd } = this.#member
    if (valueStart !== NOWHERE) {
      if (this.#overwrite) return this.#write(bytes, start, valueStart, NO_NAME, valueEnd, end, out)
      this.fault = `it has a member ${quoted(this.#into)} already`
      return 'bad'
    }
    const { brace, isEmpty } = this.#scanner
    if (!isEmpty) this.#templates.learn(bytes, start, end, brace)
    return this.#write(bytes, start, brace, isEmpty ? this.#onlyName : this.#nextName, brace, end, out)
  }

  /** Writes the line with the name and the location in place of `bytes[until, from)`. */
  #write(
    bytes: Uint8Array,
    start: number,
    until: number,
    name: Uint8Array,
    from: number,
    end: number,
    out: ByteSink,
  ): LineResult {
    out.write(bytes, start, until)
    out.write(name)
    this.#locator.instant = this.#readTime(bytes)
    const isLocated = this.#locate(bytes)
    this.#locator.writeJson(out)
    out.write(bytes, from, end)
    return isLocated ? 'resolved' : 'unresolved'
  }

  #locate(bytes: Uint8Array): boolean {
    const { start, end, isEscaped } = this.#address
    if (start === NOWHERE) return this.#locator.missing()
    if (bytes[start] !== QUOTE) {
      // No other value is an address. `null` counts as missing.
      return bytes[start] === NULL_START ? this.#locator.missing() : this.#locator.locate(bytes, start, end)
    }
    if (isEscaped) return this.#locator.locateText(unescaped(bytes, start, end))
    return this.#locator.locate(bytes, start + 1, end - 1)
  }

  #readTime(bytes: Uint8Array): number {
    if (this.#time === null || this.#time.start === NOWHERE) return NO_TIME
    const { start, end, isEscaped } = this.#time
    if (bytes[start] !== QUOTE) return eventTime(bytes, start, end)
    return isEscaped ? eventTimeOf(unescaped(bytes, start, end)) : eventTime(bytes, start + 1, end - 1)
  }
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) > SPACE) return false
  return true
}

export const NDJSON: FormatDefinition<NdjsonPlan> = {
  name: 'ndjson',
  options: ['field', 'timeField', 'into', 'overwrite'],
  requiredForRows: ['field', 'at'],
  recognise: looksLikeNdjson,
  plan: planNdjson,
  quotedDelimiter: () => null,
  addressPosition: ({ path }) => `in ${shownName(pathText(path))}`,
  makeLines: (plan, locator) => new NdjsonLines(plan, locator),
}
