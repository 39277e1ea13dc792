import type { SchemaElement } from 'hyparquet'
import { isIPv4Compatible } from '../../address/address.ts'
import { type Words, writeLast } from '../../address/position.ts'
import { ByteSink } from '../../bytes/byte-sink.ts'
import { DistinctTexts } from '../../bytes/distinct-texts.ts'
import type { LocationField } from '../../enrich/options.ts'
import { CachedView, viewOf } from '../../enrich/swar.ts'
import { endOfValue } from '../../enrich/writing/column-templates.ts'
import { ColumnWriter, type Leaf, PlainValues } from '../enrich/parquet/column-writer.ts'
import { ColumnValues, elementOf, typeOfField } from '../enrich/parquet/columns.ts'
import { ADDRESS_COLUMNS, type AddressForm } from './flags.ts'
import type { RowSink } from './network-rows.ts'
import { writePosition } from './text-rows.ts'

/** Rows of a row group, at most: all of them are in memory. */
const GROUP_ROWS = 2 ** 16

/** The codes of rows that each have a value of their own. */
const OWN = Int32Array.from({ length: GROUP_ROWS }, (_, row) => row)

/** A column of addresses. */
class AddressColumn {
  readonly path: readonly SchemaElement[]
  readonly #values = new PlainValues()
  /** The next value. */
  readonly #next = new ByteSink()

  constructor(
    name: string,
    private readonly form: AddressForm,
    private readonly isIPv4: boolean,
  ) {
    this.path = [elementOf(name, form !== 'integers' ? 'STRING' : isIPv4 ? 'INT64' : 'BYTES_16')]
  }

  add(words: Words, prefixLength: number): void {
    const next = this.#next
    if (this.form !== 'integers') {
      next.length = 0
      writePosition(words, prefixLength, next)
      this.#values.addBytes(next.room(0), 0, next.length)
    } else if (this.isIPv4) this.#values.add(BigInt(words[3] ?? 0))
    else {
      const view = viewOf(next.room(16))
      const isMapped = isIPv4Compatible(words)
      for (let i = 0; i < 4; i++) view.setUint32(4 * i, isMapped && i === 2 ? 0xffff : (words[i] ?? 0))
      this.#values.addBytes(next.room(0), 0, 16, true)
    }
  }

  /** The values of the rows, valid until the next row, or the end, is added. */
  take(rows: number): Leaf {
    return { path: this.path, ...this.#values.take(), codes: OWN.subarray(0, rows) }
  }
}

/** Rows as a Parquet file. */
export class ParquetRows implements RowSink {
  readonly #addresses: readonly AddressColumn[]
  readonly #columns: readonly ColumnValues[]
  readonly #writer: ColumnWriter
  readonly #texts = new DistinctTexts()
  /** The number of the text of the next rows, and of each row. */
  #number = 0
  readonly #numbers = new Int32Array(GROUP_ROWS)
  readonly #codes = new Int32Array(GROUP_ROWS)
  readonly #view = new CachedView()
  readonly #last = new Uint32Array(4)
  #rows = 0

  /** @param isIPv4 whether there are no IPv6 addresses */
  constructor(as: AddressForm, fields: readonly LocationField[], isIPv4: boolean) {
    this.#addresses = ADDRESS_COLUMNS[as].map((name) => new AddressColumn(name, as, isIPv4))
    this.#columns = fields.map((field) => new ColumnValues(field, typeOfField(field)))
    this.#writer = new ColumnWriter([...this.#addresses, ...this.#columns].map(({ path }) => path))
  }

  get isFull(): boolean {
    // A range has up to 254 networks.
    return this.#rows > GROUP_ROWS - 256
  }

  setText(text: Uint8Array, from: number, to: number): void {
    const { count } = this.#texts
    const view = this.#view.view(text)
    this.#number = this.#texts.numberOf(text, view, from, to)
    if (this.#number < count) return
    let start = from
    for (const column of this.#columns) {
      const end = endOfValue(text, start, to)
      if (start < end) column.add(text, view, start, end)
      else column.addMissing()
      start = end + 1
    }
  }

  add(start: Words, end: Words, prefixLength: number): void {
    const [first, last] = this.#addresses
    first?.add(start, prefixLength)
    if (last !== undefined) {
      writeLast(end, this.#last)
      last.add(this.#last, prefixLength)
    }
    this.#numbers[this.#rows++] = this.#number
  }

  /** The bytes of the rows, valid until the next row, or the end, is added. */
  take(): Uint8Array {
    this.#writeGroup()
    return this.#writer.take()
  }

  /** Adds the end of the file. */
  end(): void {
    this.#writeGroup()
    this.#writer.end()
  }

  #writeGroup(): void {
    if (this.#rows > 0) this.#writer.add(this.#leaves(), this.#rows)
    this.#rows = 0
    this.#texts.clear()
    for (const column of this.#columns) column.clear()
  }

  *#leaves(): Generator<Leaf> {
    for (const column of this.#addresses) yield column.take(this.#rows)
    const texts = this.#numbers.subarray(0, this.#rows)
    const codes = this.#codes.subarray(0, this.#rows)
    for (const column of this.#columns) yield column.leafOf(texts, codes)
  }
}
