// hyparquet reads the values. It is bundled into the command line's output.
import { type FileHandle, open } from 'node:fs/promises'
import {
  type ColumnMetaData,
  type DecodedArray,
  type FileMetaData,
  parquetMetadata,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet'
import { assembleNested } from 'hyparquet/src/assemble.js'
import { ByteSink } from '../../../bytes/byte-sink.ts'
import type { ColumnTexts } from '../../../enrich/column-stream.ts'
import { recordText } from '../../../enrich/writing/separated-values.ts'
import { isError } from '../../../realm.ts'
import { type CommandFailure, unreadableInput } from '../../terminal.ts'
import { PARQUET_MAGIC } from '../file-forms.ts'
import { MAX_PAGE_BYTES } from './compression.ts'
import { checkFooter, dropEmptyGroups, isEncrypted, ParquetFault, readFooter, type Struct } from './footer.ts'
import { ColumnReader, type SchemaPath } from './pages.ts'
import { columnOf, isStoredText, jsonOrNull, jsonText, lossIn, memberOf, PARSERS } from './values.ts'

/** The last bytes of a file whose footer is encrypted. */
const ENCRYPTED_MAGIC = Buffer.from('PARE')
/** The length of the footer and the magic, after the footer. */
export const TAIL_BYTES = 8
/** Limit of the footer. Bytes. */
const MAX_FOOTER_BYTES = 2 ** 28
/** The first rows, by which the columns of the address and the time are guessed. */
export const SAMPLE_ROWS = 1000
/** Lines are yielded in chunks of about this size. Characters. */
const CHUNK_CHARS = 256 * 1024

/** Writes a row of columns, or a value of the row, as text. */
type LineWriter = (values: readonly DecodedArray[], row: number) => string

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
        const tail = await readAt(file, Math.max(0, size - TAIL_BYTES), size)
        const magic = tail.subarray(TAIL_BYTES - PARQUET_MAGIC.length)
        if (ENCRYPTED_MAGIC.equals(magic)) throw new ParquetFault('it is encrypted')
        if (!PARQUET_MAGIC.equals(magic)) throw new ParquetFault('it is a Parquet file without its end')
        const length = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true)
        const start = size - TAIL_BYTES - length
        if (start < PARQUET_MAGIC.length || length > MAX_FOOTER_BYTES)
          throw new ParquetFault('its footer is damaged')
        return new ParquetFile(path, file, await readAt(file, start, size), start)
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
      yield await readAt(this.#file, at, Math.min(at + 2 ** 20, this.footerStart))
    }
  }

  /** What JSON would lose of the columns, with the name of the first such column; `null` if nothing. */
  get loss(): string | null {
    return this.#tree.children.map(lossIn).find((loss) => loss !== null) ?? null
  }

  /** The first rows as lines of JSON, without columns that JSON has no values for. */
  async sampleLines(): Promise<Uint8Array> {
    const columns = this.#tree.children.filter((column) => lossIn(column) === null)
    const chunks: Uint8Array[] = []
    for await (const chunk of this.#lines(columns, SAMPLE_ROWS, lineWriter(columns, jsonOrNull)))
      chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  /** All rows as lines of JSON, in chunks. @throws CommandFailure when the file is damaged, or JSON would lose values */
  async *lines(): AsyncGenerator<Uint8Array> {
    this.#refuseLoss()
    yield* this.#lines(this.#tree.children)
  }

  /** All rows as CSV with a header (RFC 4180), in chunks. Missing values are empty. Throws as `lines` does */
  async *csv(): AsyncGenerator<Uint8Array> {
    this.#refuseLoss()
    const columns = this.#tree.children
    const names = columns.map(({ element }) => element.name)
    yield Buffer.from(recordText(names, 'csv'))
    yield* this.#lines(columns, Number.POSITIVE_INFINITY, (values, row) =>
      recordText(
        columns.map((column, index) => cellText(values[index]?.[row], column)),
        'csv',
      ),
    )
  }

  /**
   * The texts at some paths, by row group: for each path those of parts of the rows, one after another. Values that are not texts
   * are as JSON has them. They are missing if JSON would change them.
   *
   * @throws CommandFailure when the file is damaged
   */
  async *textsOf(paths: readonly (readonly string[])[]): AsyncGenerator<readonly (readonly ColumnTexts[])[]> {
    try {
      for (const group of this.groupRows.keys()) {
        const texts: (readonly ColumnTexts[])[] = []
        for (const path of paths)
          texts.push((await this.#storedTexts(group, path)) ?? [await this.#madeTexts(group, path)])
        yield texts
      }
    } catch (cause) {
      throw damaged(this.name, cause)
    }
  }

  /** The texts at a path in a row group, from its pages; `null` if they are not stored as they are. */
  async #storedTexts(group: number, path: readonly string[]): Promise<readonly ColumnTexts[] | null> {
    for (const [metadata, nodes] of this.#chunksOf(group, path[0]))
      if (metadata.path_in_schema.join('\0') === path.join('\0') && isStoredText(nodes))
        return (await this.#readerOf(group, metadata, nodes)).texts()
    return null
  }

  /** The texts at a path in a row group, from its values. */
  async #madeTexts(group: number, [root = '', ...names]: readonly string[]): Promise<ColumnTexts> {
    const column = this.#tree.children.find(({ element }) => element.name === root) ?? this.#tree
    const values = column === this.#tree ? [] : await this.#valuesOf(group, column)
    const leaf = names.reduce(columnOf, column)
    const rows = this.groupRows[group] ?? 0
    const [starts, ends, out] = [new Int32Array(rows), new Int32Array(rows), new ByteSink()]
    for (let row = 0; row < values.length; row++) {
      starts[row] = out.length
      out.write(Buffer.from(textOf(jsonOrNull(names.reduce(memberOf, values[row]), leaf))))
      ends[row] = out.length
    }
    return { bytes: out.bytes, starts, ends }
  }

  #refuseLoss(): void {
    const { loss } = this
    if (loss !== null)
      throw unreadableInput(this.name, new Error(`${loss}. Write Parquet, as -o FILE.parquet does`))
  }

  async *#lines(
    columns: readonly SchemaTree[],
    most = Number.POSITIVE_INFINITY,
    lineOf = lineWriter(columns, jsonText),
  ): AsyncGenerator<Uint8Array> {
    try {
      let left = most
      for (const [group, groupRows] of this.groupRows.entries()) {
        const rows = Math.min(groupRows, left)
        const values: DecodedArray[] = []
        for (const column of columns) values.push(await this.#valuesOf(group, column, rows))
        let text = ''
        for (let row = 0; row < rows; row++) {
          text += lineOf(values, row)
          if (text.length > CHUNK_CHARS && most === Number.POSITIVE_INFINITY) {
            yield Buffer.from(text)
            text = ''
          }
        }
        if (text !== '') yield Buffer.from(text)
        left -= rows
        if (left <= 0) return
      }
    } catch (cause) {
      throw damaged(this.name, cause)
    }
  }

  /** The values of the first rows of a column in a row group. @throws Error when they are not as many as its rows */
  async #valuesOf(
    group: number,
    column: SchemaTree,
    most = this.groupRows[group] ?? 0,
  ): Promise<DecodedArray> {
    const leaves = new Map<string, DecodedArray>()
    for (const [metadata, path] of this.#chunksOf(group, column.element.name)) {
      if (path[1] !== column) continue
      const reader = await this.#readerOf(group, metadata, path)
      leaves.set(
        metadata.path_in_schema.join('.'),
        reader.values(most < (this.groupRows[group] ?? 0) ? most : undefined),
      )
    }
    if (column.children.length > 0) assembleNested(leaves, column, PARSERS)
    const values = leaves.get(column.element.name)
    if (values?.length !== most)
      throw new ParquetFault(
        `the column ${JSON.stringify(column.element.name)} has another number of rows than its row group says`,
      )
    return values
  }

  /** The columns of a row group below a root, with their paths in the schema. */
  #chunksOf(group: number, root: string | undefined): (readonly [ColumnMetaData, SchemaPath])[] {
    const columns = this.#metadata.row_groups[group]?.columns ?? []
    return columns.flatMap(({ meta_data: metadata }) =>
      metadata === undefined || metadata.path_in_schema[0] !== root
        ? []
        : [[metadata, pathTo(this.#tree, metadata.path_in_schema)] as const],
    )
  }

  async #readerOf(group: number, metadata: ColumnMetaData, path: SchemaPath): Promise<ColumnReader> {
    const {
      dictionary_page_offset: dictionary,
      data_page_offset: data,
      total_compressed_size: size,
    } = metadata
    const start = Number(dictionary || data)
    const bytes = await readAt(this.#file, start, start + Number(size))
    return new ColumnReader(bytes, path, metadata, this.groupRows[group] ?? 0)
  }
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

/** Writes rows as lines of JSON. */
function lineWriter(columns: readonly SchemaTree[], jsonOf: typeof jsonText): LineWriter {
  const members = columns.map(
    ({ element }, index) => `${index === 0 ? '' : ','}${JSON.stringify(element.name)}:`,
  )
  return (values, row) => {
    let line = '{'
    for (const [at, column] of columns.entries()) line += members[at] + jsonOf(values[at]?.[row], column)
    return `${line}}\n`
  }
}

/** A text as it is, another value as JSON. */
function cellText(value: unknown, column: SchemaTree): string {
  if (typeof value === 'string') return value
  return textOf(jsonText(value, column))
}

/** A string of JSON as text, other JSON as it is; empty for `null`. */
function textOf(json: string): string {
  return json === 'null' ? '' : json.startsWith('"') ? String(JSON.parse(json)) : json
}

/** Bytes of the file, in memory of their own. @throws Error when the file has fewer */
async function readAt(file: FileHandle, start: number, end: number): Promise<Buffer<ArrayBuffer>> {
  if (!(start >= 0 && end >= start && end - start <= MAX_PAGE_BYTES))
    throw new ParquetFault('its footer is damaged')
  const bytes = Buffer.from(new ArrayBuffer(end - start))
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at)
    if (bytesRead === 0) throw new ParquetFault('it ends too early')
    at += bytesRead
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
