// JSON documents that are not one object a line: arrays, objects with a long array, and objects over several lines.
import { BRACE_END, CARRIAGE_RETURN, LINE_FEED, SPACE } from '../../ascii.ts'
import { shownName } from '../../errors.ts'
import { plainLayout } from '../../reading/layout.ts'
import { type RecordKind, RecordReader } from '../../reading/record-reader.ts'
import { jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { pathText } from '../ndjson/member-path.ts'
import { ObjectReader } from '../ndjson/object-reader.ts'
import { JsonElements } from './json-elements.ts'
import { type JsonPlan, looksLikeJson, planJson } from './plan.ts'

/** Reads the objects of documents. Documents keep their bytes, or their objects become lines. */
class JsonReader extends RecordReader {
  override readonly counted: readonly number[]
  readonly #isSplit: boolean
  readonly #elements: JsonElements
  readonly #objects: ObjectReader
  /** The object of several lines as one line. */
  #flat = new Uint8Array(1024)

  constructor(plan: JsonPlan) {
    super()
    this.#isSplit = plan.isSplit
    this.#elements = new JsonElements(plan.array)
    this.#objects = new ObjectReader(plan, { isIndented: !plan.isSplit })
    this.counted = this.#objects.counted
  }

  /** `bytes[end]` is the last byte of the object, which the caller writes; a line feed if it does not end. */
  read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const from = this.#elements.elementIn(bytes, start, end + 1)
    if (from === -1) {
      this.fault = this.#elements.fault ?? ''
      return this.#elements.fault === null ? 'blank' : 'bad'
    }
    const until = bytes[end] === LINE_FEED ? end : end + 1
    const objects = this.#objects
    const kind = this.#isSplit ? this.#readFlat(bytes, from, until) : objects.read(bytes, from, until)
    this.take(objects)
    if (kind !== 'read') return kind
    this.takeRecord(objects)
    if (!this.#isSplit) {
      this.recordStart = start
      this.recordEnd = end
    }
    return 'read'
  }

  override find(field: number): boolean {
    return this.findIn(this.#objects, field)
  }

  #readFlat(bytes: Uint8Array, from: number, until: number): RecordKind {
    if (this.#flat.length <= until - from) this.#flat = new Uint8Array(2 * (until - from))
    const flat = this.#flat
    let size = 0
    for (let at = from; at < until; at++) {
      const byte = bytes[at] ?? 0
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) flat[size++] = byte
      else while ((bytes[at + 1] ?? BRACE_END) <= SPACE) at++
    }
    flat[size] = LINE_FEED
    return this.#objects.read(flat, 0, size)
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
  form: (plan) => ({ ...jsonForm(plan, 'member'), rewrites: plan.isSplit }),
  makeReader: (plan) => new JsonReader(plan),
  planRows: null,
}
