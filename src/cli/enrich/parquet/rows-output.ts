import type { SchemaElement } from 'hyparquet'
import type { DelimitedPlan } from '../../../enrich/formats/delimited/delimited-reader.ts'
import type { LocationCells } from '../../../enrich/options.ts'
import type { Output } from '../output.ts'
import { NONE } from '../rows/distinct-texts.ts'
import { type AddedColumns, RESCUED, RowOutput, takenColumn } from '../rows/row-output.ts'
import { ColumnWriter, type Leaf } from './column-writer.ts'
import { elementsOf } from './columns.ts'
import { LocatedColumns, SEPARATOR } from './located-columns.ts'
import { ValueColumn } from './value-column.ts'

/** Rows and bytes of lines of a row group, at most: all of them are in memory. */
const GROUP_ROWS = 100_000
const GROUP_BYTES = 2 ** 26
/** Limit of the columns. More members are in the column of rescued data. */
const MAX_COLUMNS = 2000

const RESCUED_ELEMENTS = elementsOf(RESCUED, 'JSON')

/** A column of the values that lines have. */
interface OwnColumn {
  readonly name: string
  readonly column: ValueColumn
  /** Empty before its type is decided. */
  elements: readonly SchemaElement[]
}

/**
 * Makes a Parquet file of the objects of a run.
 *
 * The first row group decides on the columns and their types. A member becomes a column of booleans, integers,
 * floating-point numbers, instants or text if all its values have that type, and otherwise a column of JSON. Columns of tables are text.
 * Later members without a column, and later values of another type, go into a column of their own. So do lines that cannot be
 * read.
 */
export class RowsOutput extends RowOutput {
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
  readonly #own: OwnColumn[] = []
  readonly #rescued = new ValueColumn('JSON')
  #isTable = false
  #hasHeader = true
  #writer: ColumnWriter | null = null
  #rows = 0
  #bytes = 0

  /** @param isFlat whether a location is columns with one value each. It is in tables, too. Otherwise it is a struct */
  constructor(target: Output, added: readonly AddedColumns[], isFlat: boolean) {
    super(target)
    this.#added = added
    this.#isFlat = isFlat
    this.#texts = added.map(({ member }) => this.members.add(member))
  }

  override get cells(): LocationCells {
    return { separator: SEPARATOR, hasAddress: !this.#isFlat && !this.#isTable }
  }

  /** @param table the plan that would keep the table that the input is; `null` for another input */
  override usePlan(table: DelimitedPlan | null): void {
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
    this.#located = this.#added.map((added) => new LocatedColumns(members, added, this.cells.hasAddress))
    this.#names = this.#elements.map(([column]) => column?.name ?? '')
  }

  protected row(): void {
    const { members } = this
    const { bytes, view } = members
    for (const located of this.#located ?? []) located.add()
    let rescued: number[] | null = null
    for (let member = 0; member < members.count; member++) {
      const number = members.numbers[member] ?? NONE
      const [start = 0, end = 0] = [members.starts[member], members.ends[member]]
      if (this.#replaced.has(number)) continue
      if (this.#texts.includes(number)) {
        if (members.isNull(member) || members.isText(member)) continue
      } else {
        const column = this.#columns[number] ?? this.#newColumn(number)
        const isHeld =
          column !== null && (members.isNull(member) || column.add(this.#rows, bytes, view, start, end))
        if (isHeld) continue
      }
      rescued ??= []
      rescued.push(member)
    }
    if (rescued !== null) {
      const texts = rescued.map((member) => members.jsonOf(member))
      this.#rescued.addText(this.#rows, `{${texts.join(',')}}`)
    }
    this.#rows++
    this.#bytes += members.end - members.start
    if (this.#rows >= GROUP_ROWS || this.#bytes >= GROUP_BYTES) this.#writeGroup()
  }

  protected end(): void {
    this.#writeGroup()
    this.#writer?.end()
    this.out.write(this.#writer?.take() ?? new Uint8Array(0))
  }

  /** `null` once the columns are decided. */
  #newColumn(number: number): ValueColumn | null {
    const name = this.members.names[number]
    const isTaken = name !== undefined && this.#names.includes(name)
    if (isTaken && !this.cells.hasAddress) throw takenColumn(name)
    if (this.#writer !== null || name === undefined || name === RESCUED || isTaken) return null
    if (this.#own.length >= MAX_COLUMNS) return null
    const column = new ValueColumn(this.#isTable ? 'STRING' : null)
    this.#columns[number] = column
    this.#own.push({ name: this.#hasHeader ? name : `column_${name}`, column, elements: [] })
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
    for (const { column, elements } of this.#own) yield column.take(elements[0] ?? { name: '' }, rows)
    for (const located of this.#located ?? []) yield* located.take()
    yield this.#rescued.take(RESCUED_ELEMENTS[0] ?? { name: '' }, rows)
  }

  /** The elements of the columns of locations. */
  get #elements(): (readonly SchemaElement[])[] {
    return (this.#located ?? []).flatMap(({ elements }) => elements)
  }

  /** Decides on the types of the columns by the values of the first row group. */
  #decide(): ColumnWriter {
    this.members.fixNames()
    for (const own of this.#own) own.elements = elementsOf(own.name, own.column.decide())
    return new ColumnWriter([
      ...this.#own.map(({ elements }) => elements),
      ...this.#elements,
      RESCUED_ELEMENTS,
    ])
  }
}
