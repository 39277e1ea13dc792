import type { CountColumn, CountColumns } from '../../enrich/counting/count-rows.ts'
import { ColumnWriter } from '../enrich/parquet/column-writer.ts'
import { elementsOf } from '../enrich/parquet/columns.ts'
import { isNumeric, numbersOf } from './forms.ts'

/** Rows of a row group. */
const GROUP_ROWS = 100_000

/** A count as a Parquet file, in parts: columns of integers and of text. */
export function* parquetOf(table: CountColumns): Generator<Uint8Array> {
  const numbers = numbersOf(table)
  const columns = [...table.columns, ...numbers].map((column) => ({
    ...column,
    type: numbers.includes(column) || isNumeric(column) ? ('INT64' as const) : ('STRING' as const),
  }))
  const writer = new ColumnWriter(columns.map(({ name, type }) => elementsOf(name, type)))
  const rows = table.counts.length
  for (let from = 0; from < rows; from += GROUP_ROWS) {
    writer.add(columns.map((column) => valuesOf(column, from, Math.min(rows, from + GROUP_ROWS))))
    yield writer.take()
  }
  writer.end()
  yield writer.take()
}

function valuesOf(
  { codes, value, type }: CountColumn & { readonly type: 'INT64' | 'STRING' },
  from: number,
  to: number,
): unknown[] {
  return Array.from(codes.subarray(from, to), (code) => {
    const each = value(code)
    if (each === null) return null
    return type === 'INT64' ? BigInt(each) : String(each)
  })
}
