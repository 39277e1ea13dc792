// The types of columns, and their values.
import type { SchemaElement } from 'hyparquet'
import { grown, NONE } from '../../../bytes/distinct-texts.ts'
import type { LocationField } from '../../../enrich/options.ts'
import { type Leaf, type ParquetValue, PlainValues } from './column-writer.ts'

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

/** The values of a column, by numbers that rows have. */
export class ColumnValues {
  readonly #path: readonly SchemaElement[]
  readonly #type: ColumnType
  /** The distinct values, and the index of each. */
  #values: ParquetValue[] = []
  readonly #indexes = new Map<string | number, number>()
  /** For each number the index of its value; or the code of a {@link Leaf} without one. */
  #indexOf = new Int32Array(1024)
  #count = 0

  constructor(path: readonly SchemaElement[], type: ColumnType) {
    this.#path = path
    this.#type = type
  }

  /** Adds the value of the next number, from 0. @param lacksStruct whether the struct around a value is missing too */
  add(value: string | number | null, lacksStruct = false): void {
    if (this.#count === this.#indexOf.length) this.#indexOf = grown(this.#indexOf, 0)
    let index = lacksStruct ? NONE : -this.#path.length
    if (value !== null) {
      index = this.#indexes.get(value) ?? this.#values.length
      if (index === this.#values.length) {
        this.#indexes.set(value, index)
        this.#values.push(parquetValue(this.#type, value))
      }
    }
    this.#indexOf[this.#count++] = index
  }

  /** The values of rows. @param numbers of the rows; {@link NONE} for none */
  leafOf(numbers: Int32Array): Leaf {
    const values = new PlainValues()
    const codeOf = new Int32Array(this.#values.length).fill(NONE)
    const codes = new Int32Array(numbers.length)
    for (let row = 0; row < numbers.length; row++) {
      let code = this.#indexOf[numbers[row] ?? NONE] ?? NONE
      if (code >= 0) {
        const index = code
        code = codeOf[index] ?? NONE
        if (code === NONE) {
          code = codeOf[index] = values.count
          values.add(this.#values[index] ?? 0)
        }
      }
      codes[row] = code
    }
    return { path: this.#path, ...values.take(), codes }
  }

  clear(): void {
    this.#values = []
    this.#indexes.clear()
    this.#count = 0
  }
}

/** A value in the form of its column. */
export function parquetValue(type: ColumnType, value: string | number): ParquetValue {
  if (type === 'INT64') return BigInt(value)
  return type === 'DOUBLE' ? Number(value) : Buffer.from(String(value))
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
