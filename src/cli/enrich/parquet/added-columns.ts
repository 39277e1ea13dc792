import type { SchemaElement } from 'hyparquet'
import type { LocationField } from '../../../enrich/options.ts'
import type { LocatedRecord } from '../../../enrich/writing/column-templates.ts'
import { CommandFailure, ExitStatus } from '../../terminal.ts'
import type { Output } from '../output.ts'
import { ColumnWriter } from './column-writer.ts'
import {
  fieldElements,
  fieldValue,
  locationElements,
  sparkFields,
  systemElements,
  systemValue,
} from './columns.ts'
import { addColumns, footerBytes, keyValue, readFooter, type Struct, setKeyValue } from './footer.ts'
import { PARQUET_MAGIC, type ParquetFile } from './parquet-file.ts'

const LINE_FEED = 0x0a
/** The member of a line with its location. No column has this name. */
export const LOCATION_MEMBER = '__location'
/** That with its autonomous system, which follows it. */
const SYSTEM_MEMBER = '__location_asn'
/** The text before the location, at the end of a line. A value cannot contain it, because quotes in values are escaped. */
const BEFORE_LOCATION = Buffer.from(`,"${LOCATION_MEMBER}":`)
/** The start of a location. The text of its address needs no escapes. */
const HEAD = '{"ip":"'
/** The most locations that are cached, without their addresses: many addresses have the same location. */
const MAX_LOCATIONS = 65_536

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
export class AddedColumnsOutput implements Output {
  readonly #target: Output
  readonly #file: ParquetFile
  readonly #into: string
  readonly #system: string | null
  readonly #fields: ReadonlyMap<string, LocationField> | null
  readonly #locations = new Map<string, LocatedRecord>()
  readonly #added: Struct[] = []
  readonly #moved: number[] = []
  #position = 0
  /** The locations of the rows of the next row group. */
  #rows: (LocatedRecord | null)[] = []
  #isEnded = false

  /**
   * @param into the name of the column with the whole location
   * @param system the name of the column with the autonomous system; `null` for none
   * @param fields columns with one value each instead, by their names; `null` for the whole location
   */
  constructor(
    target: Output,
    file: ParquetFile,
    into: string,
    system: string | null,
    fields: ReadonlyMap<string, LocationField> | null,
  ) {
    this.#target = target
    this.#file = file
    this.#into = into
    this.#system = system
    this.#fields = fields
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#copy()
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let start = 0; start < buffer.length; ) {
      const lineFeed = buffer.indexOf(LINE_FEED, start)
      const end = lineFeed === -1 ? buffer.length : lineFeed
      this.#rows.push(this.#locationIn(buffer, start, end))
      start = end + 1
      if (this.#rows.length === this.#file.groupRows[this.#added.length]) await this.#addGroup()
    }
  }

  async flush(): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true
      await this.#copy()
      await this.#end()
    }
    await this.#target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.#target.finish()
    await this.#file.close()
  }

  discard(): void {
    this.#target.discard()
    this.#file.close().catch(() => {})
  }

  /** Copies the file up to its footer, before anything else is written. */
  async #copy(): Promise<void> {
    if (this.#position > 0) return
    for await (const chunk of this.#file.bytes()) await this.#put(chunk)
  }

  async #put(bytes: Uint8Array): Promise<void> {
    await this.#target.write(bytes)
    this.#position += bytes.length
  }

  #locationIn(line: Buffer, start: number, end: number): LocatedRecord | null {
    const before = line.lastIndexOf(BEFORE_LOCATION, end - 1)
    const from = before + BEFORE_LOCATION.length
    // Without the brace that ends the line.
    const text = before < start ? 'null' : line.toString('utf8', from, line.lastIndexOf('}', end))
    if (!text.startsWith(HEAD)) return null
    const endOfIp = text.indexOf('"', HEAD.length)
    const key = text.slice(endOfIp)
    const kept = this.#locations.get(key)
    const ip = text.slice(HEAD.length, endOfIp)
    if (kept !== undefined) return { ...kept, ip }
    if (this.#locations.size >= MAX_LOCATIONS) this.#locations.clear()
    const record = locatedRecord(text)
    this.#locations.set(key, record)
    return record
  }

  /** Writes the columns of a row group. */
  async #addGroup(): Promise<void> {
    const rows = this.#rows
    this.#rows = []
    const writer = new ColumnWriter(this.#columns)
    writer.add(
      this.#fields === null
        ? [rows, ...(this.#system === null ? [] : [rows.map((row) => systemValue(row?.asn))])]
        : [...this.#fields.values()].map((field) => rows.map((row) => fieldValue(row, field))),
    )
    writer.end()
    const bytes = writer.take()
    const tail = bytes.length - PARQUET_MAGIC.length - 4
    const footer = tail - new DataView(bytes.buffer, bytes.byteOffset).getUint32(tail, true)
    this.#added.push(readFooter(bytes.subarray(footer, tail)))
    this.#moved.push(this.#position - PARQUET_MAGIC.length)
    await this.#put(bytes.subarray(PARQUET_MAGIC.length, footer))
  }

  get #columns(): (readonly SchemaElement[])[] {
    return this.#fields === null
      ? [locationElements(this.#into), ...(this.#system === null ? [] : [systemElements(this.#system)])]
      : [...this.#fields].map(([name, field]) => fieldElements(name, field))
  }

  async #end(): Promise<void> {
    const { footer, groupRows, name } = this.#file
    if (this.#rows.length > 0 || this.#added.length < groupRows.length)
      throw new CommandFailure(`${name} has other rows than its footer says`, ExitStatus.input)
    addColumns(footer, this.#added, this.#moved)
    this.#renewSchemas(footer)
    const bytes = footerBytes(footer)
    const end = Buffer.alloc(4)
    end.writeUint32LE(bytes.length)
    await this.#put(Buffer.concat([bytes, end, PARQUET_MAGIC]))
  }

  /** Other programs keep a copy of the schema in their own form, and would not see the new columns. */
  #renewSchemas(footer: Struct): void {
    if (keyValue(footer, ARROW_SCHEMA) !== undefined) setKeyValue(footer, ARROW_SCHEMA, null)
    const spark = keyValue(footer, SPARK_SCHEMA)
    if (spark !== undefined)
      setKeyValue(footer, SPARK_SCHEMA, withColumns(spark, this.#columns.flatMap(sparkFields)))
  }
}

/** A location as a line has it, and the autonomous system if that follows it. */
function locatedRecord(text: string): LocatedRecord {
  const members: {
    readonly [LOCATION_MEMBER]: LocatedRecord
    readonly [SYSTEM_MEMBER]?: LocatedRecord['asn']
  } = JSON.parse(`{"${LOCATION_MEMBER}":${text}}`)
  return { ...members[LOCATION_MEMBER], asn: members[SYSTEM_MEMBER] ?? null }
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
