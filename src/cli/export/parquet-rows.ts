import type { SchemaElement } from 'hyparquet'
import { isIPv4Compatible } from '../../address/address.ts'
import { type Words, writeLast } from '../../address/position.ts'
import { ByteSink } from '../../bytes/byte-sink.ts'
import type { LocationField } from '../../enrich/options.ts'
import { CachedView, viewOf } from '../../enrich/swar.ts'
import {
  ColumnWriter,
  type Leaf,
  type ParquetValue,
  type PlainLeaf,
} from '../enrich/parquet/column-writer.ts'
import { type ColumnType, elementsOf, leafOf, parquetValue, typeOfField } from '../enrich/parquet/columns.ts'
import { DistinctTexts } from '../enrich/rows/distinct-texts.ts'
import { ADDRESS_COLUMNS, type AddressForm } from './flags.ts'
import type { RowSink } from './network-rows.ts'
import { writePosition } from './text-rows.ts'

/** Rows of a row group, at most: all of them are in memory. */
const GROUP_ROWS = 2 ** 16

/** The most texts whose values are in memory. A row group ends before one more. */
const MAX_TEXTS = 2 ** 15

/** What `escapedColumnsTemplate` writes for an unknown value. */
const UNKNOWN = '\\N'
const TAB = 9
const ESCAPED: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' }

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

  take(rows: number): PlainLeaf {
    const plain = this.#plain.take()
    const ends = this.#ends.slice(0, rows)
    const valueAt = (end: number): ParquetValue =>
      this.#isIPv4 ? viewOf(plain).getBigInt64(end - 8, true) : plain.slice(end - 16, end)
    const leaf = { path: [this.element], plain, ends, range: null }
    if (this.#form !== 'integers' || rows === 0) return leaf
    const [first, last] = [valueAt(ends[0] ?? 0), valueAt(ends[rows - 1] ?? 0)]
    // IPv4 comes first, though some IPv6 addresses have smaller bytes.
    return isMapped(first) === isMapped(last) ? { ...leaf, range: [first, last] } : leaf
  }
}

/** Whether 16 bytes are an IPv4 address as `::ffff:0:0/96` (RFC 4291, section 2.5.5.2). */
function isMapped(value: ParquetValue): boolean {
  return value instanceof Uint8Array && value.findIndex((byte) => byte !== 0) === 10 && value[11] === 0xff
}

/** The distinct cells of a column, and the value of each. */
interface Cells {
  readonly type: ColumnType
  readonly texts: DistinctTexts
  readonly values: (ParquetValue | null)[]
}

/** Rows as a Parquet file. */
export class ParquetRows implements RowSink {
  readonly #addresses: readonly AddressColumn[]
  readonly #elements: readonly (readonly SchemaElement[])[]
  readonly #writer: ColumnWriter
  readonly #texts = new DistinctTexts()
  /** The values of each text. */
  #values: (ParquetValue | null)[][] = []
  readonly #cells: readonly Cells[]
  /** The number of the text of the next rows, and of each row. */
  #number = 0
  readonly #numbers = new Int32Array(GROUP_ROWS)
  readonly #view = new CachedView()
  readonly #last = new Uint32Array(4)
  #rows = 0

  /** @param isIPv4 whether there are no IPv6 addresses */
  constructor(as: AddressForm, fields: readonly LocationField[], isIPv4: boolean) {
    this.#cells = fields.map((field) => ({
      type: typeOfField(field),
      texts: new DistinctTexts(),
      values: [],
    }))
    this.#addresses = ADDRESS_COLUMNS[as].map((name) => new AddressColumn(name, as, isIPv4))
    this.#elements = fields.map((field) => elementsOf(field, typeOfField(field)))
    this.#writer = new ColumnWriter([...this.#addresses.map(({ element }) => [element]), ...this.#elements])
  }

  get isFull(): boolean {
    return this.#rows > GROUP_ROWS - 256
  }

  setText(text: Uint8Array, from: number, to: number): void {
    if (this.#texts.count >= MAX_TEXTS) {
      this.#writeGroup()
      this.#texts.clear()
      this.#values = []
      for (const { texts, values } of this.#cells) {
        texts.clear()
        values.length = 0
      }
    }
    const { count } = this.#texts
    this.#number = this.#texts.numberOf(text, this.#view.view(text), from, to)
    if (this.#number === count) this.#values.push(this.#valuesOf(text, from, to))
  }

  add(start: Words, end: Words, prefixLength: number): void {
    if (this.#rows === GROUP_ROWS) this.#writeGroup()
    const row = this.#rows++
    const [first, last] = this.#addresses
    first?.add(row, start, prefixLength)
    if (last !== undefined) {
      writeLast(end, this.#last)
      last.add(row, this.#last, prefixLength)
    }
    this.#numbers[row] = this.#number
  }

  /** The bytes of the rows. */
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
  }

  *#leaves(): Generator<Leaf | PlainLeaf> {
    for (const column of this.#addresses) yield column.take(this.#rows)
    const { count } = this.#texts
    const numbers = this.#numbers.subarray(0, this.#rows)
    for (const [index, path] of this.#elements.entries())
      yield leafOf(path, numbers, count, (number) => this.#values[number]?.[index] ?? null, itself)
  }

  /** The values of a text. A column makes equal cells a value once. */
  #valuesOf(text: Uint8Array, from: number, to: number): (ParquetValue | null)[] {
    const view = this.#view.view(text)
    let start = from
    return this.#cells.map(({ type, texts, values }) => {
      let end = start
      while (end < to && text[end] !== TAB) end++
      const number = texts.numberOf(text, view, start, end)
      if (number === values.length) values.push(cellValue(type, decoder.decode(text.subarray(start, end))))
      start = end + 1
      return values[number] ?? null
    })
  }
}

const decoder = new TextDecoder()

function cellValue(type: ColumnType, cell: string): ParquetValue | null {
  return cell === UNKNOWN ? null : parquetValue(type, unescaped(cell))
}

const itself = (value: ParquetValue): ParquetValue => value

function unescaped(cell: string): string {
  return cell.includes('\\') ? cell.replace(/\\(.)/g, (_, each: string) => ESCAPED[each] ?? each) : cell
}
