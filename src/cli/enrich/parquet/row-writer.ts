// The rows of a Parquet file as lines of JSON or of a table: columns, and lists, maps and structs of columns, are put together from the
// cells of the columns in them (github.com/apache/parquet-format, Nested Encoding).
import type { SchemaTree } from 'hyparquet'
import { isListLike, isMapLike } from 'hyparquet/src/schema.js'
import { ByteSink } from '../../../bytes/byte-sink.ts'
import { BRACE, BRACE_END, BRACKET, BRACKET_END, COMMA, LINE_FEED, SMALL_N } from '../../../enrich/ascii.ts'
import { MAX_LINE_BYTES } from '../../../enrich/options.ts'
import { CellText, cellRoom, SEPARATORS, type TableForm } from '../../../enrich/writing/separated-values.ts'
import { ParquetFault } from './footer.ts'
import { type CellForm, type CellReader, tableOf } from './values.ts'

/** Writes the rows of a row group, one after another. */
export class RowWriter {
  readonly #columns: readonly (Part & { readonly before: Uint8Array; readonly node: SchemaTree })[]
  readonly #isTable: boolean

  /** @param cellsOf opens the cells of a column */
  constructor(
    columns: readonly SchemaTree[],
    form: CellForm,
    cellsOf: (node: SchemaTree, form: CellForm) => CellReader,
  ) {
    const table = tableOf(form)
    this.#isTable = table !== null
    this.#columns = columns.map((node, index) => {
      const isFlat = node.children.length === 0 && node.element.repetition_type !== 'REPEATED'
      const part = partOf(node, (leaf) => cellsOf(leaf, table !== null && !isFlat ? 'json' : form), 0, 0)
      const separator = index === 0 ? '' : table === null ? ',' : SEPARATORS[table]
      const before = Buffer.from(
        table === null ? `${separator}${JSON.stringify(node.element.name)}:` : separator,
      )
      return { ...(table !== null && !isFlat ? cellOfJson(part, table) : part), before, node }
    })
  }

  /** Writes the next row. @throws Error when a column has no more rows, or is damaged */
  write(out: ByteSink): void {
    const start = out.length
    if (!this.#isTable) out.writeByte(BRACE)
    for (const { node, before, leaves, write } of this.#columns) {
      for (const cells of leaves) if (repetitionOf(cells) !== 0 || cells.count === 0) throw otherRows(node)
      out.write(before)
      write(out)
    }
    if (!this.#isTable) out.writeByte(BRACE_END)
    // Readers skip an empty line.
    else if (out.length === start) out.writeAscii('""')
    out.writeByte(LINE_FEED)
    if (this.#isTable) checkSize(out.length - start)
  }

  /** @throws Error when a column has more rows */
  end(): void {
    for (const { node, leaves } of this.#columns)
      for (const cells of leaves) if (cells.at < cells.count || cells.next()) throw otherRows(node)
  }
}

/** A column of a row, or one of the lists, maps, structs and values in it. */
interface Part {
  /** The columns in it that have values. */
  readonly leaves: readonly CellReader[]
  /** Writes the next value. */
  readonly write: (out: ByteSink) => void
}

type OpenCells = (node: SchemaTree) => CellReader

/** @param definition, repetition levels of the values around it */
function partOf(node: SchemaTree, open: OpenCells, definition: number, repetition: number): Part {
  const { element, children } = node
  const own = definition + 1
  if (element.repetition_type === 'REPEATED')
    return listOf(contentOf(node, open, own, repetition + 1), own, repetition + 1)
  if (element.repetition_type !== 'OPTIONAL') return contentOf(node, open, definition, repetition)
  const part = contentOf(node, open, own, repetition)
  if (children.length === 0) return part
  const { leaves } = part
  const write = (out: ByteSink): void => {
    if (areDefined(leaves, own)) part.write(out)
    else {
      for (const cells of leaves) cells.at++
      out.writeAscii('null')
    }
  }
  return { leaves, write }
}

/** A value that is not missing, or a cell that may be. */
function contentOf(node: SchemaTree, open: OpenCells, definition: number, repetition: number): Part {
  const [child] = node.children
  if (child === undefined) {
    const cells = open(node)
    const write = (out: ByteSink): void => {
      const at = cells.at++
      out.write(cells.bytes, cells.starts[at] ?? 0, cells.ends[at] ?? 0)
    }
    return { leaves: [cells], write }
  }
  const inside = [open, definition + 1, repetition + 1] as const
  const [first, second] = child.children
  if (isListLike(node)) {
    const item = first === undefined ? contentOf(child, ...inside) : partOf(first, ...inside)
    return listOf(item, definition + 1, repetition + 1)
  }
  if (isMapLike(node) && first !== undefined && second !== undefined)
    return mapOf(partOf(first, ...inside), partOf(second, ...inside), definition + 1, repetition + 1)
  const members = node.children.map((member, index) => ({
    before: Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(member.element.name)}:`),
    ...partOf(member, open, definition, repetition),
  }))
  const write = (out: ByteSink): void => {
    for (const member of members) {
      out.write(member.before)
      member.write(out)
    }
    out.writeByte(BRACE_END)
  }
  return { leaves: members.flatMap(({ leaves }) => leaves), write }
}

function listOf(item: Part, definition: number, repetition: number): Part {
  const { leaves } = item
  const write = (out: ByteSink): void => {
    out.writeByte(BRACKET)
    forEach(leaves, definition, repetition, (index) => {
      if (index > 0) out.writeByte(COMMA)
      item.write(out)
      checkSize(out.length)
    })
    out.writeByte(BRACKET_END)
  }
  return { leaves, write }
}

/** An object of the pairs of a map. The last one with a key wins, as in `JSON.parse`. */
function mapOf(key: Part, value: Part, definition: number, repetition: number): Part {
  const leaves = [...key.leaves, ...value.leaves]
  const own = new ByteSink(256)
  const jsonOf = (part: Part): string => {
    own.length = 0
    part.write(own)
    return Buffer.from(own.bytes).toString()
  }
  const write = (out: ByteSink): void => {
    const members: Record<string, string> = Object.create(null)
    let size = 0
    forEach(leaves, definition, repetition, () => {
      const name = jsonOf(key)
      const json = jsonOf(value)
      size += name.length + json.length
      checkSize(size)
      members[name.startsWith('"') ? String(JSON.parse(name)) : name] = json
    })
    const pairs = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    out.write(Buffer.from(`{${pairs.join(',')}}`))
  }
  return { leaves, write }
}

/**
 * A list or map takes no more bytes than the longest line, since a few bytes of a file can repeat any text. Nor does the row of a
 * table, whose lines would be taken for records.
 */
function checkSize(size: number): void {
  if (size > MAX_LINE_BYTES) throw new ParquetFault('a row or a list in it is too long')
}

/** Calls `write` for each element of the next list. @throws Error when its columns have other lists */
function forEach(
  leaves: readonly CellReader[],
  definition: number,
  repetition: number,
  write: (index: number) => void,
): void {
  if (!areDefined(leaves, definition)) {
    for (const cells of leaves) cells.at++
    return
  }
  const isElement = (cells: CellReader): boolean => repetitionOf(cells) === repetition
  let index = 0
  do write(index++)
  while (agree(leaves, isElement))
}

/** Whether the next value has this level. */
function areDefined(leaves: readonly CellReader[], definition: number): boolean {
  return agree(leaves, ({ definitions, at }) => (definitions[at] ?? 0) >= definition)
}

/** Whether something is so of all columns. @throws Error when it is so of some */
function agree(leaves: readonly CellReader[], test: (cells: CellReader) => boolean): boolean {
  let count = 0
  for (const cells of leaves) if (test(cells)) count++
  if (count > 0 && count < leaves.length) throw new ParquetFault('the columns of a struct have other rows')
  return count > 0
}

/** The repetition level of the next value; 0 after the last one. */
function repetitionOf(cells: CellReader): number {
  return cells.at === cells.count && !cells.next() ? 0 : (cells.repetitions[cells.at] ?? 0)
}

/** A cell of a table with the JSON of a part. */
function cellOfJson({ leaves, write }: Part, form: TableForm): Part {
  const json = new ByteSink(256)
  const cell = new CellText(form)
  const writeCell = (out: ByteSink): void => {
    json.length = 0
    write(json)
    const { bytes } = json
    if (bytes[0] !== SMALL_N)
      out.length = cell.put(bytes, 0, bytes.length, out.room(cellRoom(bytes.length)), out.length)
  }
  return { leaves, write: writeCell }
}

/** @param column that has them, or a column in it */
export function otherRows({ path }: SchemaTree): ParquetFault {
  return new ParquetFault(
    `the column ${JSON.stringify(path[0])} has another number of rows than its row group says`,
  )
}
