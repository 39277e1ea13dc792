// Writes records as rows of a table whose columns are known.
import type { LineLocator } from '../locating/line-locator.ts'
import type { CommonPlan } from '../options.ts'
import { ABSENT, type ReaderField, type RecordReader } from '../reading/record-reader.ts'
import { CellText, cellRoom, SEPARATORS } from '../writing/separated-values.ts'
import { copy } from './record-writer.ts'

/** More than an address and a time take. Bytes. */
const SPARE_BYTES = 512

/**
 * Writes into one array, as `RecordWriter` does. A row has fields of the record, the columns of the location, and an empty column:
 * what has no other column goes there, but from objects only.
 */
export class RecordRow {
  readonly #reader: RecordReader
  readonly #locator: LineLocator
  /** The columns that are fields of records, by their names. */
  readonly #names: readonly string[]
  readonly #into: string
  readonly #text: CellText
  readonly #separator: number
  /** The number of columns of a location. */
  readonly #located: number
  /** The fields of records that what follows is for. */
  #fields: readonly ReaderField[] | null = null
  /** For each column its field, or -1. */
  #columns = new Int32Array(0)
  /** The fields that have no column. */
  #others: readonly number[] = []
  /** Whether no two members of an object would have one name. */
  #isDistinct = true

  constructor(reader: RecordReader, locator: LineLocator, plan: CommonPlan, names: readonly string[]) {
    const { into, cells, jsonFields } = plan
    const { form = 'csv' } = cells ?? {}
    this.#reader = reader
    this.#locator = locator
    this.#names = names
    this.#into = into
    this.#text = new CellText(form)
    this.#separator = SEPARATORS[form].charCodeAt(0)
    this.#located = jsonFields?.length ?? 0
  }

  /** Whether the columns have room for all of the record. Otherwise it must become an object. */
  get fits(): boolean {
    const reader = this.#reader
    if (reader.fields !== this.#fields) this.#compile(reader.fields)
    return this.#isDistinct && this.#others.every((field) => !reader.find(field) && !reader.has(field))
  }

  /** The most bytes that a row takes. @param textSize that of the text of the location */
  room(textSize: number): number {
    const { recordStart, recordEnd } = this.#reader
    const separators = cellRoom(0) + 1
    return (
      cellRoom(recordEnd - recordStart) +
      separators * this.#names.length +
      this.#located +
      textSize +
      SPARE_BYTES
    )
  }

  /**
   * Writes the row, without its line end, of a record that {@link fits}.
   *
   * @param target has {@link room} from `from`
   * @param textStart where the text of the location is in the arena; -1 without a location
   * @returns where it ends
   */
  put(target: Uint8Array, from: number, textStart: number, textSize: number): number {
    const [reader, columns, text, separator] = [this.#reader, this.#columns, this.#text, this.#separator]
    const { isPlain, record, starts, ends } = reader
    let to = from
    for (let column = 0; column < columns.length; column++) {
      const field = columns[column] ?? -1
      if (isPlain) {
        const start = starts[field] ?? ABSENT
        if (start >= 0) to = text.put(record, start, ends[field] ?? 0, target, to)
      } else if (field !== -1 && reader.find(field))
        to = text.put(reader.bytes, reader.start, reader.end, target, to)
      target[to++] = separator
    }
    if (textStart !== -1)
      to = copy(this.#locator.texts.arena.bytes, textStart, textStart + textSize, target, to)
    else for (let column = 1; column < this.#located; column++) target[to++] = separator
    target[to++] = separator
    return to
  }

  #compile(fields: readonly ReaderField[]): void {
    const names = fields.map(({ name }) => name)
    const numbers = new Map(names.map((name, field) => [name, field]))
    const columns = new Set(this.#names)
    this.#fields = fields
    this.#columns = Int32Array.from(this.#names, (name) => numbers.get(name) ?? -1)
    this.#others = names.flatMap((name, field) => (columns.has(name) ? [] : [field]))
    this.#isDistinct = numbers.size === names.length && !numbers.has(this.#into)
  }
}
