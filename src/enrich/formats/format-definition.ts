import type { LineFormat } from '../line-format.ts'
import type { LineLocator } from '../line-locator.ts'
import type { CommonPlan, LineOptions, Planned } from '../options.ts'
import type { LocationTemplate } from '../rendered-locations.ts'

/** The options that only some formats have. */
export type FormatOption = Exclude<keyof LineOptions, Exclude<keyof CommonPlan, 'into' | 'overwrite'>>

/** An option that a format requires for rows, of which nothing is guessed. `at` stands for `at` or `timeField`. */
export type RequiredRowOption = 'field' | 'quoting' | 'at'

/** The plan of a format. Plain data: `structuredClone` passes it to worker threads. */
export interface FormatPlan extends CommonPlan {
  readonly format: string
}

/** Everything that is specific to one format. Its functions get only plans that its own `plan` made. */
export interface FormatDefinition<Plan extends FormatPlan> {
  readonly name: Plan['format']
  /** The options that affect this format, besides those that all formats have. */
  readonly options: readonly FormatOption[]
  /** The options that `enrich --rows` and `createRowEnricher` cannot do without. */
  readonly requiredForRows: readonly RequiredRowOption[]
  /** Whether the sample, the start of an input, looks like this format. */
  recognise(sample: Uint8Array): boolean
  /**
   * @param sample the start of the input; empty for rows
   * @param isWhole whether the sample is the whole input
   * @throws EnrichError when the sample does not fit the options
   * @throws TypeError, InvalidLocaleError when an option is wrong
   */
  plan(sample: Uint8Array, isWhole: boolean, options: LineOptions): Planned<Plan>
  /** The byte between fields, when quoted fields can hold line ends; `null` when each line is a record. */
  quotedDelimiter(plan: Plan): number | null
  /** Where the address is, for a message: "in column 2". */
  addressPosition(plan: Plan): string
  /** How locations are written. Default: as JSON, without the address. */
  locationTemplate?(plan: Plan): LocationTemplate
  makeLines(plan: Plan, locator: LineLocator): LineFormat
}
