// Parquet as the output of `geofix enrich`: a copy of a Parquet file with more columns, or a file of what a run writes.
import type { EnrichOptions } from '../../../enrich/formats/formats.ts'
import { pathText } from '../../../enrich/formats/ndjson/member-path.ts'
import { objectsIn, planNdjson } from '../../../enrich/formats/ndjson/ndjson.ts'
import { isMasked } from '../../../enrich/options.ts'
import { sampleLines } from '../../../enrich/reading/sample.ts'
import { flagOf } from '../../../option-kinds.ts'
import { UsageError } from '../../terminal.ts'
import { type AddressOption, asUsage, type EnrichCommand, inWords } from '../command-line.ts'
import { ENRICH_OPTIONS } from '../flags.ts'
import type { Input } from '../input.ts'
import type { Output } from '../output.ts'
import { addedColumns, type RowOutput } from '../rows/row-output.ts'
import { AddedColumnsOutput } from './added-columns.ts'
import { ParquetFile, SAMPLE_ROWS } from './parquet-file.ts'
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
    throw inWords(error, name)
  }
}

function refuse(options: EnrichOptions, names: readonly (keyof EnrichOptions)[], why: string): void {
  const given = names.find((name) => options[name] !== undefined && options[name] !== false)
  if (given === undefined) return
  throw new UsageError(`${flagOf(ENRICH_OPTIONS, given) ?? given} has no effect on Parquet: ${why}.`)
}
