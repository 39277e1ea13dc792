// The only importer of hyparquet-writer, which is bundled into the command line's output.
import type { KeyValue, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'

/** Names the program in the metadata of files. */
const CREATED_BY = 'geofix'

/** Writes a file of columns, a row group at a time. The caller takes the bytes. */
export class ColumnWriter {
  readonly #bytes = new ByteWriter()
  readonly #writer: ParquetWriter
  readonly #columns: readonly SchemaElement[]

  /** @param columns the elements of each column */
  constructor(columns: readonly (readonly SchemaElement[])[], metadata?: KeyValue[]) {
    this.#columns = columns.flatMap(([element]) => element ?? [])
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: [{ name: 'schema', num_children: columns.length }, ...columns.flat()],
      createdBy: CREATED_BY,
      ...(metadata === undefined ? {} : { kvMetadata: metadata }),
    })
  }

  /** Adds a row group. @param columns their values; at least one row. */
  add(columns: readonly (readonly unknown[])[]): void {
    const rowGroupSize = columns[0]?.length ?? 0
    const columnData = this.#columns.map(({ name, logical_type }, index) => ({
      name,
      data: [...(columns[index] ?? [])],
      offsetIndex: false,
      statistics: logical_type?.type !== 'JSON',
    }))
    void this.#writer.write({ columnData, rowGroupSize })
  }

  /** Adds the end of the file. */
  end(): void {
    // Set this type after the values are written. Earlier, the writer would encode their JSON again, as strings.
    for (const element of this.#columns)
      if (element.logical_type?.type === 'JSON') element.converted_type = 'JSON'
    void this.#writer.finish()
  }

  /** Hands over the bytes since the last call. */
  take(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice()
    this.#bytes.index = 0
    return bytes
  }
}
