// JSON documents that are not one object a line: arrays, objects with a long array, and objects over several lines.
import { wrongOption } from '../../../option-names.ts'
import { BRACE, BRACE_END, BRACKET, CARRIAGE_RETURN, LINE_FEED, SPACE } from '../../ascii.ts'
import { shownName } from '../../errors.ts'
import { type LineOptions, omittingOption, type Planned } from '../../options.ts'
import { guessAddress } from '../../reading/field-guess.ts'
import { plainLayout } from '../../reading/layout.ts'
import type { RecordKind } from '../../reading/record-reader.ts'
import { markLength, type Sample, sampleLines, startsJsonArray } from '../../reading/sample.ts'
import { jsonForm } from '../../writing/record-form.ts'
import type { FormatDefinition } from '../format-definition.ts'
import { fieldsOf, pathOf, pathText } from '../ndjson/member-path.ts'
import { addressIn, isIn, objectsIn, planObjects } from '../ndjson/ndjson.ts'
import { type ObjectPlan, ObjectReader } from '../ndjson/object-reader.ts'
import { DocumentWalk, JsonElements, MAX_DEPTH } from './json-elements.ts'

export interface JsonPlan extends ObjectPlan {
  readonly format: 'json'
  /** The names of members from a document to the array of objects; `null` if the documents are the objects. */
  readonly array: readonly string[] | null
  /** Whether objects are written as lines, without the documents around them. */
  readonly isSplit: boolean
}

/** Objects of the sample that are looked at. */
const MAX_OBJECTS = 1000

/**
 * Whether an input is JSON that is not one object a line: an array of objects, an object with a long array of objects in
 * which its addresses are, or objects over several lines or several in a line.
 */
function looksLikeJson(sample: Uint8Array, { field }: LineOptions): boolean {
  if (startsJsonArray(sample)) return true
  if (sample.subarray(markLength(sample)).find((byte) => byte > SPACE) !== BRACE) return false
  const lines = sampleLines({ bytes: sample })
  const inLines = objectsIn(lines)
  const isNdjson = inLines.length * 2 >= lines.length
  // If the lines have the member that the user named, the address is in it and not in an array.
  if (isNdjson && field !== undefined && isIn(inLines, pathOf(field, 'field'))) return false
  if (arrayOf(sample) !== null) return true
  if (isNdjson) return false
  const { records, objects } = elementsOf(sample, null)
  return objects.length > 0 && objects.length * 2 >= records
}

/**
 * Makes the plan for JSON documents.
 *
 * @throws EnrichError as `planObjects` does
 * @throws TypeError, InvalidLocaleError when an option is wrong, or would leave out an element of a document
 */
function planJson({ bytes, isCut = false }: Sample, options: LineOptions): Planned<JsonPlan> {
  const array = startsJsonArray(bytes) ? [] : arrayOf(bytes)
  const isSplit = options.to !== undefined
  const { plan, notes } = planObjects('json', elementsOf(bytes, array).objects, options, isCut)
  const omitting = omittingOption(options)
  if (!isSplit && omitting !== undefined)
    throw wrongOption`<${omitting}> leaves elements out, and the input is a JSON document, which is kept whole: write the objects as lines with --to ndjson (in a program: to: 'ndjson')`
  const where =
    array === null
      ? []
      : [`the objects are in ${array.length === 0 ? 'an array' : `the array ${shownName(pathText(array))}`}`]
  return { plan: { ...plan, array, isSplit }, notes: [...where, ...notes] }
}

/** The path to the array of a document that has the objects with addresses; `null` if there is none. */
function arrayOf(sample: Uint8Array): readonly string[] | null {
  const found = longestArray(sample)
  if (found === null || found.size * 2 < found.documentSize) return null
  // An address outside of the array is that of the whole object.
  if (guessAddress(fieldsOf(objectsIn([found.around]), null), true).best !== null) return null
  const { objects } = elementsOf(sample, found.path)
  return objects.some((object) => addressIn(object, []) !== null) ? found.path : null
}

/** The number of records in a sample, and the elements that are objects. */
function elementsOf(
  sample: Uint8Array,
  path: readonly string[] | null,
): { readonly records: number; readonly objects: readonly object[] } {
  const elements = new JsonElements(path)
  elements.reset(sample)
  const decoder = new TextDecoder()
  const texts: string[] = []
  for (let start = markLength(sample); start < sample.length && texts.length < MAX_OBJECTS; ) {
    const end = elements.next(start, sample.length, false)
    if (end === -1) break
    texts.push(decoder.decode(sample.subarray(elements.contentStart, end + 1)))
    start = end + 1
  }
  return { records: texts.length, objects: objectsIn(texts) }
}

/**
 * Finds the longest array of the first document that begins with an object. Only members of objects may lead to it. The sample
 * can end anywhere. If the sample is not JSON, the result has no meaning.
 *
 * @returns the names of members to the array; its bytes and those of the document, as far as the sample has them; and the
 *   document with an empty array. If the sample ends in the array, nothing follows it there
 */
function longestArray(sample: Uint8Array) {
  const start = sample.indexOf(BRACE, markLength(sample))
  const decoder = new TextDecoder()
  const walk = new DocumentWalk()
  let best: { path: string[]; from: number; to: number } | null = null
  let open: { path: string[]; from: number } | null = null
  let at = start
  for (; at >= 0 && at < sample.length; at++) {
    const before = walk.depth
    walk.take(sample[at] ?? 0)
    const { depth } = walk
    if (depth > before && depth > 1 && depth <= MAX_DEPTH + 1 && sample[at] === BRACKET && open === null) {
      const { path } = walk
      if (path !== null && beginsWithObject(sample, at)) open = { path, from: at }
    } else if (depth < before) {
      if (open !== null && before === open.path.length + 1) {
        if (best === null || at - open.from > best.to - best.from) best = { ...open, to: at }
        open = null
      }
      if (depth === 0) break
    }
  }
  const isWhole = walk.depth === 0 && at < sample.length
  if (open !== null && (best === null || at - open.from > best.to - best.from)) best = { ...open, to: at }
  if (best === null) return null
  const rest = isWhole ? decoder.decode(sample.subarray(best.to, at + 1)) : `]${'}'.repeat(best.path.length)}`
  const around = decoder.decode(sample.subarray(start, best.from + 1)) + rest
  return { path: best.path, size: best.to - best.from, documentSize: at - start, around }
}

function beginsWithObject(sample: Uint8Array, bracket: number): boolean {
  let at = bracket + 1
  while ((sample[at] ?? BRACE) <= 0x20) at++
  return sample[at] === BRACE
}

/** Reads the objects of documents. Documents keep their bytes, or their objects become lines. */
class JsonReader extends ObjectReader {
  readonly #isSplit: boolean
  readonly #elements: JsonElements
  /** The object of several lines as one line. */
  #flat = new Uint8Array(1024)

  constructor(plan: JsonPlan) {
    super(plan, { isIndented: !plan.isSplit })
    this.#isSplit = plan.isSplit
    this.#elements = new JsonElements(plan.array)
  }

  /** `bytes[end]` is the last byte of the object, which the caller writes; a line feed if it does not end. */
  override read(bytes: Uint8Array, start: number, end: number): RecordKind {
    const from = this.#elements.elementIn(bytes, start, end + 1)
    if (from === -1) {
      this.fault = this.#elements.fault ?? ''
      return this.#elements.fault === null ? 'blank' : 'bad'
    }
    const until = bytes[end] === LINE_FEED ? end : end + 1
    if (this.#isSplit) return this.#readFlat(bytes, from, until)
    const kind = super.read(bytes, from, until)
    this.recordStart = start
    this.recordEnd = end
    return kind
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
    return super.read(flat, 0, size)
  }
}

export const JSON_DOCUMENTS: FormatDefinition<JsonPlan> = {
  name: 'json',
  title: 'other JSON: arrays of objects, an object with one long array, objects over several lines',
  example: '{"Records":[{"eventTime":"2026-07-01T12:00:00Z","sourceIPAddress":"81.2.69.142"}]}',
  requiredForRows: [],
  recognise: looksLikeJson,
  plan: planJson,
  layout: (plan) => ({ ...plainLayout(plan), recordEnds: () => new JsonElements(plan.array) }),
  addressPosition: ({ path }) => `in ${shownName(pathText(path))}`,
  fieldNames: () => null,
  form: (plan) => ({ ...jsonForm(plan, 'member'), rewrites: plan.isSplit }),
  makeReader: (plan) => new JsonReader(plan),
  planRows: null,
}
