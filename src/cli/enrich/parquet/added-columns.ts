import type { LocationCells } from '../../../enrich/options.ts'
import { CommandFailure, ExitStatus } from '../../terminal.ts'
import type { Output } from '../output.ts'
import { type AddedColumns, RowOutput } from '../rows/row-output.ts'
import { ColumnWriter } from './column-writer.ts'
import { sparkFields } from './columns.ts'
import { addColumns, footerBytes, keyValue, readFooter, type Struct, setKeyValue } from './footer.ts'
import { LocatedColumns, SEPARATOR } from './located-columns.ts'
import { PARQUET_MAGIC, type ParquetFile } from './parquet-file.ts'

/** Where Spark keeps its own copy of the schema. */
const SPARK_SCHEMA = 'org.apache.spark.sql.parquet.row.metadata'
/** Where Arrow keeps its own copy of the schema. */
const ARROW_SCHEMA = 'ARROW:schema'

/**
 * Writes a copy of a Parquet file with one more column, or some more. It takes a line for each row, with the location at its
 * end.
 *
 * All bytes of the file before its footer stay as they are and where they are: pages, indexes and Bloom filters. The new
 * columns of all row groups follow them, and then a footer with both. So no value is decoded and encoded again, whatever its type.
 */
export class AddedColumnsOutput extends RowOutput {
  readonly #file: ParquetFile
  readonly #isFlat: boolean
  readonly #located: readonly LocatedColumns[]
  readonly #elements: LocatedColumns['elements']
  readonly #added: Struct[] = []
  readonly #moved: number[] = []
  #position = 0
  #isCopied = false
  /** Rows of the next row group. */
  #rows = 0

  /** @param isFlat whether a location is columns with one value each. Otherwise it is a struct */
  constructor(target: Output, file: ParquetFile, added: readonly AddedColumns[], isFlat: boolean) {
    super(target)
    this.#file = file
    this.#isFlat = isFlat
    this.#located = added.map((each) => new LocatedColumns(this.members, each, !isFlat))
    this.#elements = this.#located.flatMap(({ elements }) => elements)
  }

  override get cells(): LocationCells {
    return { separator: SEPARATOR, hasAddress: !this.#isFlat }
  }

  override async write(bytes: Uint8Array): Promise<void> {
    await this.#copy()
    await super.write(bytes)
  }

  override async flush(): Promise<void> {
    await this.#copy()
    await super.flush()
  }

  override async finish(): Promise<void> {
    await super.finish()
    await this.#file.close()
  }

  override discard(): void {
    super.discard()
    this.#file.close().catch(() => {})
  }

  protected row(): void {
    for (const located of this.#located) located.add()
    if (++this.#rows === this.#file.groupRows[this.#added.length]) this.#addGroup()
  }

  /** Copies the file up to its footer, before anything else is written. */
  async #copy(): Promise<void> {
    if (this.#isCopied) return
    this.#isCopied = true
    for await (const chunk of this.#file.bytes()) {
      await this.target.write(chunk)
      this.#position += chunk.length
    }
  }

  /** Writes the columns of a row group. */
  #addGroup(): void {
    const writer = new ColumnWriter(this.#elements)
    writer.add(
      this.#located.flatMap((located) => [...located.take()]),
      this.#rows,
    )
    this.#rows = 0
    writer.end()
    const bytes = writer.take()
    const tail = bytes.length - PARQUET_MAGIC.length - 4
    const footer = tail - new DataView(bytes.buffer, bytes.byteOffset).getUint32(tail, true)
    this.#added.push(readFooter(bytes.subarray(footer, tail)))
    this.#moved.push(this.#position - PARQUET_MAGIC.length)
    this.#put(bytes.subarray(PARQUET_MAGIC.length, footer))
  }

  #put(bytes: Uint8Array): void {
    this.out.write(bytes)
    this.#position += bytes.length
  }

  protected end(): void {
    const { footer, groupRows, name } = this.#file
    if (this.#rows > 0 || this.#added.length < groupRows.length)
      throw new CommandFailure(`${name} has other rows than its footer says`, ExitStatus.input)
    addColumns(footer, this.#added, this.#moved)
    this.#renewSchemas(footer)
    const bytes = footerBytes(footer)
    const end = Buffer.alloc(4)
    end.writeUint32LE(bytes.length)
    this.#put(Buffer.concat([bytes, end, PARQUET_MAGIC]))
  }

  /** Other programs keep a copy of the schema in their own form, and would not see the new columns. */
  #renewSchemas(footer: Struct): void {
    if (keyValue(footer, ARROW_SCHEMA) !== undefined) setKeyValue(footer, ARROW_SCHEMA, null)
    const spark = keyValue(footer, SPARK_SCHEMA)
    if (spark !== undefined)
      setKeyValue(footer, SPARK_SCHEMA, withColumns(spark, this.#elements.flatMap(sparkFields)))
  }
}

/** Spark's schema with more columns; `null` if it is not in the form that is known. */
function withColumns(schema: string, columns: readonly object[]): string | null {
  try {
    const { fields, ...rest }: { fields?: unknown } = JSON.parse(schema)
    return Array.isArray(fields) ? JSON.stringify({ ...rest, fields: [...fields, ...columns] }) : null
  } catch {
    return null
  }
}
