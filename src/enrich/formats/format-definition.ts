import type { CommonPlan, LineOptions, Planned, RequestFields, RowLineOptions } from '../options.ts'
import type { Layout } from '../reading/layout.ts'
import type { RecordReader } from '../reading/record-reader.ts'
import type { Sample } from '../reading/sample.ts'
import type { RecordForm } from '../writing/record-form.ts'

/** The options that only some formats have. */
export type FormatOption = Exclude<
  keyof LineOptions,
  Exclude<keyof CommonPlan, 'overwrite'> | 'fields' | 'to'
>

/** A table whose columns are known. It has no text that could be misread: a record can have any number of lines. */
export interface KnownTable {
  /** The names in its header. */
  readonly names: readonly string[]
  /** The indexes of the columns with the address and the time. */
  readonly address: number
  readonly time: number | null
  readonly hasPort?: boolean
  readonly requestFields?: RequestFields
}

/** What is known about an input besides its bytes. Only the command knows it. */
export interface InputFacts {
  /** When the file of the input was last written, in milliseconds since 1970. */
  readonly writtenAt?: number | undefined
  /** Whether columns of the input are read, and no lines that could be text. */
  readonly isColumnar?: boolean
  /** The table that the input is, if nothing of it is guessed. */
  readonly table?: KnownTable | undefined
}

/** An option that a format requires for rows, because nothing is guessed. `at` stands for `at` or `timeField`. */
export type RequiredRowOption = 'field' | 'quoting' | 'at'

/**
 * Everything that is specific to one format. Its functions take only plans made by its own `plan`.
 *
 * `State` is what directives say about the lines after them, such as the columns of a second `#Fields:`; see `Directives`.
 */
export interface FormatDefinition<Plan extends CommonPlan & { readonly format: string }, State = unknown> {
  readonly name: Plan['format']
  /** The title of the format, for a list of the formats. */
  readonly title: string
  /** Lines of the format with one public address, for the list of the formats. */
  readonly example: string
  /** Whether its lines are also looked for after what container runtimes and syslog write before each line. */
  readonly mayBeWrapped?: boolean
  /** The options that `enrich --rows` and `createRowEnricher` require. */
  readonly requiredForRows: readonly RequiredRowOption[]
  /** Whether the sample, the start of an input, looks like this format. The fields that the user names can decide. */
  recognise(sample: Uint8Array, options: LineOptions): boolean
  /**
   * Makes the plan, which is plain data: `structuredClone` passes it to worker threads.
   *
   * @param sample empty for rows
   * @throws EnrichError when the sample does not fit the options
   * @throws TypeError, InvalidLocaleError when an option is wrong
   */
  plan(sample: Sample, options: LineOptions & InputFacts): Planned<Plan>
  /** Where the header, the directives and the records of an input are. */
  layout(plan: Plan): Layout<State>
  /** Where the address is, for a message: "in column 2". */
  addressPosition(plan: Plan): string
  /**
   * The names of the fields of its records, whose values can be counted; `null` if a record can have any field. Absent if
   * records have no fields.
   */
  fieldNames?(plan: Plan): readonly string[] | null
  /** How records are written. */
  form(plan: Plan): RecordForm
  /** @param wantsFields whether all fields of the usual records are wanted, and not only those that are counted */
  makeReader(plan: Plan, wantsFields: boolean): RecordReader<State>
  /**
   * Makes the plan for rows. Absent if `plan` makes it, from an empty sample. `null` if rows are refused, because only a
   * header tells where their address is.
   *
   * @throws TypeError when an option is wrong
   */
  readonly planRows?: ((options: RowLineOptions) => Plan) | null
}
