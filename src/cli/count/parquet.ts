import type { CountColumns } from '../../enrich/counting/count-rows.ts'
import { ColumnWriter } from '../enrich/parquet/column-writer.ts'
import { elementsOf, leafOf, parquetValue } from '../enrich/parquet/columns.ts'
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
  const elements = columns.map(({ name, type }) => elementsOf(name, type))
  const writer = new ColumnWriter(elements)
  const rows = table.counts.length
  for (let from = 0; from < rows; from += GROUP_ROWS) {
    const to = Math.min(rows, from + GROUP_ROWS)
    const leaves = columns.map(({ codes, size, value, type }, index) =>
      leafOf(elements[index] ?? [], codes.subarray(from, to), size, (code) =>
        parquetValue(type, value(code)),
      ),
    )
    writer.add(leaves, to - from)
    yield writer.take()
  }
  writer.end()
  yield writer.take()
}
