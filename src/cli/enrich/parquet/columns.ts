// The types of columns, and their values.
import type { SchemaElement } from 'hyparquet'
import { DistinctTexts, grown, NONE } from '../../../bytes/distinct-texts.ts'
import type { LocationField } from '../../../enrich/options.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { type Leaf, PlainValues } from './column-writer.ts'

/** The types of columns. Values of JSON get all but `BYTES_16`, 16 bytes. */
export type ColumnType = 'BOOLEAN' | 'INT64' | 'DOUBLE' | 'TIMESTAMP' | 'STRING' | 'JSON' | 'BYTES_16'

/** The type of the column of a field. */
export function typeOfField(field: LocationField): ColumnType {
  if (field === 'asn_number') return 'INT64'
  return field === 'latitude' || field === 'longitude' ? 'DOUBLE' : 'STRING'
}

/** The elements of a column with a type. */
export function elementsOf(name: string, type: ColumnType): readonly SchemaElement[] {
  if (type === 'STRING') {
    const text = { converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const
    return [{ name, type: 'BYTE_ARRAY', ...text, repetition_type: 'OPTIONAL' }]
  }
  if (type === 'TIMESTAMP') {
    const logical_type = { type, isAdjustedToUTC: true, unit: 'MICROS' } as const
    return [
      { name, type: 'INT64', converted_type: 'TIMESTAMP_MICROS', logical_type, repetition_type: 'OPTIONAL' },
    ]
  }
  if (type === 'JSON') {
    const json = { converted_type: 'JSON', logical_type: { type: 'JSON' } } as const
    return [{ name, type: 'BYTE_ARRAY', ...json, repetition_type: 'OPTIONAL' }]
  }
  if (type === 'BYTES_16')
    return [{ name, type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, repetition_type: 'OPTIONAL' }]
  return [{ name, type, repetition_type: 'OPTIONAL' }]
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

  constructor(path: readonly SchemaElement[], type: ColumnType) {
    this.path = path
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
