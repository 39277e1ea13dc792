import type { SchemaElement } from 'hyparquet'
import { isIPv4Compatible } from '../../address/address.ts'
import { type Words, writeLast } from '../../address/position.ts'
import { ByteSink } from '../../bytes/byte-sink.ts'
import { DistinctTexts } from '../../bytes/distinct-texts.ts'
import type { LocationField } from '../../enrich/options.ts'
import { CachedView, viewOf } from '../../enrich/swar.ts'
import { endOfValue } from '../../enrich/writing/column-templates.ts'
import { MAX_LOCATIONS } from '../../enrich/writing/rendered-locations.ts'
import { ColumnWriter, type Leaf, type ParquetValue } from '../enrich/parquet/column-writer.ts'
import { ColumnValues, elementsOf, typeOfField } from '../enrich/parquet/columns.ts'
import { ADDRESS_COLUMNS, type AddressForm } from './flags.ts'
import { NO_NUMBER, type RowSink } from './network-rows.ts'
import { writePosition } from './text-rows.ts'

/** Rows of a row group, at most: all of them are in memory. */
const GROUP_ROWS = 2 ** 16

/** The codes of rows that each have a value of their own. */
const OWN = Int32Array.from({ length: GROUP_ROWS }, (_, row) => row)

/** A column of addresses. They are stored one after the other. */
class AddressColumn {
  readonly element: SchemaElement
  readonly #plain = new ByteSink()
  readonly #ends = new Int32Array(GROUP_ROWS)
  readonly #form: AddressForm
  readonly #isIPv4: boolean

  constructor(name: string, form: AddressForm, isIPv4: boolean) {
    this.#form = form
    this.#isIPv4 = isIPv4
    const [element] = elementsOf(name, form !== 'integers' ? 'STRING' : isIPv4 ? 'INT64' : 'BYTES_16')
    this.element = element ?? { name }
  }

  add(row: number, words: Words, prefixLength: number): void {
    const plain = this.#plain
    if (this.#form === 'integers') this.#addInteger(words)
    else {
      const start = plain.length
      plain.writeAscii('\0\0\0\0')
      writePosition(words, prefixLength, plain)
      plain.room(0)[start] = plain.length - start - 4
    }
    this.#ends[row] = plain.length
  }

  #addInteger(words: Words): void {
    const plain = this.#plain
    const size = this.#isIPv4 ? 8 : 16
    const bytes = plain.room(size)
    const view = viewOf(bytes)
    if (this.#isIPv4) {
      view.setUint32(plain.length, words[3] ?? 0, true)
      view.setUint32(plain.length + 4, 0, true)
    } else {
      const isMapped = isIPv4Compatible(words)
      for (let i = 0; i < 4; i++)
        view.setUint32(plain.length + 4 * i, isMapped && i === 2 ? 0xffff : (words[i] ?? 0))
    }
    plain.length += size
  }

  /** The values of the rows, valid until the next row, or the end, is added. */
  take(rows: number): Leaf {
    const plain = this.#plain.room(0).subarray(0, this.#plain.length)
    this.#plain.length = 0
    const ends = this.#ends.subarray(0, rows)
    const valueAt = (end: number): ParquetValue =>
      this.#isIPv4 ? viewOf(plain).getBigInt64(end - 8, true) : plain.slice(end - 16, end)
    const leaf = { path: [this.element], plain, ends, codes: OWN.subarray(0, rows), statistics: null }
    if (this.#form !== 'integers' || rows === 0) return leaf
    const [first, last] = [valueAt(ends[0] ?? 0), valueAt(ends[rows - 1] ?? 0)]
    // IPv4 comes first, though some IPv6 addresses have smaller bytes.
    return isMapped(first) === isMapped(last)
      ? { ...leaf, statistics: { min_value: first, max_value: last } }
      : leaf
  }
}

/** Whether 16 bytes are an IPv4 address as `::ffff:0:0/96` (RFC 4291, section 2.5.5.2). */
function isMapped(value: ParquetValue): boolean {
  return value instanceof Uint8Array && value.findIndex((byte) => byte !== 0) === 10 && value[11] === 0xff
}

/** Rows as a Parquet file. */
export class ParquetRows implements RowSink {
  readonly #addresses: readonly AddressColumn[]
  readonly #columns: readonly ColumnValues[]
  readonly #writer: ColumnWriter
  readonly #texts = new DistinctTexts()
  /** One more than the number of each text here, by its number in the source of texts; 0 if unknown. */
  readonly #known = new Int32Array(MAX_LOCATIONS)
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
    this.#columns = fields.map(
      (field) => new ColumnValues(elementsOf(field, typeOfField(field)), typeOfField(field)),
    )
    const columns = [
      ...this.#addresses.map(({ element }) => [element]),
      ...this.#columns.map(({ path }) => path),
    ]
    this.#writer = new ColumnWriter(columns)
  }

  get isFull(): boolean {
    // A range has up to 254 networks.
    return this.#rows > GROUP_ROWS - 256
  }

  setText(text: Uint8Array, from: number, to: number, number: number): void {
    const known = this.#known[number] ?? 0
    this.#number = known === 0 ? this.#numberOf(text, from, to) : known - 1
    if (number !== NO_NUMBER) this.#known[number] = this.#number + 1
  }

  forgetNumbers(): void {
    this.#known.fill(0)
  }

  #numberOf(text: Uint8Array, from: number, to: number): number {
    const { count } = this.#texts
    const view = this.#view.view(text)
    const number = this.#texts.numberOf(text, view, from, to)
    if (number < count) return number
    let start = from
    for (const column of this.#columns) {
      const end = endOfValue(text, start, to)
      if (start < end) column.add(text, view, start, end)
      else column.addMissing()
      start = end + 1
    }
    return number
  }

  add(start: Words, end: Words, prefixLength: number): void {
    const row = this.#rows++
    const [first, last] = this.#addresses
    first?.add(row, start, prefixLength)
    if (last !== undefined) {
      writeLast(end, this.#last)
      last.add(row, this.#last, prefixLength)
    }
    this.#numbers[row] = this.#number
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
    this.forgetNumbers()
  }

  *#leaves(): Generator<Leaf> {
    for (const column of this.#addresses) yield column.take(this.#rows)
    const texts = this.#numbers.subarray(0, this.#rows)
    const codes = this.#codes.subarray(0, this.#rows)
    for (const column of this.#columns) yield column.leafOf(texts, codes)
  }
}
