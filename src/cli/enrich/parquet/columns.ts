// The columns of a location, and the types of other columns.
import type { SchemaElement } from 'hyparquet'
import type { LocationField } from '../../../enrich/options.ts'
import { fieldOf } from '../../../enrich/writing/column-templates.ts'
import type { LocationRecord } from '../../../location/location-record.ts'

/** The types of columns that values of JSON get. */
export type ColumnType = 'BOOLEAN' | 'INT64' | 'DOUBLE' | 'STRING' | 'JSON'

/** Whether the values of a field are numbers. Others are text. */
export function isNumber(field: LocationField): boolean {
  return field === 'latitude' || field === 'longitude'
}

/** The elements of a column with a type. */
export function elementsOf(name: string, type: ColumnType): readonly SchemaElement[] {
  if (type === 'STRING') {
    const text = { converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const
    return [{ name, type: 'BYTE_ARRAY', ...text, repetition_type: 'OPTIONAL' }]
  }
  if (type === 'JSON') {
    const json = { logical_type: { type: 'JSON' } } as const
    return [{ name, type: 'BYTE_ARRAY', ...json, repetition_type: 'OPTIONAL' }]
  }
  return [{ name, type, repetition_type: 'OPTIONAL' }]
}

/** The elements of a column of the form of a `LocationRecord`. */
export function locationElements(name: string): readonly SchemaElement[] {
  const group = (own: string, children: readonly (readonly SchemaElement[])[]): readonly SchemaElement[] => [
    { name: own, repetition_type: 'OPTIONAL', num_children: children.length },
    ...children.flat(),
  ]
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

/** The elements of the column of a field. */
export function fieldElements(name: string, field: LocationField): readonly SchemaElement[] {
  return elementsOf(name, isNumber(field) ? 'DOUBLE' : 'STRING')
}

/** The value of a field; `null` without a location. */
export function fieldValue(record: LocationRecord | null, field: LocationField): string | number | null {
  return record === null ? null : fieldOf(record, field)
}

/** A column as a field of Spark's own copy of the schema. @param elements the column, then the elements below it */
export function sparkFields(elements: readonly SchemaElement[]): object[] {
  let at = 0
  const next = (): object => {
    const { name, type, num_children = 0 } = elements[at++] ?? { name: '' }
    const fields = Array.from({ length: num_children }, next)
    const spark = num_children > 0 ? { type: 'struct', fields } : type === 'DOUBLE' ? 'double' : 'string'
    return { name, type: spark, nullable: true, metadata: {} }
  }
  return elements.length === 0 ? [] : [next()]
}
