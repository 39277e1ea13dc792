import type { Plan } from '../../../enrich/formats/formats.ts'
import type { LocationField } from '../../../enrich/options.ts'
import type { Output } from '../output.ts'
import { ColumnWriter } from './column-writer.ts'
import {
  type ColumnType,
  elementsOf,
  fieldValue,
  locationElements,
  systemElements,
  systemValue,
  typeOfField,
} from './columns.ts'
import {
  isLocation,
  isSystem,
  jsonOf,
  locatedOf,
  RESCUED,
  type Row,
  RowReader,
  type SizedRow,
} from './row-reader.ts'

/** Rows and bytes of lines of a row group, at most: all of them are in memory. */
const GROUP_ROWS = 100_000
const GROUP_BYTES = 2 ** 26

/** Limit of the columns. More members are in the column of rescued data. */
const MAX_COLUMNS = 2000
const MOST_INT64 = 2n ** 63n - 1n

/** A column of the file: its type, and the values of the row group that is being read. */
interface Column {
  /** `null` until the first row group is complete. `location` and `system` are structs. */
  type: ColumnType | 'location' | 'system' | null
  values: unknown[]
}

/**
 * Makes a Parquet file of the lines of a run: objects, or rows of a table.
 *
 * The first row group decides on the columns and their types. A member of objects becomes a column of booleans, integers,
 * floating-point numbers, instants or text if all its values have that type, and otherwise a column of JSON. Columns of tables are text.
 * Later members without a column, and later values of another type, go into a column of their own. So do lines that cannot be
 * read.
 */
export class RowsOutput implements Output {
  readonly #target: Output
  readonly #into: string
  readonly #system: string | null
  readonly #fields: ReadonlyMap<string, LocationField> | null
  #reader: RowReader | null = null
  readonly #columns = new Map<string, Column>()
  #rescued: unknown[] = []
  #writer: ColumnWriter | null = null
  #rows = 0
  #bytes = 0
  #isEnded = false

  /**
   * @param into the name of the member with the location
   * @param system the name of that with the autonomous system; `null` for none
   * @param fields columns with one value each instead, by their names; `null` for the whole location. Tables have their
   *   columns already
   */
  constructor(
    target: Output,
    into: string,
    system: string | null,
    fields: ReadonlyMap<string, LocationField> | null,
  ) {
    this.#target = target
    this.#into = into
    this.#system = system
    this.#fields = fields
  }

  /** Call it before the first line of an input. */
  usePlan(plan: Plan): void {
    this.#reader ??= new RowReader(plan)
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#addAll(this.#reader?.rows(bytes) ?? [])
  }

  async flush(): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true
      await this.#addAll(this.#reader?.end() ?? [])
      await this.#writeGroup()
      this.#writer?.end()
      await this.#target.write(this.#writer?.take() ?? new Uint8Array(0))
    }
    await this.#target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.#target.finish()
  }

  discard(): void {
    this.#target.discard()
  }

  async #addAll(rows: Iterable<SizedRow>): Promise<void> {
    for (const { row, size } of rows) {
      this.#add(row)
      this.#bytes += size
      if (this.#rows >= GROUP_ROWS || this.#bytes >= GROUP_BYTES) await this.#writeGroup()
    }
  }

  #add(row: Row): void {
    const rescued: [string, unknown][] = []
    for (const [name, value] of this.#split(row)) {
      const column = this.#columns.get(name) ?? this.#newColumn(name)
      const kept = column === null ? undefined : column.type === null ? value : valueAs(column.type, value)
      if (column !== null && kept !== undefined) column.values[this.#rows] = kept
      else rescued.push([name, value])
    }
    this.#rescued[this.#rows] = rescued.length === 0 ? null : jsonBytes(Object.fromEntries(rescued))
    this.#rows++
  }

  /** The row, with the fields of the location in its place. */
  *#split(row: Row): Row {
    const fields = this.#reader?.isTable ? null : this.#fields
    let location: unknown
    let system: unknown
    for (const [name, value] of row) {
      if (fields === null || (name !== this.#into && name !== this.#system)) yield [name, value]
      else if (name === this.#system) system = value
      else location = value
    }
    const located = locatedOf(location, system)
    for (const [column, field] of fields ?? []) yield [column, fieldValue(located, field)]
  }

  /** `null` once the columns are decided. */
  #newColumn(name: string): Column | null {
    if (this.#writer !== null || this.#columns.size >= MAX_COLUMNS || name === RESCUED) return null
    const column: Column = { type: null, values: [] }
    this.#columns.set(name, column)
    return column
  }

  async #writeGroup(): Promise<void> {
    this.#writer ??= this.#decide()
    const rows = this.#rows
    if (rows > 0) {
      const values = [...this.#columns.values()].map((column) => column.values)
      this.#writer.add(
        [...values, this.#rescued].map((each) => Array.from({ length: rows }, (_, row) => each[row] ?? null)),
      )
    }
    for (const column of this.#columns.values()) column.values = []
    this.#rescued = []
    this.#rows = 0
    this.#bytes = 0
    await this.#target.write(this.#writer.take())
  }

  /** Decides on the types of the columns by the values of the first row group. */
  #decide(): ColumnWriter {
    const isTable = this.#reader?.isTable === true
    const fields = isTable ? this.#reader?.fields : this.#fields
    const elements = [...this.#columns].map(([name, column]) => {
      const field = fields?.get(name)
      if (name === this.#into && !fields) column.type = 'location'
      else if (name === this.#system && !fields) column.type = 'system'
      else if (field !== undefined) column.type = typeOfField(field)
      else column.type = isTable ? 'STRING' : typeOf(column.values)
      const type = column.type
      column.values = column.values.map((value) => valueAs(type, value) ?? null)
      if (type === 'location') return locationElements(name)
      return type === 'system' ? systemElements(name) : elementsOf(name, type)
    })
    return new ColumnWriter([...elements, elementsOf(RESCUED, 'JSON')])
  }
}

/** The first type that can hold all these values. The array is sparse, and any type can hold a missing value. */
function typeOf(values: readonly unknown[]): ColumnType {
  const given = values.filter((value) => value !== null && value !== undefined)
  const types = ['BOOLEAN', 'INT64', 'DOUBLE', 'TIMESTAMP', 'STRING'] as const
  // Most columns whose first values are missing are text, such as the user of a request.
  if (given.length === 0) return 'STRING'
  return types.find((type) => given.every((value) => valueAs(type, value) !== undefined)) ?? 'JSON'
}

/** The value as a column of the type holds it; `undefined` if it cannot. `null` stays. */
function valueAs(type: ColumnType | 'location' | 'system', value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (type) {
    case 'BOOLEAN':
      return typeof value === 'boolean' ? value : undefined
    case 'INT64':
      return integerOf(value)
    case 'DOUBLE':
      return numberOf(value)
    case 'TIMESTAMP':
      return instantOf(value)
    case 'STRING':
      return typeof value === 'string' ? value : undefined
    case 'location':
      return isLocation(value) ? value : undefined
    case 'system':
      return isSystem(value) ? systemValue(value) : undefined
    case 'JSON':
      return jsonBytes(value)
  }
}

function integerOf(value: unknown): bigint | undefined {
  const integer = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
  if (Object.is(value, -0) || typeof integer !== 'bigint') return undefined
  return integer <= MOST_INT64 && integer >= -MOST_INT64 - 1n ? integer : undefined
}

/** RFC 3339 with an offset. A fraction with more digits than microseconds stays text. */
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)$/

/** Microseconds since 1970. */
function instantOf(value: unknown): bigint | undefined {
  const [, clock, fraction = '', offset] = (typeof value === 'string' ? INSTANT.exec(value) : null) ?? []
  if (clock === undefined) return undefined
  const utc = new Date(`${clock}Z`)
  const instant = Date.parse(`${clock}${offset}`)
  // Date takes 30 February for a day of March.
  if (Number.isNaN(instant) || !utc.toISOString().startsWith(clock)) return undefined
  return BigInt(instant) * 1000n + BigInt(fraction.padEnd(6, '0'))
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'bigint') return BigInt(Number(value)) === value ? Number(value) : undefined
  return typeof value === 'number' ? value : undefined
}

/** Bytes, because the writer would write a text as a JSON string. */
function jsonBytes(value: unknown): Uint8Array {
  return Buffer.from(jsonOf(value))
}
