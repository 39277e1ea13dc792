import type { ByteSink } from '../../bytes/byte-sink.ts'
import type { FieldRole, FieldValues } from '../counting/field-values.ts'
import type { LineLocator } from '../locating/line-locator.ts'
import type { CommonPlan, LineOptions, Planned } from '../options.ts'
import type { Layout } from '../reading/layout.ts'
import type { LocationTemplate } from '../writing/location-template.ts'
import type { FusedLoop } from './fused-loop.ts'
import type { RowLineOptions } from './row-options.ts'

/** The options that only some formats have. */
export type FormatOption = Exclude<
  keyof LineOptions,
  Exclude<keyof CommonPlan, 'overwrite'> | 'fields' | 'to'
>

/** What is known about an input besides its bytes. Only the command knows it. */
export interface InputFacts {
  /** When its file was last written, in milliseconds since 1970. */
  readonly writtenAt?: number | undefined
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
  /** What it is, for a list of the formats. */
  readonly title: string
  /** Lines of it, with one public address, for the same list. */
  readonly example: string
  /** The options that affect this format, besides those that all formats have. */
  readonly options: readonly FormatOption[]
  /** Whether its lines are also looked for after what container runtimes and syslog write before each line. */
  readonly mayBeWrapped?: boolean
  /** The options that `enrich --rows` and `createRowEnricher` require. */
  readonly requiredForRows: readonly RequiredRowOption[]
  /** Whether the sample, the start of an input, looks like this format. The options can say what is meant by a field. */
  recognise(sample: Uint8Array, options: LineOptions): boolean
  /**
   * Makes the plan, which is plain data: `structuredClone` passes it to worker threads.
   *
   * @param sample the start of the input; empty for rows
   * @param isWhole whether the sample is the whole input
   * @param isCut whether the input paused before the sample was full: a field that it lacks can still come
   * @throws EnrichError when the sample does not fit the options
   * @throws TypeError, InvalidLocaleError when an option is wrong
   */
  plan(
    sample: Uint8Array,
    isWhole: boolean,
    options: LineOptions & InputFacts,
    isCut?: boolean,
  ): Planned<Plan>
  /** Where the header, the directives and the records of an input are. */
  layout(plan: Plan): Layout<State>
  /** The plan for the same input without its preamble and header. Absent if the format has neither. */
  withoutHeader?(plan: Plan): Plan
  /** Where the address is, for a message: "in column 2". */
  addressPosition(plan: Plan): string
  /**
   * The format of the lines that a run writes, in which the next run locates another address of each line. Absent if lines
   * have no fields, or do not keep them.
   *
   * @throws TypeError when these lines lack something that the next run needs
   */
  nextFormat?(plan: Plan): Plan['format'] | 'ndjson'
  /**
   * The names of the fields of its records, whose values can be counted; `null` if a record can have any field. Absent if
   * records have no fields.
   */
  fieldNames?(plan: Plan): readonly string[] | null
  /** The fields that a report counts, as far as records have them. */
  usualFields?(plan: Plan): Readonly<Partial<Record<FieldRole, string>>>
  /** How locations are written. Default: as JSON, without the address. */
  locationTemplate?(plan: Plan): LocationTemplate
  /** What is appended to a line without a location; `null` if lines are not kept. Absent if the format has no `append`. */
  appended?(plan: Plan): Uint8Array | null
  makeLines(plan: Plan, locator: LineLocator): LineFormat<State>
  /**
   * Makes the plan for rows. Absent if `plan` makes it, from an empty sample. `null` if rows are refused, because only a
   * header tells where their address is.
   *
   * @throws TypeError when an option is wrong
   */
  readonly planRows?: ((options: RowLineOptions) => Plan) | null
}

/**
 * The result for a line:
 * - `resolved`: written with a location
 * - `unresolved`: written without a location; the locator has the reason
 * - `bad`: it cannot be read; `fault` says why, and the caller discards what was written
 * - `blank`: it has no content; the caller discards what was written
 */
export type LineResult = 'resolved' | 'unresolved' | 'bad' | 'blank'

/** Reads and writes the lines of one format, by a plan. */
export interface LineFormat<State = unknown> {
  /** Whether lines are rewritten, so that the input's byte order mark and line ends are not kept. */
  readonly rewrites: boolean
  /** After `bad`: what is wrong with the line, as text that can follow "line 7: ". */
  readonly fault: string
  /** After a result other than `bad`: why a user should look at the line, in the same way; '' if nothing is unusual. */
  readonly doubt?: string
  /**
   * Writes the header with the added names; absent if the input has no header line. Called instead of `line`, with
   * the same arguments. Not called for an empty input.
   */
  readonly header?: ((bytes: Uint8Array, start: number, end: number, out: ByteSink) => void) | undefined
  /** Sets the state for the next lines, at the start of a block and after each directive. Only with directives. */
  use?(state: State): void
  /** Writes a directive without its line end, as `header` writes a header. Absent if directives are kept as they are. */
  readonly directive?: ((bytes: Uint8Array, start: number, end: number, out: ByteSink) => void) | undefined
  /**
   * Enriches the record in `bytes[start, end)`, which has no line end and no byte order mark, and writes it
   * without a line end. The record is not empty. `bytes[end]` can be read and is a line end. If the locator
   * does not write lines, what is written is discarded.
   */
  line(bytes: Uint8Array, start: number, end: number, out: ByteSink): LineResult
  /** The values of the `counted` fields of the plan; absent if it has none. */
  readonly values?: FieldValues | undefined
  /**
   * Makes the loop that enriches usual lines faster; `null` if the plan needs what the loop does not do. Before it counts a
   * line, the loop gives {@link values} the `counted` fields.
   */
  makeLoop?(): FusedLoop | null
  /**
   * Only for rows that get the same columns whatever they hold. `line` then takes every row, also an empty one, and is
   * never `bad` or `blank`.
   */
  readonly rowParts?: RowParts
}

/** Writes a row that is not read, such as one that is too long, which comes in parts. */
export interface RowParts {
  /** Whether line ends in a row are escaped. Otherwise the caller replaces them. */
  readonly escapes: boolean
  /** Writes a part. */
  part(bytes: Uint8Array, start: number, end: number, out: ByteSink): void
  /** Writes what comes after the last part. */
  end(out: ByteSink): void
}
