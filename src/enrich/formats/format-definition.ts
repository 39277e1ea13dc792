import type { LineFormat } from '../line-format.ts'
import type { LineLocator } from '../line-locator.ts'
import type { LocationTemplate } from '../location-text.ts'
import type { CommonPlan, EnrichOptions, Format, Planned } from '../options.ts'

/** The options that only some formats have. */
export type FormatOption = Exclude<
  keyof EnrichOptions,
  Exclude<keyof CommonPlan, 'into' | 'overwrite'> | 'format'
>

/** Everything that is specific to one format. Its functions get only plans that its own `plan` made. */
export interface FormatDefinition<Plan extends CommonPlan> {
  readonly name: Format
  /** The options that affect this format, besides those that all formats have. */
  readonly options: readonly FormatOption[]
  /** Whether the sample, the start of an input, looks like this format. */
  recognise(sample: Uint8Array): boolean
  /**
   * @param isWhole whether the sample is the whole input
   * @throws EnrichError when the sample does not fit the options
   * @throws TypeError, InvalidLocaleError when an option is wrong
   */
  plan(sample: Uint8Array, isWhole: boolean, options: EnrichOptions): Planned<Plan>
  /** The byte between fields, when quoted fields can hold line ends; `null` when each line is a record. */
  quotedDelimiter(plan: Plan): number | null
  /** Where the address is, for a message: "in column 2". */
  addressPosition(plan: Plan): string
  /** How locations are written. Default: as JSON, without the address. */
  locationTemplate?(plan: Plan): LocationTemplate
  makeLines(plan: Plan, locator: LineLocator): LineFormat
}
