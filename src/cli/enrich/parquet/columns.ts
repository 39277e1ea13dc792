// The types of columns, and the values of columns of text, numbers and locations.
import type { SchemaElement } from 'hyparquet'
import { DistinctTexts, grown, NONE } from '../../../bytes/distinct-texts.ts'
import { BACKSLASH, COMMA } from '../../../enrich/ascii.ts'
import type { LocationField } from '../../../enrich/options.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { endOfValue } from '../../../enrich/writing/column-templates.ts'
import type { ObjectMembers } from '../rows/object-members.ts'
import type { AddedColumns } from '../rows/row-output.ts'
import { type Leaf, PlainValues } from './column-writer.ts'

/** The types of columns. Values of JSON get all but `BYTES_16`, 16 bytes. */
export type ColumnType = 'BOOLEAN' | 'INT64' | 'DOUBLE' | 'TIMESTAMP' | 'STRING' | 'JSON' | 'BYTES_16'

/** The type of the column of a field. */
export function typeOfField(field: LocationField): ColumnType {
  if (field === 'asn_number') return 'INT64'
  return field === 'latitude' || field === 'longitude' ? 'DOUBLE' : 'STRING'
}

/** How Parquet stores the types. */
const STORED: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  BOOLEAN: { type: 'BOOLEAN' },
  INT64: { type: 'INT64' },
  DOUBLE: { type: 'DOUBLE' },
  TIMESTAMP: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
  STRING: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  JSON: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
  BYTES_16: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16 },
}

/** The element of a column with a type. */
export function elementOf(name: string, type: ColumnType): SchemaElement {
  return { ...STORED[type], name, repetition_type: 'OPTIONAL' }
}

/** The values of a column of text, `DOUBLE` or `INT64`, by the numbers of the texts that have them. */
export class ColumnValues {
  readonly path: readonly SchemaElement[]
  readonly #type: ColumnType
  readonly #cells = new DistinctTexts()
  readonly #values = new PlainValues()
  /** For each text the number of its cell; or the code of a {@link Leaf} without one. */
  #cellOf = new Int32Array(1024)
  #count = 0

  /** @param structs the elements of the structs around it */
  constructor(name: string, type: ColumnType, structs: readonly SchemaElement[] = []) {
    this.path = [...structs, elementOf(name, type)]
    this.#type = type
  }

  /** Adds the cell `bytes[start, end)` of the next text, from 0. @param view of all of `bytes` */
  add(bytes: Uint8Array, view: DataView, start: number, end: number): void {
    this.#set(this.#cells.numberOf(bytes, view, start, end))
  }

  addText(text: string): void {
    const bytes = Buffer.from(text)
    this.add(bytes, viewOf(bytes), 0, bytes.length)
  }

  /** Adds the next text, which has no value. @param lacksStruct whether the struct around a value is missing too */
  addMissing(lacksStruct = false): void {
    this.#set(lacksStruct ? NONE : -this.path.length)
  }

  #set(cell: number): void {
    if (this.#count === this.#cellOf.length) this.#cellOf = grown(this.#cellOf, 0)
    this.#cellOf[this.#count++] = cell
  }

  /**
   * The values of rows, valid until the next call.
   *
   * @param numbers of the texts of the rows; {@link NONE} for none
   * @param codes memory for as many
   */
  leafOf(numbers: Int32Array, codes = new Int32Array(numbers.length)): Leaf {
    const codeOf = new Int32Array(this.#cells.count).fill(NONE)
    for (let row = 0; row < numbers.length; row++) {
      const cell = this.#cellOf[numbers[row] ?? NONE] ?? NONE
      let code = cell
      if (cell >= 0) {
        code = codeOf[cell] ?? NONE
        if (code === NONE) code = codeOf[cell] = this.#addValue(this.#cells.textOf(cell))
      }
      codes[row] = code
    }
    return { path: this.path, ...this.#values.take(), codes }
  }

  /** @returns the number of the value */
  #addValue(cell: Uint8Array): number {
    const number = this.#values.count
    if (this.#type === 'STRING') this.#values.addBytes(cell, 0, cell.length)
    else
      this.#values.add(this.#type === 'INT64' ? BigInt(decoder.decode(cell)) : Number(decoder.decode(cell)))
    return number
  }

  clear(): void {
    this.#cells.clear()
    this.#count = 0
  }
}

const decoder = new TextDecoder()

/** Texts that are kept for the next row group, which has most of them again. */
const MAX_TEXTS = 65_536

/** The field of a member of a struct, `null` for the address, and where it is there. */
type StructMember = readonly [field: LocationField | null, first: string, last?: string]

/** A struct of the form of a `LocationRecord`. */
const LOCATION: readonly StructMember[] = [
  [null, 'ip'],
  ['country_code', 'country', 'code'],
  ['country_name', 'country', 'name'],
  ['region_name', 'region', 'name'],
  ['region_code', 'region', 'code'],
  ['city', 'city'],
  ['postal_code', 'postal_code'],
  ['latitude', 'coordinates', 'latitude'],
  ['longitude', 'coordinates', 'longitude'],
  ['timezone_id', 'timezone', 'id'],
  ['timezone_offset', 'timezone', 'offset'],
]
const SYSTEM: readonly StructMember[] = [
  ['asn_number', 'number'],
  ['asn_organization', 'organization'],
]

/** The columns of the locations of a row group. Rows are added in order. */
export class LocatedColumns {
  /** The elements of each column. */
  readonly elements: (readonly SchemaElement[])[] = []
  /** Those of the fields, in the order of {@link elements}. */
  readonly #values = new Map<LocationField, ColumnValues>()
  /** The column of the address; `null` if there is none. */
  #address: readonly SchemaElement[] | null = null
  /** What the texts of locations have. */
  readonly #fields: readonly LocationField[]
  readonly #isWhole: boolean
  /** The texts of the columns of locations. */
  #texts = new DistinctTexts()
  readonly #ips = new DistinctTexts()
  /** The number of the text of each row, or `NONE`, and the number of its address. */
  #numbers = new Int32Array(1024)
  #addresses = new Int32Array(1024)
  #rows = 0
  /** The number of each text in packed rows, by their source. */
  readonly #sources = new Map<number, { places: Int32Array<ArrayBuffer> }>()
  #source = { places: new Int32Array(0) }
  /** More texts than these are not kept. */
  #mostTexts = MAX_TEXTS

  /** @param isWhole whether the columns are structs: of the whole location, and of the autonomous system if there is one */
  constructor({ into, asn, fields }: AddedColumns, isWhole: boolean) {
    this.#fields = [...fields.values()]
    this.#isWhole = isWhole
    if (isWhole) {
      this.#addStruct(into, LOCATION)
      if (asn !== null) this.#addStruct(asn, SYSTEM)
    } else
      for (const [name, field] of fields) {
        const values = new ColumnValues(name, typeOfField(field))
        this.elements.push(values.path)
        this.#values.set(field, values)
      }
  }

  /** Sets the source of the next rows. Each source numbers its texts. */
  useSource(id: number): void {
    this.#source = this.#sources.get(id) ?? { places: new Int32Array(1024) }
    this.#sources.set(id, this.#source)
  }

  /** Adds the location of a packed row, which begins at `start`. @returns where its columns begin. @param view of all of `bytes` */
  addPacked(bytes: Uint8Array, view: DataView, start: number): number {
    const packed = view.getInt32(start, true)
    let at = start + 4
    if (packed < 0) {
      const end = at + 4 + view.getInt32(at, true)
      this.setText(-packed, unescaped(bytes.subarray(at + 4, end)))
      at = end
    }
    this.addNumber(packed === 0 ? NONE : Math.abs(packed))
    if (packed === 0 || !this.#isWhole) return at
    const end = at + 4 + view.getInt32(at, true)
    this.setAddress(bytes, view, at + 4, end)
    return end
  }

  /** Sets the text with a number of the source. */
  setText(number: number, text: Uint8Array): void {
    const source = this.#source
    while (number >= source.places.length) source.places = grown(source.places, 0)
    source.places[number] = this.#textNumber(text)
  }

  /** Adds a row. @param number of its text; {@link NONE} without a location */
  addNumber(number: number): void {
    if (this.#rows === this.#numbers.length) {
      this.#numbers = grown(this.#numbers, 0)
      this.#addresses = grown(this.#addresses, 0)
    }
    this.#numbers[this.#rows++] = number === NONE ? NONE : (this.#source.places[number] ?? NONE)
  }

  /** The number of the text of a location, whose values the columns get. */
  #textNumber(text: Uint8Array): number {
    const { count } = this.#texts
    const view = viewOf(text)
    const number = this.#texts.numberOf(text, view, 0, text.length)
    if (number < count) return number
    let start = 0
    let lacksSystem = false
    for (const field of this.#fields) {
      const end = endOfValue(text, start, text.length)
      // Without a number there is no system.
      lacksSystem ||= field === 'asn_number' && start >= end
      if (start < end) this.#values.get(field)?.add(text, view, start, end)
      else this.#values.get(field)?.addMissing(lacksSystem)
      start = end + 1
    }
    return number
  }

  /** Sets the address of the row that was added last, `bytes[start, end)`. @param view of all of `bytes` */
  setAddress(bytes: Uint8Array, view: DataView, start: number, end: number): void {
    this.#addresses[this.#rows - 1] = this.#ips.numberOf(bytes, view, start, end)
  }

  /** Adds the location of a row. @param number of the member with its text */
  add(members: ObjectMembers, number: number): void {
    this.addNumber(NONE)
    const member = members.memberOf(number)
    if (member === NONE || !members.isText(member)) return
    const { bytes, view, starts, ends } = members
    let start = (starts[member] ?? 0) + 1
    if (this.#isWhole) {
      const end = bytes.indexOf(COMMA, start)
      this.setAddress(bytes, view, start, end)
      start = end + 1
    }
    const text = unescaped(bytes.subarray(start, (ends[member] ?? 0) - 1))
    this.#numbers[this.#rows - 1] = this.#textNumber(text)
  }

  /** The values of the columns, in the order of {@link elements}. */
  *take(): Generator<Leaf> {
    const located = this.#numbers.subarray(0, this.#rows)
    if (this.#address !== null) {
      const values = new PlainValues()
      for (let ip = 0; ip < this.#ips.count; ip++) values.add(this.#ips.textOf(ip))
      const codes = located.map((number, row) => (number < 0 ? NONE : (this.#addresses[row] ?? NONE)))
      yield { path: this.#address, ...values.take(), codes }
    }
    for (const values of this.#values.values()) yield values.leafOf(located)
    this.#rows = 0
    this.#ips.clear()
    if (this.#texts.count <= this.#mostTexts) return
    const before = this.#texts
    this.#texts = new DistinctTexts()
    for (const values of this.#values.values()) values.clear()
    // Later rows have numbers of texts in earlier ones.
    for (const source of this.#sources.values())
      source.places = source.places.map((number) => this.#textNumber(before.textOf(number)))
    this.#mostTexts = Math.max(MAX_TEXTS, 2 * this.#texts.count)
  }

  #addStruct(name: string, members: readonly StructMember[]): void {
    const group = (own: string, size: number): SchemaElement => ({
      name: own,
      repetition_type: 'OPTIONAL',
      num_children: size,
    })
    const root = group(name, new Set(members.map(([, first]) => first)).size)
    const elements = [root]
    let inner = root
    for (const [field, first, last] of members) {
      if (last !== undefined && first !== inner.name) {
        inner = group(first, members.filter(([, each]) => each === first).length)
        elements.push(inner)
      }
      const structs = last === undefined ? [root] : [root, inner]
      const type = field === null ? 'STRING' : typeOfField(field)
      const values = new ColumnValues(last ?? first, type, structs)
      elements.push(...values.path.slice(structs.length))
      if (field === null) this.#address = values.path
      else this.#values.set(field, values)
    }
    this.elements.push(elements)
  }
}

/** The inside of a string of JSON, without its escapes. */
function unescaped(bytes: Uint8Array): Uint8Array {
  return bytes.includes(BACKSLASH)
    ? Buffer.from(String(JSON.parse(`"${Buffer.from(bytes).toString()}"`)))
    : bytes
}

const SPARK_TYPES: Readonly<Record<string, string>> = { DOUBLE: 'double', INT64: 'long' }

/** A column as a field of Spark's own copy of the schema. @param elements the column, then the elements below it */
export function sparkFields(elements: readonly SchemaElement[]): object[] {
  let at = 0
  const next = (): object => {
    const { name, type, num_children = 0 } = elements[at++] ?? { name: '' }
    const fields = Array.from({ length: num_children }, next)
    const spark = num_children > 0 ? { type: 'struct', fields } : (SPARK_TYPES[type ?? ''] ?? 'string')
    return { name, type: spark, nullable: true, metadata: {} }
  }
  return elements.length === 0 ? [] : [next()]
}
