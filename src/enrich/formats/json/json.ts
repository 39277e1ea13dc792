// JSON documents that are not one object a line: arrays, objects with a long array, and objects over several lines.
import type { ByteSink } from '../../../bytes/byte-sink.ts'
import type { FieldValues } from '../../counting/field-values.ts'
import type { LineFormat, LineResult } from '../../engine/line-format.ts'
import { shownName } from '../../errors.ts'
import type { LineLocator } from '../../locating/line-locator.ts'
import { plainLayout } from '../../reading/layout.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { pathText } from '../ndjson/member-path.ts'
import { ObjectLines } from '../ndjson/object-lines.ts'
import { JsonElements } from './json-elements.ts'
import { type JsonPlan, looksLikeJson, planJson } from './plan.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const BRACE_END = 0x7d

/** Enriches the objects of documents. Documents keep their bytes, or their objects become lines. */
class JsonLines implements LineFormat {
  readonly rewrites: boolean
  fault = ''
  readonly values: FieldValues
  readonly #elements: JsonElements
  readonly #objects: ObjectLines
  /** The object of several lines as one line. */
  #flat = new Uint8Array(1024)

  constructor(plan: JsonPlan, locator: LineLocator) {
    this.rewrites = plan.isSplit
    this.#elements = new JsonElements(plan.array)
    this.#objects = new ObjectLines(plan, locator, { isIndented: !plan.isSplit })
    this.values = this.#objects
  }

  /** `bytes[end]` is the last byte of the object, which the caller writes; a line feed if it does not end. */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult {
    const from = this.#elements.elementIn(bytes, start, end + 1)
    if (from === -1) {
      this.fault = this.#elements.fault ?? ''
      return this.#elements.fault === null ? 'blank' : 'bad'
    }
    const until = bytes[end] === LINE_FEED ? end : end + 1
    if (this.rewrites) return this.#flatLine(bytes, from, until, out)
    out.write(bytes, start, from)
    const result = this.#objects.line(bytes, from, until, out)
    if (until > end && out.length > 0) out.length--
    this.fault = this.#objects.fault
    return result
  }

  #flatLine(bytes: Uint8Array, from: number, until: number, out: ByteSink): LineResult {
    if (this.#flat.length <= until - from) this.#flat = new Uint8Array(2 * (until - from))
    const flat = this.#flat
    let size = 0
    for (let at = from; at < until; at++) {
      const byte = bytes[at] ?? 0
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) flat[size++] = byte
      else while ((bytes[at + 1] ?? BRACE_END) <= SPACE) at++
    }
    flat[size] = LINE_FEED
    const result = this.#objects.line(flat, 0, size, out)
    this.fault = this.#objects.fault
    return result
  }
}

export const JSON_DOCUMENTS: FormatDefinition<JsonPlan> = {
  name: 'json',
  title: 'other JSON: arrays of objects, an object with one long array, objects over several lines',
  example: '{"Records":[{"eventTime":"2026-07-01T12:00:00Z","sourceIPAddress":"81.2.69.142"}]}',
  options: ['field', 'timeField', 'overwrite'],
  requiredForRows: [],
  recognise: looksLikeJson,
  plan: planJson,
  layout: (plan) => ({ ...plainLayout(plan), recordEnds: () => new JsonElements(plan.array) }),
  addressPosition: ({ path }) => `in ${shownName(pathText(path))}`,
  nextFormat: ({ isSplit }) => (isSplit ? 'ndjson' : 'json'),
  fieldNames: () => null,
  usualFields: ({ requestFields }) => requestFields,
  makeLines: (plan, locator) => new JsonLines(plan, locator),
  planRows: null,
}
