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

  /** Sets the location to the one that the locator has found last, if any, at its instant. */
  locateFound(): void {
    const { locator } = this
    const { texts, locationNumber } = locator
    const isLocated = locationNumber >= 0
    if (isLocated) texts.instant = locator.textInstant
    this.locate(isLocated ? locationNumber : NO_NUMBER)
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
  readonly #columns: ReplacedColumns
  /** The columns of a location. */
  readonly #values: RecordFields
  /** This writer and those of the other addresses, which write their locations. */
  readonly #all: readonly RecordWriter[]
  /** For each column of the record the writer that replaces it, or `undefined`; empty if no writer replaces any. */
  readonly #replacing: readonly (RecordWriter | undefined)[]

  /** @param others the writers of the addresses after the first, in their order */
  constructor(
    reader: RecordReader,
    locator: LineLocator,
    form: RecordForm,
    others: readonly RecordWriter[] = [],
  ) {
    super(reader, locator)
    this.#columns = form.columns ?? NO_COLUMNS
    const { delimiter, quotes, count } = this.#columns
    this.#values = new RecordFields(delimiter, quotes, count)
    this.#form = form
    this.#all = [this, ...others]
    const width = Math.max(...this.#all.map((each) => each.#columns.replaced.length))
    this.#replacing = Array.from({ length: width }, (_, column) =>
      this.#all.find((each) => (each.#columns.replaced[column] ?? -1) >= 0),
    )
    this.#compile()
  }

  /** Finds the columns of the location too, if they replace some. */
  override locate(location: number): void {
    super.locate(location)
    const { textStart } = this
    if (this.#columns.count > 0 && textStart !== -1)
      this.#values.read(this.locator.texts.arena.bytes, textStart, textStart + this.textSize)
  }

  override get room(): number {
    const { recordStart, recordEnd, isPlain, joint } = this.reader
    const size = recordEnd - recordStart
    let room = this.#form.kind === 'object' && !isPlain ? jsonRoom(size) : size
    for (const each of this.#all) {
      // The white space before the first member of an indented object is written again before the location.
      if (joint === 'indented') room += size
      // `#fixed` has each text twice, the second time with a quote before it.
      const located = each.#form.isText === true ? jsonRoom(each.textSize) : each.textSize
      room += located + 4 * each.#fixed.length + SPARE_BYTES
    }
    return room
  }

  override put(target: Uint8Array, view: DataView, to: number): number {
    const reader = this.reader
    const { record, recordStart, recordEnd } = reader
    switch (this.#form.kind) {
      case 'appended':
        return this.#replacing.length > 0
          ? this.#putColumns(target, view, to)
          : this.#putLocations(target, view, copy(record, recordStart, recordEnd, target, to))
      case 'places':
        return to
      case 'member':
        return this.#putMembers(target, view, to)
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
  #putColumns(target: Uint8Array, view: DataView, from: number): number {
    const { record, starts, ends } = this.reader
    const replacing = this.#replacing
    const delimiter = this.#form.before.charCodeAt(0)
    let to = from
    for (let column = 0; column < replacing.length; column++) {
      const by = replacing[column]
      if (column > 0) target[to++] = delimiter
      if (by !== undefined) {
        to = by.#putValue(by.#columns.replaced[column] ?? 0, target, to)
        continue
      }
      // Neighbours are copied together, with what is between them.
      const first = column
      while (column + 1 < replacing.length && replacing[column + 1] === undefined) column++
      to = copy(record, starts[first] ?? 0, ends[column] ?? 0, target, to)
    }
    return this.#putLocations(target, view, to)
  }

  /** Writes a column of the location. */
  #putValue(index: number, target: Uint8Array, to: number): number {
    if (this.textStart === -1) return to
    const { starts, ends } = this.#values
    return copy(this.locator.texts.arena.bytes, starts[index] ?? 0, ends[index] ?? 0, target, to)
  }

  /** Writes the columns of the location that replace none of the record. */
  #putOtherValues(target: Uint8Array, from: number): number {
    const { replaced, delimiter, count } = this.#columns
    let to = from
    for (let index = 0; index < count; index++) {
      if (replaced.includes(index)) continue
      target[to++] = delimiter
      to = this.#putValue(index, target, to)
    }
    return to
  }

  /** Writes the locations of all addresses after the record. @param quote 1 to write a quote first, else 0 */
  #putLocations(target: Uint8Array, view: DataView, from: number, quote = 0): number {
    let to = from
    for (const each of this.#all) to = each.#putLocation(target, view, to, each === this ? quote : 0)
    return to
  }

  /** @param quote 1 to write a quote first, else 0 */
  #putLocation(target: Uint8Array, view: DataView, from: number, quote = 0): number {
    if (this.#columns.count > 0) return this.#putOtherValues(target, from)
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

  /** Writes a record that is an object, with a member for each location. */
  #putMembers(target: Uint8Array, view: DataView, from: number): number {
    const { record, recordStart, recordEnd } = this.reader
    const all = this.#all
    let [to, at] = [from, recordStart]
    // A value that is replaced stays where it is.
    const isInOrder = all.length === 1 || all.every(({ reader }) => reader.joint !== 'value')
    const inOrder = isInOrder ? all : [...all].sort((a, b) => a.reader.insertStart - b.reader.insertStart)
    for (const each of inOrder) {
      const { insertStart, insertEnd, joint } = each.reader
      to = copy(record, at, insertStart, target, to)
      // After another member, an object is not empty.
      to = each.#putMember(target, view, to, joint === 'only' && at === insertStart ? 'next' : joint)
      at = insertEnd
    }
    return copy(record, at, recordEnd, target, to)
  }

  /** Writes the member for the location into a record that is an object. */
  #putMember(target: Uint8Array, view: DataView, from: number, joint: Joint): number {
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
    return this.#putLocations(target, view, to, quote)
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
    return this.#putLocations(target, view, to, quote)
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
