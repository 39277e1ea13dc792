// Writes the records that a reader has found, with their locations, in the form of a plan.
import { copy } from '../../bytes/byte-sink.ts'
import { BRACE, BRACE_END, COMMA, QUOTE, SPACE, ZERO } from '../ascii.ts'
import type { LineLocator } from '../locating/line-locator.ts'
import { RecordFields } from '../reading/record-fields.ts'
import {
  ABSENT,
  type Joint,
  type ReaderField,
  type RecordReader,
  UNKNOWN,
  type ValueKind,
} from '../reading/record-reader.ts'
import { copyAscii, viewOf } from '../swar.ts'
import { JsonText, jsonRoom } from '../writing/json-text.ts'
import { NO_NUMBER } from '../writing/location-columns.ts'
import type { RecordForm, ReplacedColumns } from '../writing/record-form.ts'

/** More than an address and a time take. Bytes. */
const SPARE_BYTES = 128
/** Longer numbers would lose digits where JSON numbers are read as doubles. */
const MAX_DIGITS = 15

/** The kinds of values, as numbers. The fixed texts before a value differ by the first three. */
const KINDS: readonly (ValueKind | 'null')[] = ['digits', 'text', 'null', 'number']
const [DIGITS, TEXT, NULL, NUMBER] = [0, 1, 2, 3] as const
/** The fixed texts of a field: three, and those after a value with quotes. */
const [FIELD_TEXTS, QUOTED_TEXTS] = [6, 3] as const
/** The fixed texts of a location: before it, in its place, and both after a value with quotes. */
const LOCATION_TEXTS = 4

const NO_COLUMNS: ReplacedColumns = { replaced: [], count: 0, delimiter: 0, quotes: false }

const encoder = /* @__PURE__ */ new TextEncoder()

/** Writes the records of a reader into one array: the array of the record, or another one. Call {@link locate} first. */
export abstract class RecordOutput {
  /** Where the text of the location is in the arena, and its size; -1 without a location. */
  protected textStart = -1
  protected textSize = 0

  constructor(
    protected readonly reader: RecordReader,
    protected readonly locator: LineLocator,
  ) {}

  /** Sets the location of the record, by its number in the texts of the locator, at their instant; {@link NO_NUMBER} for none. */
  locate(location: number): void {
    const { texts } = this.locator
    this.textStart = location === NO_NUMBER ? -1 : texts.startOf(location)
    this.textSize = location === NO_NUMBER ? 0 : texts.sizeOf(location)
  }

  /** Whether the record can be written. */
  get fits(): boolean {
    return true
  }

  /** The most bytes that a record takes, with its location. */
  abstract get room(): number

  /**
   * Writes the record, without its line end, if it {@link fits}.
   *
   * @param view of all of `target`
   * @param target has {@link room} from `to`
   * @returns where it ends
   */
  abstract put(target: Uint8Array, view: DataView, to: number): number
}

/** Writes records in the form of a plan. */
export class RecordWriter extends RecordOutput {
  readonly #form: RecordForm
  /** The fixed texts as doubles, one after another. UTF-8 has no bytes that are a NaN, which V8 could change. */
  #fixed = new Float64Array(0)
  /** Where each fixed text begins, in doubles, and its size in bytes. */
  #starts = new Int32Array(0)
  #sizes = new Int32Array(0)
  /** The fields that these texts belong to. */
  #fields: readonly ReaderField[] | null = null
  #kinds: readonly number[] = []
  readonly #text = new JsonText()
  /** The columns of a location. */
  readonly #values: RecordFields

  constructor(reader: RecordReader, locator: LineLocator, form: RecordForm) {
    super(reader, locator)
    const { delimiter, quotes, count } = form.columns ?? NO_COLUMNS
    this.#values = new RecordFields(delimiter, quotes, count)
    this.#form = form
    this.#compile()
  }

  override get room(): number {
    const { recordStart, recordEnd, isPlain, joint } = this.reader
    const size = recordEnd - recordStart
    // The white space before the first member of an indented object is written again before the location.
    const kept = joint === 'indented' ? 2 * size : size
    const text = this.#form.kind === 'object' && !isPlain ? jsonRoom(size) : kept
    // `#fixed` has each text twice, the second time with a quote before it.
    const located = this.#form.isText === true ? jsonRoom(this.textSize) : this.textSize
    return text + located + 4 * this.#fixed.length + SPARE_BYTES
  }

  override put(target: Uint8Array, view: DataView, to: number): number {
    const reader = this.reader
    const { record, recordStart, recordEnd } = reader
    switch (this.#form.kind) {
      case 'appended':
        return this.#putLocation(target, view, copy(record, recordStart, recordEnd, target, to))
      case 'replaced':
        return this.#putColumns(target, to)
      case 'places':
        return to
      case 'member': {
        const at = copy(record, recordStart, reader.insertStart, target, to)
        const after = this.#putMember(target, view, at)
        return copy(record, reader.insertEnd, recordEnd, target, after)
      }
      case 'object': {
        const after = this.#putFields(target, view, to)
        // The comma before the first member.
        target[to] = BRACE
        target[after] = BRACE_END
        return after + 1
      }
    }
  }

  /** Writes the columns of the record, new ones in place of some, and the others after them. */
  #putColumns(target: Uint8Array, from: number): number {
    const { replaced, delimiter, count } = this.#form.columns ?? NO_COLUMNS
    const { record, starts, ends } = this.reader
    const { bytes } = this.locator.texts.arena
    const values = this.#values
    const isLocated = this.textStart !== -1
    if (isLocated) values.read(bytes, this.textStart, this.textStart + this.textSize)
    let to = from
    for (let column = 0; column < replaced.length; column++) {
      const index = replaced[column] ?? -1
      if (column > 0) target[to++] = delimiter
      if (index >= 0) {
        if (isLocated) to = copy(bytes, values.starts[index] ?? 0, values.ends[index] ?? 0, target, to)
        continue
      }
      // Neighbours are copied together, with what is between them.
      const first = column
      while (column + 1 < replaced.length && (replaced[column + 1] ?? 0) < 0) column++
      to = copy(record, starts[first] ?? 0, ends[column] ?? 0, target, to)
    }
    for (let index = 0; index < count; index++) {
      if (replaced.includes(index)) continue
      target[to++] = delimiter
      if (isLocated) to = copy(bytes, values.starts[index] ?? 0, values.ends[index] ?? 0, target, to)
    }
    return to
  }

  /** @param quote 1 to write a quote first, else 0 */
  #putLocation(target: Uint8Array, view: DataView, from: number, quote = 0): number {
    if (this.textStart === -1) return this.#putFixed(2 * quote + 1, view, from)
    return this.#putFound(target, view, this.#putFixed(2 * quote, view, from))
  }

  /** Writes the address, if it is wanted, and the text of the location. */
  #putFound(target: Uint8Array, view: DataView, from: number): number {
    const { head, isText } = this.#form
    const { bytes } = this.locator.texts.arena
    const textEnd = this.textStart + this.textSize
    let to = from
    if (isText === true) target[to++] = QUOTE
    if (head !== null) {
      const { ip, ipStart, ipEnd } = this.locator.cache
      if (ip === target) to = copyAscii(view, ipStart, ipEnd, to)
      else for (let at = ipStart; at < ipEnd; at++) target[to++] = ip[at] ?? 0
    }
    if (isText !== true) return copy(bytes, this.textStart, textEnd, target, to)
    to = this.#text.put(bytes, this.textStart, textEnd, target, to)
    target[to] = QUOTE
    return to + 1
  }

  /** Writes the member for the location into a record that is an object. */
  #putMember(target: Uint8Array, view: DataView, from: number): number {
    const { joint } = this.reader
    if (joint === 'next') return this.#putLocation(target, view, from)
    const { before, nothing, head } = this.#form
    let to = this.#putName(joint, before, target, from)
    if (this.textStart === -1) return putText(nothing.slice(before.length), target, to)
    if (head !== null) to = putText(head, target, to)
    return this.#putFound(target, view, to)
  }

  /** Writes the name of the member. In an indented object, the white space of the first member comes before it. */
  #putName(joint: Joint, before: string, target: Uint8Array, from: number): number {
    if (joint === 'value') return from
    if (joint === 'only') return putText(before.slice(1), target, from)
    const { record, objectStart, recordEnd } = this.reader
    let first = objectStart + 1
    const blanks = first
    while (first < recordEnd && (record[first] ?? 0) <= SPACE) first++
    target[from] = COMMA
    const to = putText(before.slice(1), target, copy(record, blanks, first, target, from + 1))
    if (first === blanks) return to
    target[to] = SPACE
    return to + 1
  }

  /** Writes the fields and the location, with a comma before each. */
  #putFields(target: Uint8Array, view: DataView, from: number): number {
    const reader = this.reader
    if (reader.fields !== this.#fields) this.#compile()
    if (reader.isPlain && reader.record === target) return this.#putPlainFields(target, view, from)
    const kinds = this.#kinds
    let to = from
    let quote = 0
    for (let field = 0; field < kinds.length; field++) {
      const isFound = reader.find(field)
      if (!isFound && !reader.has(field)) continue
      const { bytes, start, end } = reader
      let kind = isFound ? (kinds[field] ?? NULL) : NULL
      if (kind === NUMBER) kind = isNumber(bytes, start, end) ? DIGITS : TEXT
      to = this.#putFixed(fixedTextOf(field, quote, kind), view, to)
      if (kind === DIGITS) for (let at = start; at < end; at++) target[to++] = bytes[at] ?? 0
      else if (kind === TEXT) to = this.#text.put(bytes, start, end, target, to)
      quote = kind & TEXT
    }
    return this.#putLocation(target, view, to, quote)
  }

  /** `#putFields` for an array that has the record too. Without calls, objects of apache-combined-10000 take 0.94 of the time of a run. */
  #putPlainFields(target: Uint8Array, view: DataView, from: number): number {
    const { starts, ends } = this.reader
    const kinds = this.#kinds
    let to = from
    let quote = 0
    for (let field = 0; field < kinds.length; field++) {
      const start = starts[field] ?? ABSENT
      if (start === ABSENT) continue
      const kind = start === UNKNOWN ? NULL : (kinds[field] ?? NULL)
      to = this.#putFixed(fixedTextOf(field, quote, kind), view, to)
      if (kind !== NULL) to = copyAscii(view, start, ends[field] ?? 0, to)
      quote = kind & TEXT
    }
    return this.#putLocation(target, view, to, quote)
  }

  /** Writes a fixed text, and up to 15 bytes after it, which are overwritten. */
  #putFixed(text: number, view: DataView, to: number): number {
    const fixed = this.#fixed
    const size = this.#sizes[text] ?? 0
    const first = this.#starts[text] ?? 0
    // Most texts need no branch here.
    view.setFloat64(to, fixed[first] ?? 0, true)
    view.setFloat64((to + 8) | 0, fixed[(first + 1) | 0] ?? 0, true)
    for (let done = 16; done < size; done += 8)
      view.setFloat64(to + done, fixed[first + (done >> 3)] ?? 0, true)
    return (to + size) | 0
  }

  #compile(): void {
    const { before, nothing, head, kind } = this.#form
    const fields = kind === 'object' ? this.reader.fields : []
    const located = [before + (head ?? ''), nothing]
    const members = fields.map(({ name }) =>
      ['', '"', 'null'].map((text) => `,${JSON.stringify(name)}:${text}`),
    )
    const texts = [located, ...members]
      .flatMap((each) => [...each, ...each.map((text) => `"${text}`)])
      .map((text) => encoder.encode(text))
    let end = 0
    this.#sizes = Int32Array.from(texts, ({ length }) => length)
    this.#starts = this.#sizes.map((size) => {
      const start = end
      end += Math.max(2, Math.ceil(size / 8))
      return start
    })
    const bytes = new Uint8Array(8 * end)
    texts.forEach((text, index) => void bytes.set(text, 8 * (this.#starts[index] ?? 0)))
    const view = viewOf(bytes)
    this.#fixed = Float64Array.from({ length: end }, (_, index) => view.getFloat64(8 * index, true))
    this.#fields = this.reader.fields
    this.#kinds = fields.map(({ kind: value }) => KINDS.indexOf(value))
  }
}

/** The fixed text before a value, or in its place. */
function fixedTextOf(field: number, quote: number, kind: number): number {
  return LOCATION_TEXTS + FIELD_TEXTS * field + QUOTED_TEXTS * quote + kind
}

function putText(text: string, target: Uint8Array, to: number): number {
  return to + encoder.encodeInto(text, target.subarray(to)).written
}

/** Whether a value is a whole number as JSON has it. */
export function isNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_DIGITS || (bytes[start] === ZERO && end - start > 1)) return false
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return false
  }
  return true
}
