// The types of columns, and their values.
import type { SchemaElement } from 'hyparquet'
import type { LocationField } from '../../../enrich/options.ts'
import { NONE } from '../rows/distinct-texts.ts'
import { type Leaf, type ParquetValue, PlainValues } from './column-writer.ts'

/** Stands for a value without a code. */
const UNSEEN = 2 ** 31 - 1

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

/**
 * The values of a column.
 *
 * @param numbers for each row a number below `count`, or less than 0
 * @param keyOf tells the values of numbers apart; `null` for no value
 */
export function leafOf<Key>(
  path: readonly SchemaElement[],
  numbers: Int32Array,
  count: number,
  keyOf: (number: number) => Key | null,
  valueOfKey: (key: Key) => ParquetValue,
): Leaf {
  const values = new PlainValues()
  const indexes = new Map<Key, number>()
  // Of each number the index of its value; UNSEEN before its first row.
  const codeOf = new Int32Array(count).fill(UNSEEN)
  const codes = new Int32Array(numbers.length)
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] ?? NONE
    if (number < 0) {
      codes[row] = NONE
      continue
    }
    if (codeOf[number] === UNSEEN) {
      const key = keyOf(number)
      const code = key === null ? -path.length : (indexes.get(key) ?? values.count)
      codeOf[number] = code
      if (key !== null && code === values.count) {
        indexes.set(key, code)
        values.add(valueOfKey(key))
      }
    }
    codes[row] = codeOf[number] ?? NONE
  }
  return { path, ...values.take(), codes }
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
