import type { SchemaElement } from 'hyparquet'
import type { DelimitedPlan } from '../../../enrich/formats/delimited/plan.ts'
import type { LocationField } from '../../../enrich/options.ts'
import type { Output } from '../output.ts'
import { NONE } from '../rows/distinct-texts.ts'
import { RESCUED, RowOutput, takenColumn } from '../rows/row-output.ts'
import { ColumnWriter, type Leaf } from './column-writer.ts'
import { elementsOf } from './columns.ts'
import { LocatedColumns } from './located-columns.ts'
import type { AddedMembers } from './located-members.ts'
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
  readonly #added: AddedMembers
  #fields: ReadonlyMap<string, LocationField> | null
  #located: LocatedColumns | null = null
  /** The numbers of the members that columns of the location replace. */
  #replaced: ReadonlySet<number> = new Set()
  /** By the number of a name. */
  readonly #columns: (ValueColumn | undefined)[] = []
  /** Those that were made, in order. */
  readonly #own: OwnColumn[] = []
  /** How many of them are before the columns of the location; `null` before the first row with one. */
  #locatedAt: number | null = null
  readonly #rescued = new ValueColumn('JSON')
  #isTable = false
  #hasHeader = true
  #writer: ColumnWriter | null = null
  #rows = 0
  #bytes = 0

  /** @param fields columns with one value each in place of the location, by their names; `null` for the whole location */
  constructor(target: Output, added: AddedMembers, fields: ReadonlyMap<string, LocationField> | null) {
    super(target)
    this.#added = added
    this.#fields = fields
  }

  /**
   * Call it before the first line of an input.
   *
   * @param table the plan that would keep the table that the input is; `null` for another input
   */
  usePlan(table: DelimitedPlan | null): void {
    if (this.#located !== null) return
    if (table !== null) {
      this.#isTable = true
      this.#hasHeader = table.headerLine > 0
      this.#fields = new Map(table.fields.map((field, index) => [table.columns[index] ?? field, field]))
      this.#replaced = new Set(
        table.names.flatMap((name, column) =>
          (table.replaced[column] ?? -1) < 0 ? [] : [this.members.add(name)],
        ),
      )
    }
    this.#located = new LocatedColumns(this.members, this.#added, this.#fields)
  }

  protected row(isRaw: boolean): void {
    const { members } = this
    const { bytes, view } = members
    const located = this.#located
    if (located === null) return
    located.add()
    let rescued: number[] | null = null
    for (let member = 0; member < members.count; member++) {
      const number = members.numbers[member] ?? NONE
      if (located.has(number) || this.#replaced.has(number)) {
        if (this.#replaced.has(number) || located.holds(number, member)) continue
      } else {
        const column = this.#columns[number] ?? this.#newColumn(number)
        const [start = 0, end = 0] = [members.starts[member], members.ends[member]]
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
    if (!isRaw) this.#locatedAt ??= this.#own.length
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
    if (name !== undefined && this.#fields?.has(name)) throw takenColumn(name)
    if (this.#writer !== null || name === undefined || name === RESCUED) return null
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
    const leafOf = ({ column, elements: [element] }: OwnColumn): Leaf =>
      column.take(element ?? { name: '' }, rows)
    const [before, after] = this.#halves
    yield* before.map(leafOf)
    if (this.#located !== null) yield* this.#located.take()
    yield* after.map(leafOf)
    yield this.#rescued.take(RESCUED_ELEMENTS[0] ?? { name: '' }, rows)
  }

  /** The columns before and after those of the location. */
  get #halves(): readonly [OwnColumn[], OwnColumn[]] {
    const at = this.#locatedAt ?? 0
    return [this.#own.slice(0, at), this.#own.slice(at)]
  }

  /** Decides on the types of the columns by the values of the first row group. */
  #decide(): ColumnWriter {
    this.members.fixNames()
    for (const own of this.#own) own.elements = elementsOf(own.name, own.column.decide())
    const [before, after] = this.#halves.map((half) => half.map(({ elements }) => elements))
    return new ColumnWriter([
      ...(before ?? []),
      ...(this.#located?.elements ?? []),
      ...(after ?? []),
      RESCUED_ELEMENTS,
    ])
  }
}
