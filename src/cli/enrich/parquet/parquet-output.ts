// Parquet as the output of `geofix enrich`: a copy of a Parquet file with more columns, or a file of what a run writes.
import type { DelimitedPlan } from '../../../enrich/formats/delimited/plan.ts'
import type { EnrichOptions } from '../../../enrich/formats/formats.ts'
import { pathText } from '../../../enrich/formats/ndjson/member-path.ts'
import { objectsIn, planNdjsonObjects } from '../../../enrich/formats/ndjson/plan.ts'
import {
  addedMembers,
  checkedFields,
  columnNames,
  commonPlan,
  INTO,
  isMasked,
  type LocationField,
} from '../../../enrich/options.ts'
import { sampleLines } from '../../../enrich/reading/sample.ts'
import { flagOf } from '../../../option-kinds.ts'
import { UsageError } from '../../terminal.ts'
import { asUsage, inWords } from '../command-errors.ts'
import { ENRICH_OPTIONS } from '../flags.ts'
import type { Input } from '../input.ts'
import type { Output } from '../output.ts'
import { AddedColumnsOutput, LOCATION_MEMBER } from './added-columns.ts'
import { ParquetFile, SAMPLE_ROWS } from './parquet-file.ts'
import { RowsOutput } from './rows-output.ts'

/** How a run writes Parquet. */
export interface ParquetRun {
  readonly output: Output
  /** The options for the lines of the run. The output makes the columns of `fields`. */
  readonly options: EnrichOptions
  /** Call it with the plan that would keep the table that an input is, or `null`. */
  readonly usePlan: (table: DelimitedPlan | null) => void
  /** Whether the notes of this plan are printed already. */
  readonly isPlanned: boolean
}

/**
 * Makes the output of a run that writes Parquet.
 *
 * @param target where the bytes go
 * @param note tells the user what was guessed
 * @throws UsageError when an option does not fit
 * @throws CommandFailure when an input cannot be read
 */
export async function parquetRun(
  target: Output,
  inputs: readonly Input[],
  options: EnrichOptions,
  note: (text: string) => void,
): Promise<ParquetRun> {
  refuse(options, ['append', 'annotate'], 'Parquet has columns and no lines')
  const [input] = inputs
  const found = await Promise.all(inputs.map((each) => each.isParquet()))
  if (found.includes(true) && isMasked(options))
    note('the file is written anew, without its addresses: its columns get types by their values')
  if (input === undefined || !found.includes(true) || isMasked(options)) {
    const added = { into: options.into ?? INTO, asn: systemMember(options) }
    const output = new RowsOutput(target, added, namedFields(options))
    return {
      output,
      options: { ...options, fields: undefined },
      usePlan: (table) => output.usePlan(table),
      isPlanned: false,
    }
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
    return await addedColumns(target, input, file, options, note)
  } catch (error) {
    await file.close()
    throw error
  }
}

async function addedColumns(
  target: Output,
  input: Input,
  file: ParquetFile,
  options: EnrichOptions,
  note: (text: string) => void,
): Promise<ParquetRun> {
  const { into = INTO } = options
  const fields = namedFields(options)
  const system = systemMember(options)
  const added = fields === null ? addedMembers({ into, asn: system ?? undefined }) : [...fields.keys()]
  const taken = added.find((name) => file.columns.includes(name))
  if (taken !== undefined)
    throw new UsageError(
      `${input.name} has a column ${JSON.stringify(taken)} already: write another name, as in --into geo.`,
    )
  const objects = objectsIn(sampleLines(await file.sampleLines(), true, SAMPLE_ROWS))
  const { plan, notes } = planned(objects, options, input.name)
  for (const each of notes) note(`${input.name}: ${each}`)
  const paths = [plan.path, ...(plan.timePath === null ? [] : [plan.timePath])]
  input.readRows = () => file.linesOf(paths)
  const [field, timeField] = paths.map((path) => pathText([path.join('.')]))
  return {
    output: new AddedColumnsOutput(target, file, into, system, fields),
    options: { ...options, format: 'ndjson', fields: undefined, field, timeField, into: LOCATION_MEMBER },
    usePlan: () => {},
    isPlanned: true,
  }
}

/** The member with the autonomous system; `null` without the option. */
function systemMember({ asn, into }: EnrichOptions): string | null {
  return commonPlan({ asn, into }).asn ?? null
}

/** What the columns of `fields` have, by their names; `null` without the option. @throws UsageError for a wrong name */
function namedFields(options: EnrichOptions): ReadonlyMap<string, LocationField> | null {
  if (options.fields === undefined) return null
  const { into } = options
  const fields = asUsage(() => checkedFields(options))
  const names = asUsage(() => columnNames(fields, { into }))
  return new Map(fields.map((field, index) => [names[index] ?? field, field]))
}

/** Finds the columns of the address and the time. */
function planned(objects: readonly object[], options: EnrichOptions, name: string) {
  try {
    return asUsage(() => planNdjsonObjects(objects, { ...options, into: LOCATION_MEMBER }, false))
  } catch (error) {
    throw inWords(error, name)
  }
}

function refuse(options: EnrichOptions, names: readonly (keyof EnrichOptions)[], why: string): void {
  const given = names.find((name) => options[name] !== undefined && options[name] !== false)
  if (given === undefined) return
  throw new UsageError(`${flagOf(ENRICH_OPTIONS, given) ?? given} has no effect on Parquet: ${why}.`)
}
