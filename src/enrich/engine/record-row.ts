// Writes records as rows of a table whose columns are known.
import { copy } from '../../bytes/byte-sink.ts'
import { QUOTE } from '../ascii.ts'
import type { LineLocator } from '../locating/line-locator.ts'
import type { CommonPlan } from '../options.ts'
import { ABSENT, type ReaderField, type RecordReader } from '../reading/record-reader.ts'
import { copyAscii } from '../swar.ts'
import { JsonText, jsonRoom } from '../writing/json-text.ts'
import { NO_NUMBER, type TextNumbers } from '../writing/location-columns.ts'
import { CellText, cellRoom, SEPARATORS } from '../writing/separated-values.ts'
import { isNumber, RecordOutput } from './record-writer.ts'

/** More than an address and a time take. Bytes. */
const SPARE_BYTES = 512

/**
 * Writes a row: fields of the record, the columns of the location, and an empty last column. The last column is for what
 * has no other column. Only rows that are made of objects have a value there: see {@link fits}.
 */
export class RecordRow extends RecordOutput {
  /** The columns that are fields of records, by their names. */
  readonly #names: readonly string[]
  readonly #into: string
  readonly #text: CellText
  readonly #separator: number
  /** The number of columns of a location. */
  readonly #located: number
  /** The fields that the members below were made for. */
  protected fields: readonly ReaderField[] | null = null
  /** For each column its field, or -1. */
  protected columns = new Int32Array(0)
  /** The fields that have no column. */
  #others: readonly number[] = []
  /** Whether no two members of an object would have one name. */
  #isDistinct = true

  constructor(reader: RecordReader, locator: LineLocator, plan: CommonPlan, names: readonly string[]) {
    const { into, cells, jsonFields } = plan
    const form = cells?.form === 'tsv' ? 'tsv' : 'csv'
    super(reader, locator)
    this.#names = names
    this.#into = into
    this.#text = new CellText(form)
    this.#separator = SEPARATORS[form].charCodeAt(0)
    this.#located = jsonFields?.length ?? 0
  }

  /** Whether the columns have room for all of the record. Otherwise it must become an object. */
  override get fits(): boolean {
    const reader = this.reader
    if (reader.fields !== this.fields) this.#compile(reader.fields)
    return this.#isDistinct && this.#others.every((field) => !reader.find(field) && !reader.has(field))
  }

  override get room(): number {
    const { recordStart, recordEnd } = this.reader
    const values = cellRoom(recordEnd - recordStart) + (cellRoom(0) + 1) * this.#names.length
    return values + this.#located + this.textSize + SPARE_BYTES
  }

  override put(target: Uint8Array, view: DataView, from: number): number {
    const { textStart, textSize } = this
    const [reader, columns, text, separator] = [this.reader, this.columns, this.#text, this.#separator]
    const { isPlain, record, starts, ends } = reader
    let to = from
    for (let column = 0; column < columns.length; column++) {
      const field = columns[column] ?? -1
      if (isPlain && record === target) {
        const start = starts[field] ?? ABSENT
        if (start >= 0) to = text.putAscii(target, view, start, ends[field] ?? 0, to)
      } else if (field !== -1 && reader.find(field))
        to = text.put(reader.bytes, reader.start, reader.end, target, to)
      target[to++] = separator
    }
    if (textStart !== -1)
      to = copy(this.locator.texts.arena.bytes, textStart, textStart + textSize, target, to)
    else for (let column = 1; column < this.#located; column++) target[to++] = separator
    target[to++] = separator
    return to
  }

  #compile(fields: readonly ReaderField[]): void {
    const names = fields.map(({ name }) => name)
    const numbers = new Map(names.map((name, field) => [name, field]))
    const columns = new Set(this.#names)
    this.fields = fields
    this.columns = Int32Array.from(this.#names, (name) => numbers.get(name) ?? -1)
    this.#others = names.flatMap((name, field) => (columns.has(name) ? [] : [field]))
    this.#isDistinct = numbers.size === names.length && !numbers.has(this.#into)
  }
}

/**
 * Writes rows for a program that makes columns of them. All numbers are little-endian and have 32 bits. A row is:
 * - 0 without a location; otherwise the number of its text, from 1. It is negative if the text follows: later rows of the same
 *   source have the number alone
 * - the size of that text, and the text as it is in a string of JSON
 * - with a location, if the plan has the address before it: the size of the address, and the address
 * - for each column: the size of its value, and the value as JSON. The size is 0 if there is no value
 */
export class PackedRow extends RecordRow {
  readonly #textNumbers: TextNumbers
  readonly #hasAddress: boolean
  #location = NO_NUMBER
  #number = NO_NUMBER
  readonly #json = new JsonText()

  /** @param textNumbers of all rows of a source */
  constructor(
    reader: RecordReader,
    locator: LineLocator,
    plan: CommonPlan,
    names: readonly string[],
    textNumbers: TextNumbers,
  ) {
    super(reader, locator, plan, names)
    this.#textNumbers = textNumbers
    this.#hasAddress = plan.cells?.hasAddress === true
  }

  /** Finds the text of the location only if no earlier row has it. */
  override locate(location: number): void {
    this.#location = location
    this.#number = location === NO_NUMBER ? NO_NUMBER : this.#textNumbers.find(location)
    super.locate(this.#number === NO_NUMBER ? location : NO_NUMBER)
  }

  override get room(): number {
    const { isPlain, recordStart, recordEnd } = this.reader
    const size = recordEnd - recordStart
    return (isPlain ? size : jsonRoom(size)) + 6 * this.columns.length + jsonRoom(this.textSize) + SPARE_BYTES
  }

  override put(target: Uint8Array, view: DataView, from: number): number {
    const [reader, columns] = [this.reader, this.columns]
    const { isPlain, record, starts, ends } = reader
    let to = this.#putLocation(target, view, from)
    for (let column = 0; column < columns.length; column++) {
      const field = columns[column] ?? -1
      const start = to + 4
      to = start
      if (isPlain) {
        const first = starts[field] ?? ABSENT
        if (first >= 0) to = this.#putValue(record, first, ends[field] ?? 0, field, target, view, to)
      } else if (field !== -1 && reader.find(field))
        to = this.#putValue(reader.bytes, reader.start, reader.end, field, target, view, to)
      view.setInt32(start - 4, to - start, true)
    }
    return to
  }

  #putLocation(target: Uint8Array, view: DataView, from: number): number {
    let to = from + 4
    if (this.#location === NO_NUMBER) {
      view.setInt32(from, 0, true)
      return to
    }
    const { texts, cache } = this.locator
    if (this.#number !== NO_NUMBER) view.setInt32(from, this.#number + 1, true)
    else {
      view.setInt32(from, ~this.#textNumbers.add(this.#location), true)
      // A comma separates the address from the text.
      const start = this.#hasAddress ? this.textStart + 1 : this.textStart
      const end = this.#json.put(texts.arena.bytes, start, this.textStart + this.textSize, target, to + 4)
      view.setInt32(to, end - to - 4, true)
      to = end
    }
    if (!this.#hasAddress) return to
    const { ip, ipStart, ipEnd } = cache
    view.setInt32(to, ipEnd - ipStart, true)
    return copy(ip, ipStart, ipEnd, target, to + 4)
  }

  #putValue(
    bytes: Uint8Array,
    start: number,
    end: number,
    field: number,
    target: Uint8Array,
    view: DataView,
    to: number,
  ): number {
    const kind = this.fields?.[field]?.kind
    const isNumeric = kind === 'digits' || (kind === 'number' && isNumber(bytes, start, end))
    const from = isNumeric ? to : to + 1
    let after = from
    if (this.reader.isPlain && bytes === target) after = copyAscii(view, start, end, from)
    else if (isNumeric || this.reader.isPlain) after = copy(bytes, start, end, target, from)
    else after = this.#json.put(bytes, start, end, target, from)
    if (isNumeric) return after
    target[to] = QUOTE
    target[after] = QUOTE
    return after + 1
  }
}
