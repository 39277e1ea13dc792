// Parquet as the output of `geofix enrich`: a copy of a Parquet file with more columns, or a file of what a run writes.
import type { InputFacts } from '../../../enrich/formats/format-definition.ts'
import type { EnrichOptions } from '../../../enrich/formats/formats.ts'
import { isMasked, type LocationCells } from '../../../enrich/options.ts'
import type { LineRun, RunSettings } from '../../../enrich/run.ts'
import { flagOf } from '../../../option-kinds.ts'
import { UsageError } from '../../terminal.ts'
import type { EnrichCommand } from '../command-line.ts'
import { PARQUET_MAGIC } from '../file-forms.ts'
import { ENRICH_OPTIONS } from '../flags.ts'
import type { Input } from '../input.ts'
import type { Output } from '../output.ts'
import { type AddedColumns, addedColumns } from '../rows/row-output.ts'
import { ColumnRun } from './column-run.ts'
import { ColumnWriter, type Leaf } from './column-writer.ts'
import { LocatedColumns, sparkFields } from './columns.ts'
import { addColumns, footerBytes, keyValue, readFooter, type Struct, setKeyValue } from './footer.ts'
import { ParquetFile, TAIL_BYTES } from './parquet-file.ts'
import { ParquetRowOutput } from './rows-output.ts'

/** How a run writes Parquet. */
export interface ParquetRun {
  readonly output: ParquetRowOutput | AddedColumnsOutput
  /** The output, if it takes lines. */
  readonly rows: ParquetRowOutput | null
  /** Makes the run of a file that gets columns. */
  readonly makeRun?: (settings: RunSettings, signal: AbortSignal) => LineRun
  /** The options for the input, and where its other addresses are. */
  readonly options: EnrichOptions & InputFacts
  readonly others: EnrichCommand['others']
}

/**
 * Makes the output of a run that writes Parquet.
 *
 * @param target where the bytes go
 * @param note tells the user what was guessed, once
 * @throws UsageError when an option does not fit
 * @throws CommandFailure when an input cannot be read
 */
export async function parquetRun(
  target: Output,
  inputs: readonly Input[],
  { options, others }: Pick<EnrichCommand, 'options' | 'others'>,
  note: (text: string) => void,
): Promise<ParquetRun> {
  refuse(options, ['append', 'annotate'], 'Parquet has columns and no lines')
  const [input] = inputs
  const found = await Promise.all(inputs.map((each) => each.isParquet()))
  if (found.includes(true) && isMasked(options))
    note('the file is written anew, without its addresses: its columns get types by their values')
  const isFlat = options.fields !== undefined
  const added = addedColumns(options, others)
  if (input === undefined || !found.includes(true) || isMasked(options)) {
    const rows = new ParquetRowOutput(target, added, isFlat)
    return { output: rows, rows, options, others }
  }
  if (inputs.length > 1)
    throw new UsageError('Columns are added to one Parquet file at a time: name one input.')
  const why = 'a Parquet file keeps its rows and its columns'
  refuse(
    options,
    ['onlyFailed', 'dropUnresolved', 'onlyCountries', 'notCountries', 'overwrite', 'logFormat'],
    why,
  )
  const file = await ParquetFile.open(input.name)
  const taken = added
    .flatMap(({ into, asn, fields }) =>
      isFlat ? [...fields.keys()] : [into, ...(asn === null ? [] : [asn])],
    )
    .find((name) => file.columns.includes(name))
  if (taken !== undefined) {
    await file.close()
    throw new UsageError(
      `${input.name} has a column ${JSON.stringify(taken)} already: write another name, as in --into geo.`,
    )
  }
  const output = new AddedColumnsOutput(target, file, added, isFlat)
  return {
    output,
    rows: null,
    makeRun: (settings, signal) => new ColumnRun(settings, input, output, signal),
    options: { ...options, format: 'ndjson', into: memberOf(0), isColumnar: true },
    others: others.map(({ field }, index) => ({ field, into: memberOf(index + 1) })),
  }
}

/** The member of a row with the location of an address. No column has this name. */
function memberOf(index: number): string {
  return `__location_${index}`
}

function refuse(options: EnrichOptions, names: readonly (keyof EnrichOptions)[], why: string): void {
  const given = names.find((name) => options[name] !== undefined && options[name] !== false)
  if (given === undefined) return
  throw new UsageError(`${flagOf(ENRICH_OPTIONS, given) ?? given} has no effect on Parquet: ${why}.`)
}

/** Where Spark keeps its own copy of the schema. */
const SPARK_SCHEMA = 'org.apache.spark.sql.parquet.row.metadata'
/** Where Arrow keeps its own copy of the schema. */
const ARROW_SCHEMA = 'ARROW:schema'

/**
 * Writes a copy of a Parquet file with one more column, or some more.
 *
 * All bytes of the file before its footer stay as they are and where they are: pages, indexes and Bloom filters. The new
 * columns of all row groups follow them, and then a footer with both. So no value is decoded and encoded again, whatever its type.
 */
export class AddedColumnsOutput implements Output {
  readonly file: ParquetFile
  readonly cells: LocationCells
  readonly located: readonly LocatedColumns[]
  /** Bytes written so far. */
  bytesWritten = 0
  readonly #target: Output
  readonly #elements: LocatedColumns['elements']
  readonly #writer: ColumnWriter
  #isCopied = false
  #isEnded = false

  /** @param isFlat whether a location is columns with one value each. Otherwise it is a struct */
  constructor(target: Output, file: ParquetFile, added: readonly AddedColumns[], isFlat: boolean) {
    this.#target = target
    this.file = file
    this.cells = { form: 'values', hasAddress: !isFlat }
    this.located = added.map((each) => new LocatedColumns(each, !isFlat))
    this.#elements = this.located.flatMap(({ elements }) => elements)
    this.#writer = new ColumnWriter(this.#elements)
    // The magic, which the file has already.
    this.#writer.take()
  }

  addGroup(rows: number): void {
    this.#writer.add(this.#leaves(), rows)
  }

  *#leaves(): Generator<Leaf> {
    for (const located of this.located) yield* located.take()
  }

  /** Writes what was added, after a copy of the file up to its footer. */
  async send(): Promise<void> {
    if (!this.#isCopied) {
      this.#isCopied = true
      for await (const chunk of this.file.bytes()) await this.write(chunk)
    }
    const added = this.#writer.take()
    if (added.length > 0) await this.write(added)
  }

  async flush(): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true
      await this.send()
      await this.write(this.#end())
    }
    await this.#target.flush()
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.bytesWritten += bytes.length
    await this.#target.write(bytes)
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.#target.finish()
    await this.file.close()
  }

  discard(): void {
    this.#target.discard()
    this.file.close().catch(() => {})
  }

  /** The footer, and what follows it. */
  #end(): Uint8Array {
    const { footer, footerStart } = this.file
    this.#writer.end()
    const added = this.#writer.take()
    addColumns(footer, readFooter(added.slice(0, -TAIL_BYTES)), footerStart - PARQUET_MAGIC.length)
    this.#renewSchemas(footer)
    const bytes = footerBytes(footer)
    const end = Buffer.alloc(4)
    end.writeUint32LE(bytes.length)
    return Buffer.concat([bytes, end, PARQUET_MAGIC])
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
