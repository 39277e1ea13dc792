// hyparquet reads the values. It is bundled into the command line's output.
import { readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type ColumnMetaData,
  type FileMetaData,
  parquetMetadata,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet'
import { ByteSink } from '../../../bytes/byte-sink.ts'
import { QUOTE, SMALL_N } from '../../../enrich/ascii.ts'
import type { ColumnTexts } from '../../../enrich/column-stream.ts'
import type { Plan } from '../../../enrich/formats/formats.ts'
import {
  findMembers,
  hasEscape,
  MemberPath,
  NOWHERE,
  pathOf,
  unescaped,
} from '../../../enrich/formats/ndjson/member-path.ts'
import { ObjectReader } from '../../../enrich/formats/ndjson/object-reader.ts'
import { SAMPLE_BYTES } from '../../../enrich/reading/sample.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { recordText, type TableForm } from '../../../enrich/writing/separated-values.ts'
import { isError } from '../../../realm.ts'
import { type CommandFailure, unreadableInput } from '../../terminal.ts'
import { PARQUET_MAGIC } from '../file-forms.ts'
import { MAX_PAGE_BYTES } from './compression.ts'
import { checkFooter, dropEmptyGroups, isEncrypted, ParquetFault, readFooter, type Struct } from './footer.ts'
import { ColumnReader, type SchemaPath } from './pages.ts'
import { otherRows, RowWriter } from './row-writer.ts'
import { type CellForm, CellReader, lossIn } from './values.ts'

/** The last bytes of a file whose footer is encrypted. */
const ENCRYPTED_MAGIC = Buffer.from('PARE')
/** The length of the footer and the magic, after the footer. */
export const TAIL_BYTES = 8
/** Limit of the footer. Bytes. */
const MAX_FOOTER_BYTES = 2 ** 28
/** The first rows, by which the columns of the address and the time are guessed. */
export const SAMPLE_ROWS = 1000
/** Lines are yielded in chunks of about this size. Bytes. */
const CHUNK_BYTES = 256 * 1024
export const NO_TEXTS: ColumnTexts = {
  bytes: new Uint8Array(0),
  starts: new Int32Array(0),
  ends: new Int32Array(0),
}

/** An open Parquet file, which is read by row group. */
export class ParquetFile {
  readonly name: string
  readonly footer: Struct
  /** Where the footer starts, after all other bytes of the file. */
  readonly footerStart: number
  /** Rows of each row group. */
  readonly groupRows: readonly number[]
  /** Top-level columns. */
  readonly columns: readonly string[]
  readonly #file: FileHandle
  readonly #metadata: FileMetaData
  readonly #tree: SchemaTree

  private constructor(name: string, file: FileHandle, footer: Uint8Array, start: number) {
    this.name = name
    this.#file = file
    this.footerStart = start
    const isWhole = footer.length - TAIL_BYTES
    this.footer = readFooter(footer.subarray(0, isWhole))
    if (isEncrypted(this.footer)) throw new ParquetFault('it is encrypted')
    checkFooter(this.footer)
    dropEmptyGroups(this.footer)
    const metadata = parquetMetadata(footer, { geoparquet: false })
    this.#metadata = { ...metadata, row_groups: metadata.row_groups.filter(({ num_rows }) => num_rows > 0n) }
    this.#tree = parquetSchema(this.#metadata)
    if (this.#tree.count !== metadata.schema.length)
      throw new ParquetFault('its schema has elements of no column')
    this.columns = this.#tree.children.map(({ element }) => element.name)
    this.groupRows = this.#metadata.row_groups.map(({ num_rows }) => Number(num_rows))
    const twice = this.columns.find((column, index) => this.columns.indexOf(column) !== index)
    if (twice !== undefined) throw new ParquetFault(`two columns have the name ${JSON.stringify(twice)}`)
  }

  /** @throws CommandFailure when the file cannot be read, is damaged or encrypted */
  static async open(path: string): Promise<ParquetFile> {
    try {
      const file = await open(path)
      try {
        const { size } = await file.stat()
        const tail = readAt(file, Math.max(0, size - TAIL_BYTES), size)
        const magic = tail.subarray(TAIL_BYTES - PARQUET_MAGIC.length)
        if (ENCRYPTED_MAGIC.equals(magic)) throw new ParquetFault('it is encrypted')
        if (!PARQUET_MAGIC.equals(magic)) throw new ParquetFault('it is a Parquet file without its end')
        const length = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true)
        const start = size - TAIL_BYTES - length
        if (start < PARQUET_MAGIC.length || length > MAX_FOOTER_BYTES)
          throw new ParquetFault('its footer is damaged')
        return new ParquetFile(path, file, readAt(file, start, size), start)
      } catch (error) {
        await file.close()
        throw error
      }
    } catch (cause) {
      throw damaged(path, cause, 'its footer is damaged')
    }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  /** The bytes of the file before its footer, in chunks. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.footerStart; at += 2 ** 20) {
      yield readAt(this.#file, at, Math.min(at + 2 ** 20, this.footerStart))
    }
  }

  /** The rows as lines of JSON by which columns are chosen: some values are only near those of the file. @param most rows. Default: all */
  async *sample(most?: number): AsyncGenerator<Uint8Array> {
    yield* this.#rows(this.#tree.children, 'sample', most)
  }

  /** The first rows as such lines. */
  async sampleLines(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = []
    for await (const chunk of this.sample(SAMPLE_ROWS)) chunks.push(new Uint8Array(chunk))
    return Buffer.concat(chunks)
  }

  /**
   * All rows as lines of JSON, in chunks that are valid until the next one.
   *
   * @param plan of lines that are counted: they have only the columns that are read of them. Default: all columns
   * @throws CommandFailure when the file is damaged, or JSON would change values that are written or counted
   */
  async *lines(plan?: Plan): AsyncGenerator<Uint8Array> {
    const paths = plan === undefined ? null : pathsRead(plan)
    const { children } = this.#tree
    const columns = children.filter(({ path: [name] }) => paths?.some(([first]) => first === name) ?? true)
    if (plan === undefined) this.#refuseLoss(children)
    else if (paths !== null) {
      const keys = plan.counted?.map((field) => nodeAt(this.#tree, pathOf(field, 'by'))) ?? []
      this.#refuseLoss(
        keys.filter((node) => node !== this.#tree),
        'Count by another key, or store the column as text',
      )
    }
    yield* this.#rows(columns, 'json')
  }

  /** All rows as a table with a header. Missing values are empty. Throws what {@link lines} throws, and for a long header. */
  async *table(form: TableForm): AsyncGenerator<Uint8Array> {
    const { children } = this.#tree
    this.#refuseLoss(children)
    const header = Buffer.from(recordText(this.columns, form))
    // The sample must have all of it.
    if (header.length > SAMPLE_BYTES)
      throw unreadableInput(
        this.name,
        new Error(`the names of its columns take more than ${SAMPLE_BYTES} bytes`),
      )
    yield header
    yield* this.#rows(children, form)
  }

  /**
   * The texts at some paths in a row group, some rows at a time. They are valid until the next ones. Values that are not texts are as
   * in {@link sample}, and missing where it has `null`.
   *
   * @throws CommandFailure when the file is damaged
   */
  *textsOf(group: number, paths: readonly (readonly string[])[]): Generator<readonly ColumnTexts[]> {
    try {
      const parts = paths.map((path) => this.#textsAt(group, path))
      let texts = paths.map(() => NO_TEXTS)
      for (let left = this.groupRows[group] ?? 0; left > 0; ) {
        texts = texts.map((each, index) =>
          each.starts.length > 0 ? each : (parts[index]?.next().value ?? NO_TEXTS),
        )
        const rows = Math.min(...texts.map(({ starts }) => starts.length))
        yield texts.map((each) => rowsOf(each, 0, rows))
        texts = texts.map((each) => rowsOf(each, rows))
        left -= rows
      }
    } catch (cause) {
      throw damaged(this.name, cause)
    }
  }

  *#textsAt(group: number, path: readonly string[]): Generator<ColumnTexts> {
    const open = this.#opener(group)
    const leaf = leafAt(this.#tree, path)
    if (leaf !== undefined) {
      for (const cells = open(leaf, 'text'); cells.next(); ) yield rowsOf(cells, 0, cells.count)
      return
    }
    const column = this.#tree.children.filter(({ element }) => element.name === path[0])
    const row = new RowWriter(column, 'sample', open)
    const member = new MemberPath(path)
    const [line, out] = [new ByteSink(1024), new ByteSink()]
    for (let left = this.groupRows[group] ?? 0; left > 0; ) {
      const rows = Math.min(left, SAMPLE_ROWS)
      const [starts, ends] = [new Int32Array(rows), new Int32Array(rows)]
      out.length = 0
      for (let index = 0; index < rows; index++) {
        line.length = 0
        row.write(line)
        const { bytes } = line
        findMembers([member], bytes, viewOf(bytes), 0, bytes.length)
        starts[index] = out.length
        const { start, end } = member
        if (bytes[start] === QUOTE && hasEscape(bytes, start, end))
          out.write(Buffer.from(unescaped(bytes, start, end)))
        else if (bytes[start] === QUOTE) out.write(bytes, start + 1, end - 1)
        else if (start !== NOWHERE && bytes[start] !== SMALL_N) out.write(bytes, start, end)
        ends[index] = out.length
      }
      left -= rows
      if (left === 0) row.end()
      yield { bytes: out.bytes, starts, ends }
    }
  }

  #refuseLoss(columns: readonly SchemaTree[], remedy = 'Write Parquet, as -o FILE.parquet does'): void {
    const loss = columns.map(lossIn).find((each) => each !== null)
    if (loss !== undefined && this.groupRows.length > 0)
      throw unreadableInput(this.name, new Error(`${loss}. ${remedy}`))
  }

  async *#rows(
    columns: readonly SchemaTree[],
    form: CellForm,
    most = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Uint8Array> {
    try {
      const out = new ByteSink(2 * CHUNK_BYTES)
      let left = most
      for (const [group, groupRows] of this.groupRows.entries()) {
        const row = new RowWriter(columns, form, this.#opener(group))
        const rows = Math.min(groupRows, left)
        for (let index = 0; index < rows; index++) {
          row.write(out)
          if (out.length < CHUNK_BYTES) continue
          yield out.bytes
          out.length = 0
          await nextTurn()
        }
        if (rows === groupRows) row.end()
        left -= rows
        if (left === 0) break
      }
      if (out.length > 0) yield out.bytes
    } catch (cause) {
      throw damaged(this.name, cause)
    }
  }

  /** Returns what opens the cells of columns of a row group. It throws an error when the row group lacks one. */
  #opener(group: number): (node: SchemaTree, form: CellForm) => CellReader {
    const chunks = new Map(
      this.#chunks(group).map((metadata) => [metadata.path_in_schema.join('\0'), metadata]),
    )
    return (node, form) => {
      const metadata = chunks.get(node.path.join('\0'))
      if (metadata === undefined) throw otherRows(node)
      return new CellReader(this.#readerOf(group, metadata), node, form)
    }
  }

  #chunks(group: number): readonly ColumnMetaData[] {
    const columns = this.#metadata.row_groups[group]?.columns ?? []
    return columns.flatMap(({ meta_data: metadata }) => metadata ?? [])
  }

  #readerOf(group: number, metadata: ColumnMetaData): ColumnReader {
    const {
      path_in_schema: names,
      dictionary_page_offset: dictionary,
      data_page_offset: data,
      total_compressed_size: size,
    } = metadata
    const start = Number(dictionary || data)
    const read = (from: number, to: number): Uint8Array => readAt(this.#file, start + from, start + to)
    const path = pathTo(this.#tree, names)
    return new ColumnReader({ size: Number(size), read }, path, metadata, this.groupRows[group] ?? 0)
  }
}

/** The paths to what is read of rows; `null` if rows are not read as the objects that they are. */
function pathsRead(plan: Plan): ObjectReader['readPaths'] | null {
  if (plan.format !== 'ndjson' || plan.wrapper !== undefined || plan.inside !== undefined) return null
  const needsTime = plan.count?.dimensions.some(({ kind }) => kind === 'time' || kind === 'local-hour')
  const times = needsTime === true ? {} : { timePath: null, dottedTimePath: null }
  return new ObjectReader({ ...plan, ...times }).readPaths
}

function rowsOf({ bytes, starts, ends }: ColumnTexts, from: number, to?: number): ColumnTexts {
  return { bytes, starts: starts.subarray(from, to), ends: ends.subarray(from, to) }
}

/** The column whose values are the texts at a path, one for each row; `undefined` if the texts are parts of its values. */
function leafAt(tree: SchemaTree, names: readonly string[]): SchemaTree | undefined {
  const node = nodeAt(tree, names)
  const { repetition_type, converted_type } = node.element
  const isLeaf = node.path.length === names.length && node.children.length === 0
  return isLeaf && repetition_type !== 'REPEATED' && converted_type !== 'JSON' ? node : undefined
}

/** The member of structs at a path, or the last one on its way. */
function nodeAt(tree: SchemaTree, [name, ...rest]: readonly string[]): SchemaTree {
  const next = tree.children.find(({ element }) => element.name === name)
  return next === undefined || tree.element.repetition_type === 'REPEATED' ? tree : nodeAt(next, rest)
}

/** The path of a column in the schema, which begins with the root. @throws Error when the schema lacks the column */
function pathTo(tree: SchemaTree, names: readonly string[]): SchemaPath {
  const path = [tree]
  for (const name of names) {
    const child = path.at(-1)?.children.find(({ element }) => element.name === name)
    if (child === undefined)
      throw new ParquetFault(`its schema has no column ${JSON.stringify(names.join('.'))}`)
    path.push(child)
  }
  return path
}

/** Bytes of the file, in memory of their own. @throws Error when the file has fewer */
function readAt({ fd }: FileHandle, start: number, end: number): Buffer<ArrayBuffer> {
  if (!(start >= 0 && end >= start && end - start <= MAX_PAGE_BYTES))
    throw new ParquetFault('its footer is damaged')
  const bytes = Buffer.from(new ArrayBuffer(end - start))
  for (let at = 0; at < bytes.length; ) {
    const size = readSync(fd, bytes, at, bytes.length - at, start + at)
    if (size === 0) throw new ParquetFault('it ends too early')
    at += size
  }
  return bytes
}

/** @param what says what is damaged if a library threw the error: its words are not for users */
function damaged(name: string, cause: unknown, what = 'a page is damaged'): CommandFailure {
  const isSystem = isError(cause) && ('syscall' in cause || cause.message.endsWith('allocation failed'))
  const why = cause instanceof ParquetFault ? cause.message : what
  return unreadableInput(
    name,
    isSystem ? cause : new Error(`its Parquet data cannot be read: ${why}`, { cause }),
  )
}
