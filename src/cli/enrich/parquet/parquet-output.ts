// Parquet as the output of `geofix enrich`: a copy of a Parquet file with more columns, or a file of what a run writes.
import type { EnrichOptions } from '../../../enrich/formats/formats.ts'
import { pathText } from '../../../enrich/formats/ndjson/member-path.ts'
import { objectsIn, planNdjson } from '../../../enrich/formats/ndjson/ndjson.ts'
import { isMasked, type LocationCells } from '../../../enrich/options.ts'
import { sampleLines } from '../../../enrich/reading/sample.ts'
import { viewOf } from '../../../enrich/swar.ts'
import { flagOf } from '../../../option-kinds.ts'
import { CommandFailure, ExitStatus, UsageError } from '../../terminal.ts'
import { type AddressOption, asUsage, type EnrichCommand, withInputName } from '../command-line.ts'
import { PARQUET_MAGIC } from '../file-forms.ts'
import { ENRICH_OPTIONS } from '../flags.ts'
import type { Input } from '../input.ts'
import type { Output } from '../output.ts'
import { type AddedColumns, addedColumns, RowOutput } from '../rows/row-output.ts'
import { ColumnWriter, type Leaf } from './column-writer.ts'
import { sparkFields } from './columns.ts'
import { addColumns, footerBytes, keyValue, readFooter, type Struct, setKeyValue } from './footer.ts'
import { LocatedColumns } from './located-columns.ts'
import { ParquetFile, SAMPLE_ROWS, TAIL_BYTES } from './parquet-file.ts'
import { RowsOutput } from './rows-output.ts'

/** How a run writes Parquet. */
export interface ParquetRun {
  readonly output: RowOutput
  /** The options for the lines of the run, and where their other addresses are. */
  readonly options: EnrichOptions
  readonly others: readonly AddressOption[]
  /** Whether the notes of this plan have been printed. */
  readonly isPlanned: boolean
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
  if (input === undefined || !found.includes(true) || isMasked(options)) {
    const output = new RowsOutput(target, addedColumns(options, others), isFlat)
    return { output, options, others, isPlanned: false }
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
  try {
    const added = addedColumns(options, others)
    const taken = added
      .flatMap(({ into, asn, fields }) =>
        isFlat ? [...fields.keys()] : [into, ...(asn === null ? [] : [asn])],
      )
      .find((name) => file.columns.includes(name))
    if (taken !== undefined)
      throw new UsageError(
        `${input.name} has a column ${JSON.stringify(taken)} already: write another name, as in --into geo.`,
      )
    const objects = objectsIn(sampleLines(await file.sampleLines(), true, SAMPLE_ROWS))
    const plans = [options, ...others].map(({ field, into }) =>
      planned(objects, { ...options, field, into }, input.name),
    )
    for (const each of plans.flatMap(({ notes }) => notes)) note(`${input.name}: ${each}`)
    const [time = null] = plans.map(({ plan }) => plan.timePath)
    const addresses = plans.map(({ plan }) => plan.path)
    const paths = new Map(
      [...addresses, ...(time === null ? [] : [time])].map((path) => [path.join('.'), path]),
    )
    input.readRows = () => file.linesOf([...paths.values()])
    const textOf = (path: readonly string[]): string => pathText([path.join('.')])
    const [first, ...rest] = addresses.map((path, index) => ({ field: textOf(path), into: memberOf(index) }))
    return {
      output: new AddedColumnsOutput(
        target,
        file,
        added.map((each, index) => ({ ...each, member: memberOf(index) })),
        isFlat,
      ),
      options: {
        ...options,
        ...first,
        format: 'ndjson',
        timeField: time === null ? undefined : textOf(time),
      },
      others: rest,
      isPlanned: true,
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** The member of a line with the location of an address. No column has this name. */
function memberOf(index: number): string {
  return `__location_${index}`
}

/** Finds the columns of the address and the time. */
function planned(objects: readonly object[], options: EnrichOptions, name: string) {
  try {
    return asUsage(() => planNdjson(objects, { ...options, into: memberOf(0) }, false))
  } catch (error) {
    throw withInputName(error, name)
  }
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
 * Writes a copy of a Parquet file with one more column, or some more. It takes a line for each row, with the location at its
 * end.
 *
 * All bytes of the file before its footer stay as they are and where they are: pages, indexes and Bloom filters. The new
 * columns of all row groups follow them, and then a footer with both. So no value is decoded and encoded again, whatever its type.
 */
class AddedColumnsOutput extends RowOutput {
  readonly #file: ParquetFile
  readonly #isFlat: boolean
  readonly #located: readonly LocatedColumns[]
  readonly #elements: LocatedColumns['elements']
  readonly #writer: ColumnWriter
  #isCopied = false
  /** Row groups that have their columns, and rows of the next one. */
  #groups = 0
  #rows = 0

  /** @param isFlat whether a location is columns with one value each. Otherwise it is a struct */
  constructor(target: Output, file: ParquetFile, added: readonly AddedColumns[], isFlat: boolean) {
    super(target)
    this.#file = file
    this.#isFlat = isFlat
    this.#located = added.map((each) => new LocatedColumns(this.members, each, !isFlat))
    this.#elements = this.#located.flatMap(({ elements }) => elements)
    this.#writer = new ColumnWriter(this.#elements)
    // The magic, which the file has already.
    this.#writer.take()
  }

  override get cells(): LocationCells {
    return { form: 'values', hasAddress: !this.#isFlat }
  }

  /** No columns: rows have nothing but a location. Several locations are added one after the other, to objects. */
  get columns(): readonly string[] | undefined {
    return this.#located.length === 1 ? [] : undefined
  }

  override async write(bytes: Uint8Array, objects?: readonly number[], source?: number): Promise<void> {
    await this.#copy()
    await super.write(bytes, objects, source)
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

  protected override takeRows(bytes: Uint8Array, start: number, end: number, source: number): void {
    const view = viewOf(bytes)
    for (const located of this.#located) located.useSource(source)
    // A line feed ends each row.
    for (let at = start; at < end; at++) {
      for (const located of this.#located) at = located.addPacked(bytes, view, at)
      this.#endRow()
    }
  }

  protected row(): void {
    for (const located of this.#located) located.add()
    this.#endRow()
  }

  #endRow(): void {
    if (++this.#rows === this.#file.groupRows[this.#groups]) this.#addGroup()
  }

  /** Copies the file up to its footer, before anything else is written. */
  async #copy(): Promise<void> {
    if (this.#isCopied) return
    this.#isCopied = true
    for await (const chunk of this.#file.bytes()) await this.send(chunk)
  }

  /** Writes the columns of a row group. */
  #addGroup(): void {
    this.#writer.add(this.#leaves(), this.#rows)
    this.#rows = 0
    this.#groups++
    this.out.write(this.#writer.take())
  }

  *#leaves(): Generator<Leaf> {
    for (const located of this.#located) yield* located.take()
  }

  protected end(): void {
    const { footer, footerStart, groupRows, name } = this.#file
    if (this.#rows > 0 || this.#groups < groupRows.length)
      throw new CommandFailure(`${name} has other rows than its footer says`, ExitStatus.input)
    this.#writer.end()
    const added = this.#writer.take()
    addColumns(footer, readFooter(added.slice(0, -TAIL_BYTES)), footerStart - PARQUET_MAGIC.length)
    this.#renewSchemas(footer)
    const bytes = footerBytes(footer)
    const end = Buffer.alloc(4)
    end.writeUint32LE(bytes.length)
    for (const part of [bytes, end, PARQUET_MAGIC]) this.out.write(part)
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
