// The columns of a location, and the types of other columns.
import type { SchemaElement } from 'hyparquet'
import type { LocationField } from '../../../enrich/options.ts'
import { fieldOf, type LocatedRecord } from '../../../enrich/writing/column-templates.ts'
import type { AutonomousSystem } from '../../../location/autonomous-systems.ts'

/** The types of columns that values of JSON get. */
export type ColumnType = 'BOOLEAN' | 'INT64' | 'DOUBLE' | 'TIMESTAMP' | 'STRING' | 'JSON'

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
    const json = { logical_type: { type: 'JSON' } } as const
    return [{ name, type: 'BYTE_ARRAY', ...json, repetition_type: 'OPTIONAL' }]
  }
  return [{ name, type, repetition_type: 'OPTIONAL' }]
}

/** The elements of a column of the form of a `LocationRecord`. */
export function locationElements(name: string): readonly SchemaElement[] {
  const texts = (...names: string[]) => names.map((own) => elementsOf(own, 'STRING'))
  return group(name, [
    ...texts('ip'),
    group('country', texts('code', 'name')),
    group('region', texts('name', 'code')),
    ...texts('city', 'postal_code'),
    group('coordinates', [elementsOf('latitude', 'DOUBLE'), elementsOf('longitude', 'DOUBLE')]),
    group('timezone', texts('id', 'offset')),
  ])
}

/** The elements of a column of the form of an `AutonomousSystem`. */
export function systemElements(name: string): readonly SchemaElement[] {
  return group(name, [elementsOf('number', 'INT64'), elementsOf('organization', 'STRING')])
}

/** The value of that column. Writers take 64-bit integers as `bigint`. */
export function systemValue(system: AutonomousSystem | null | undefined): object | null {
  return system ? { number: BigInt(system.number), organization: system.organization } : null
}

function group(name: string, children: readonly (readonly SchemaElement[])[]): readonly SchemaElement[] {
  return [{ name, repetition_type: 'OPTIONAL', num_children: children.length }, ...children.flat()]
}

/** The elements of the column of a field. */
export function fieldElements(name: string, field: LocationField): readonly SchemaElement[] {
  return elementsOf(name, typeOfField(field))
}

/** The value of a field; `null` without a location. */
export function fieldValue(
  record: LocatedRecord | null,
  field: LocationField,
): string | number | bigint | null {
  const value = record === null ? null : fieldOf(record, field)
  return field === 'asn_number' && value !== null ? BigInt(value) : value
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
