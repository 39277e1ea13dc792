import type { FieldValues } from '../../counting/field-values.ts'
import type { RecordFields } from '../../reading/record-fields.ts'

const QUOTE = 0x22

/** The values of the columns of a record that are counted, without quotes. An empty value is unknown. */
export class RecordValues implements FieldValues {
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  readonly #record: RecordFields
  readonly #quotes: boolean
  readonly #columns: readonly number[]
  #source: Uint8Array = this.bytes
  /** A value whose quotes were doubled. */
  #plain = new Uint8Array(256)

  /** @param quotes whether fields can be quoted */
  constructor(record: RecordFields, quotes: boolean, columns: readonly number[]) {
    this.#record = record
    this.#quotes = quotes
    this.#columns = columns
  }

  /** Takes the next record. */
  use(bytes: Uint8Array): void {
    this.#source = bytes
  }

  find(field: number): boolean {
    const column = this.#columns[field] ?? 0
    const bytes = this.#source
    this.bytes = bytes
    this.start = this.#record.start(column)
    this.end = this.#record.end(column)
    const isQuoted = this.#quotes && this.end - this.start >= 2 && bytes[this.start] === QUOTE
    if (isQuoted && bytes[this.end - 1] === QUOTE) {
      this.start++
      this.end--
      if (bytes.subarray(this.start, this.end).includes(QUOTE)) this.#undouble(bytes)
    }
    return this.end > this.start
  }

  #undouble(bytes: Uint8Array): void {
    if (this.#plain.length < this.end - this.start) this.#plain = new Uint8Array(2 * (this.end - this.start))
    let size = 0
    for (let at = this.start; at < this.end; at++) {
      this.#plain[size++] = bytes[at] ?? 0
      if (bytes[at] === QUOTE && bytes[at + 1] === QUOTE) at++
    }
    this.bytes = this.#plain
    this.start = 0
    this.end = size
  }
}
