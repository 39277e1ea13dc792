import type { SchemaElement } from 'hyparquet'
import { DistinctTexts, grown, NONE } from '../../../bytes/distinct-texts.ts'
import { CAPITAL_T, CAPITAL_Z, COLON, DASH, DOT, NINE, PLUS, QUOTE, SMALL_T } from '../../../enrich/ascii.ts'
import type { TablePlan } from '../../../enrich/formats/delimited/table-reader.ts'
import { Timestamp } from '../../../enrich/locating/event-time.ts'
import { INTO, type LocationCells } from '../../../enrich/options.ts'
import { viewOf } from '../../../enrich/swar.ts'
import type { Output } from '../output.ts'
import { isPlainString, jsonIn, textIn } from '../rows/object-members.ts'
import { type AddedColumns, RESCUED, RowOutput, takenColumn } from '../rows/row-output.ts'
import { ColumnWriter, type Leaf, type ParquetValue, PlainValues } from './column-writer.ts'
import { type ColumnType, elementOf, LocatedColumns } from './columns.ts'

/** Rows and bytes of lines of a row group, at most: all of them are in memory. */
const GROUP_ROWS = 100_000
const GROUP_BYTES = 2 ** 26
/** Limit of the columns. More members are in the column of rescued data. */
const MAX_COLUMNS = 2000

/**
 * Makes a Parquet file of the objects of a run.
 *
 * The first row group decides on the columns and their types. A member becomes a column of booleans, integers,
 * floating-point numbers, instants or text if all its values have that type, and otherwise a column of JSON. Columns of tables are text.
 * Later members without a column, and later values of another type, go into a column of their own. So do lines that cannot be
 * read.
 */
export class ParquetRowOutput extends RowOutput {
  readonly #added: readonly AddedColumns[]
  readonly #isFlat: boolean
  #located: readonly LocatedColumns[] | null = null
  /** The numbers of the members with the texts of locations. */
  readonly #texts: readonly number[]
  /** The names of the columns of locations. */
  #names: readonly string[] = []
  /** The numbers of the members that columns of the location replace. */
  #replaced: ReadonlySet<number> = new Set()
  /** By the number of a name. */
  readonly #columns: (ValueColumn | undefined)[] = []
  /** Those that were made, in order. */
  readonly #own: ValueColumn[] = []
  /** The columns of packed rows, once they are known. */
  #packed: ValueColumn[] | null = null
  readonly #rescued = new ValueColumn(RESCUED, 'JSON')
  #isTable = false
  #hasHeader = true
  #writer: ColumnWriter | null = null
  #rows = 0
  #bytes = 0

  /** @param isFlat whether a location is columns with one value each. It is in tables, too. Otherwise it is a struct */
  constructor(target: Output, added: readonly AddedColumns[], isFlat: boolean) {
    super(target, added[0]?.into ?? INTO)
    this.#added = added
    this.#isFlat = isFlat
    this.#texts = added.map(({ into }) => this.members.add(into))
  }

  override get cells(): Required<LocationCells> {
    return { form: 'values', hasAddress: !this.#isFlat && !this.#isTable }
  }

  /** The members of the first lines, if lines have one location. Several locations are added one after the other, to objects. */
  get columns(): readonly string[] | undefined {
    if (this.#packed === null && this.#own.length > 0 && this.#added.length === 1)
      this.#packed = [...this.#own]
    return this.#packed?.map(({ member }) => member)
  }

  /** @param table the plan that would keep the table that the input is; `null` for another input */
  override usePlan(table: TablePlan | null): void {
    if (this.#located !== null) return
    const { members } = this
    if (table !== null) {
      this.#isTable = true
      this.#hasHeader = table.headerLine > 0
      this.#replaced = new Set(
        table.names.flatMap((name, column) =>
          (table.replaced[column] ?? -1) < 0 ? [] : [members.add(name)],
        ),
      )
    }
    this.#located = this.#added.map((added) => new LocatedColumns(added, this.cells.hasAddress))
    this.#names = this.#elements.map(([column]) => column?.name ?? '')
  }

  protected override takeRows(bytes: Uint8Array, start: number, end: number, source: number): void {
    const view = viewOf(bytes)
    for (const located of this.#located ?? []) located.useSource(source)
    const columns = this.#packed ?? []
    // A line feed ends each row.
    for (let at = start; at < end; at++) {
      const rowStart = at
      for (const located of this.#located ?? []) at = located.addPacked(bytes, view, at)
      let rescued: string[] | null = null
      for (const column of columns) {
        const from = at + 4
        at = from + view.getInt32(at, true)
        if (at === from || column.add(this.#rows, bytes, view, from, at)) continue
        rescued ??= []
        rescued.push(`${JSON.stringify(column.member)}:${jsonIn(bytes, from, at)}`)
      }
      this.#endRow(rescued, at - rowStart)
    }
  }

  protected row(): void {
    const { members } = this
    const { bytes, view } = members
    for (const [index, located] of (this.#located ?? []).entries())
      located.add(members, this.#texts[index] ?? NONE)
    let rescued: string[] | null = null
    for (let member = 0; member < members.count; member++) {
      const number = members.numbers[member] ?? NONE
      const column = this.#columns[number] ?? this.#otherColumn(number, member)
      if (column === 'none') continue
      const [start, end] = [members.starts[member] ?? 0, members.ends[member] ?? 0]
      const isHeld =
        column !== null && (members.isNull(member) || column.add(this.#rows, bytes, view, start, end))
      if (isHeld) continue
      rescued ??= []
      rescued.push(members.jsonOf(member))
    }
    this.#endRow(rescued, members.end - members.start)
  }

  /** @param rescued the members that are in no column, as JSON */
  #endRow(rescued: readonly string[] | null, size: number): void {
    if (rescued !== null) this.#rescued.addText(this.#rows, `{${rescued.join(',')}}`)
    this.#rows++
    this.#bytes += size
    if (this.#rows >= GROUP_ROWS || this.#bytes >= GROUP_BYTES) this.#writeGroup()
  }

  protected end(): void {
    this.#writeGroup()
    this.#writer?.end()
    this.out.write(this.#writer?.take() ?? new Uint8Array(0))
  }

  /** The column of a member that has none yet: `null` for that of rescued data, `'none'` if it needs none. */
  #otherColumn(number: number, member: number): ValueColumn | 'none' | null {
    if (this.#replaced.has(number)) return 'none'
    if (!this.#texts.includes(number)) return this.#newColumn(number)
    return this.members.isNull(member) || this.members.isText(member) ? 'none' : null
  }

  /** `null` once the columns are decided. */
  #newColumn(number: number): ValueColumn | null {
    const name = this.members.names[number]
    const isTaken = name !== undefined && this.#names.includes(name)
    if (isTaken && !this.cells.hasAddress) throw takenColumn(name)
    if (this.#writer !== null || name === undefined || name === RESCUED || isTaken) return null
    if (this.#own.length >= MAX_COLUMNS) return null
    const column = new ValueColumn(
      this.#hasHeader ? name : `column_${name}`,
      this.#isTable ? 'STRING' : null,
      name,
    )
    this.#columns[number] = column
    this.#own.push(column)
    return column
  }

  #writeGroup(): void {
    this.#writer ??= this.#decide()
    if (this.#rows > 0) this.#writer.add(this.#leaves(), this.#rows)
    this.#rows = 0
    this.#bytes = 0
    this.out.write(this.#writer.take())
  }

  /** The values of the columns, in the order of the schema. */
  *#leaves(): Generator<Leaf> {
    const rows = this.#rows
    for (const column of this.#own) yield column.take(rows)
    for (const located of this.#located ?? []) yield* located.take()
    yield this.#rescued.take(rows)
  }

  /** The elements of the columns of locations. */
  get #elements(): (readonly SchemaElement[])[] {
    return (this.#located ?? []).flatMap(({ elements }) => elements)
  }

  /** Decides on the types of the columns by the values of the first row group. */
  #decide(): ColumnWriter {
    this.members.fixNames()
    const own = this.#own.map((column) => column.decide())
    return new ColumnWriter([...own, ...this.#elements, this.#rescued.decide()])
  }
}

const SIX = 0x36
const SMALL_F = 0x66

const MOST_INT64 = 2n ** 63n - 1n
/** The types of columns, in the order in which they are tried. JSON holds any value. */
const TYPES = ['BOOLEAN', 'INT64', 'DOUBLE', 'TIMESTAMP', 'STRING', 'JSON'] as const

const encoder = new TextEncoder()

/** The values of a member in a row group, as JSON. Each is read once, whatever the number of rows that have it. */
class ValueColumn {
  /** Empty until {@link decide}. */
  #path: readonly SchemaElement[] = []
  readonly #texts = new DistinctTexts()
  /** The values of {@link #texts} in the type of the column. */
  readonly #values = new PlainValues()
  /** Rows with a value, and the number of its text. */
  #rows = new Int32Array(32)
  #codes = new Int32Array(32)
  #count = 0

  /**
   * @param type `null` for that of the values until {@link decide}
   * @param member the name of the member of lines
   */
  constructor(
    private readonly name: string,
    private type: ColumnType | null,
    readonly member = name,
  ) {}

  /**
   * Adds the value `bytes[start, end)` of a row, which is valid JSON and not `null`. @param view of all of `bytes`
   *
   * @returns whether the type of the column can hold it
   */
  add(row: number, bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    const { type } = this
    let code = this.#texts.find(bytes, view, start, end)
    if (code === NONE) {
      if (type !== null && !this.#addAs(type, bytes, start, end)) return false
      code = this.#texts.add(bytes, start, end)
    }
    if (this.#count === this.#rows.length) {
      this.#rows = grown(this.#rows, 0)
      this.#codes = grown(this.#codes, 0)
    }
    this.#rows[this.#count] = row
    this.#codes[this.#count++] = code
    return true
  }

  addText(row: number, text: string): void {
    const bytes = encoder.encode(text)
    this.add(row, bytes, viewOf(bytes), 0, bytes.length)
  }

  /** The element of the column. If it has no type, it gets the first that can hold all values so far. */
  decide(): readonly SchemaElement[] {
    this.type ??= this.#typeOfValues()
    this.#path = [elementOf(this.name, this.type)]
    return this.#path
  }

  #typeOfValues(): ColumnType {
    const texts = Array.from({ length: this.#texts.count }, (_, number) => this.#texts.textOf(number))
    // Most columns whose first values are missing are text, such as the user of a request.
    const types = texts.length === 0 ? (['STRING'] as const) : TYPES
    for (const type of types) {
      if (texts.every((text) => this.#addAs(type, text, 0, text.length))) return type
      this.#values.take()
    }
    return 'JSON'
  }

  /** Adds a value of JSON to the values, if a column of the type can hold it. */
  #addAs(type: ColumnType, bytes: Uint8Array, start: number, end: number): boolean {
    if (type === 'STRING' && bytes[start] === QUOTE && isPlainString(bytes, start, end))
      this.#values.addBytes(bytes, start + 1, end - 1)
    else {
      const value = valueAs(type, bytes, start, end)
      if (value === undefined) return false
      this.#values.add(value)
    }
    return true
  }

  /** The values of a row group, which the column forgets. */
  take(rows: number): Leaf {
    const count = this.#count
    let codes = this.#codes
    if (count < rows) {
      codes = new Int32Array(rows).fill(NONE)
      for (let index = 0; index < count; index++) codes[this.#rows[index] ?? 0] = this.#codes[index] ?? NONE
    }
    this.#texts.clear()
    this.#count = 0
    return { path: this.#path, ...this.#values.take(), codes: codes.subarray(0, rows) }
  }
}

/** A value of JSON as a column of a type holds it; `undefined` if it cannot. */
function valueAs(type: ColumnType, bytes: Uint8Array, start: number, end: number): ParquetValue | undefined {
  const first = bytes[start] ?? 0
  switch (type) {
    case 'BOOLEAN':
      return first === SMALL_T ? true : first === SMALL_F ? false : undefined
    case 'INT64':
      return isNumber(first) ? integerOf(jsonIn(bytes, start, end)) : undefined
    case 'DOUBLE':
      return isNumber(first) ? numberOf(jsonIn(bytes, start, end)) : undefined
    case 'TIMESTAMP':
      return first === QUOTE ? instantOf(bytes, start + 1, end - 1) : undefined
    case 'STRING':
      return first === QUOTE ? encoder.encode(textIn(bytes, start, end)) : undefined
    case 'JSON':
      return encoder.encode(jsonIn(bytes, start, end))
  }
}

function isNumber(first: number): boolean {
  return first === DASH || (first > DOT && first <= NINE)
}

function integerOf(text: string): bigint | undefined {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? undefined : BigInt(value)
  const integer = /^-?\d+$/.test(text) ? BigInt(text) : undefined
  return integer !== undefined && integer <= MOST_INT64 && integer >= -MOST_INT64 - 1n ? integer : undefined
}

/** Large integers are numbers only if they keep all digits. */
function numberOf(text: string): number | undefined {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d{16,}$/.test(text) || BigInt(value) === BigInt(text)
    ? value
    : undefined
}

const timestamp = new Timestamp()

/**
 * Microseconds since 1970 of an instant in the form of RFC 3339, with an offset: `2026-07-01T12:00:00Z`. A fraction with more
 * digits than microseconds stays text.
 */
function instantOf(bytes: Uint8Array, start: number, end: number): bigint | undefined {
  const isUtc = bytes[end - 1] === CAPITAL_Z
  const offset = isUtc ? end - 1 : end - 6
  const sign = bytes[offset]
  if (!isUtc && !((sign === DASH || sign === PLUS) && bytes[end - 3] === COLON)) return undefined
  const fraction = start + 19
  const digits = offset - fraction - 1
  const hasFraction = bytes[fraction] === DOT
  if (hasFraction ? digits < 1 || digits > 6 : digits !== -1) return undefined
  const hasForm =
    bytes[start + 4] === DASH &&
    bytes[start + 10] === CAPITAL_T &&
    bytes[start + 16] === COLON &&
    (bytes[start + 17] ?? 0) < SIX
  if (!hasForm || timestamp.read(bytes, start, end) !== end) return undefined
  let microseconds = 0
  for (let digit = 3; digit < 6; digit++)
    microseconds = microseconds * 10 + (digit < digits ? (bytes[fraction + 1 + digit] ?? 0) - 0x30 : 0)
  return BigInt(timestamp.instant) * 1000n + BigInt(microseconds)
}
