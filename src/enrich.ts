// The entry `geofix/enrich`: adds a location to every line of a log, over Web or Node streams.

import { type CountOptions, type CountResult, checkedCountPlan, countLines } from './enrich/count.ts'
import { type CountTable, countTable } from './enrich/counting/count-rows.ts'
import { type Counts, finishedCounts } from './enrich/counting/counts.ts'
import { type CountryCount, countriesOf } from './enrich/counting/totals.ts'
import { LocalExecutor } from './enrich/executor.ts'
import { checkOptions, type EnrichOptions, type Format, makePlan } from './enrich/formats/formats.ts'
import { optionsOf } from './enrich/line-options.ts'
import { makeRowPlan, type RowOptions, RowWriter } from './enrich/row-writer.ts'
import { Run } from './enrich/run.ts'
import { enrichedStream, type IterableStream, type LineInput, LineSource } from './enrich/streams.ts'
import type { DatabaseSet } from './location/database-set.ts'
import { BORROW, withDatabases } from './location/database-set.ts'
import { checkOptionNames } from './option-names.ts'
import { isUint8Array, type PlatformWritable } from './realm.ts'
import type { Resolver } from './resolver.ts'

export type { CountOptions, CountResult } from './enrich/count.ts'
export type { CountValue } from './enrich/count-plan.ts'
export type { CountRow, CountTable } from './enrich/counting/count-rows.ts'
export type { BadLine, Counts, Counts as Tally, FailureReason } from './enrich/counting/counts.ts'
export type { CountryCount } from './enrich/counting/totals.ts'
export { BadLineError, EnrichError, type EnrichErrorCode } from './enrich/errors.ts'
export type { EnrichOptions, Format } from './enrich/formats/formats.ts'
export type { OnBadLine, Quoting } from './enrich/options.ts'
export { LOCATION_FIELDS, type LocationField } from './enrich/options.ts'
export type { RowOptions } from './enrich/row-writer.ts'
export type { IterableStream, LineInput } from './enrich/streams.ts'

/** How lines are read, what is added to them, and the resolver that finds the locations. */
export interface EnrichRunOptions extends EnrichOptions {
  /** Looks up the locations. The run does not close it. */
  readonly resolver: Resolver
}

const ENRICH_OPTIONS = { ...optionsOf('enrich'), resolver: true }

/** The result of a run. */
export interface EnrichSummary extends Counts {
  /**
   * Lines with a location by country. The key is the code, or the name without a code, or '' without both. If names have reached
   * their memory limit, lines of further countries are missing.
   */
  readonly countries: ReadonlyMap<string, CountryCount>
  /** Lines with a location by city and coordinates; absent without the option `details`. */
  readonly places?: CountTable | undefined
  /** Lines with a location by weekday, 0 for Monday, and hour at their place; absent without the option `details`. */
  readonly localHours?: CountTable | undefined
  /** `null` if the reader stopped before the format was known. */
  readonly format: Format | null
  /** What was guessed, such as the format and the field of the address. Show these to the user. */
  readonly notes: readonly string[]
}

export interface Enrichment {
  /** The enriched lines as bytes, in chunks of whole lines. Can be iterated on every platform. */
  readonly output: IterableStream<Uint8Array>
  /**
   * Resolves when the output ends or its reader cancels it. Rejects with the error that the output fails with. An
   * unhandled rejection is not reported.
   */
  readonly summary: Promise<EnrichSummary>
}

/** A pair for `pipeThrough`. */
export interface EnrichTransform {
  readonly writable: PlatformWritable
  readonly readable: IterableStream<Uint8Array>
  readonly summary: Enrichment['summary']
}

/**
 * Adds the location of its address to every line of a log or a table. Reads all formats of `Format`, in uncompressed
 * UTF-8. The format is detected from the content. The order of lines is kept. The bytes of a line are kept too, unless
 * its format, or the option `to`, makes it an object.
 *
 * Reading the output reads the input, at most one chunk ahead. While the output is read, a line is written at most
 * 50 ms after the input pauses and at most 200 ms after the line arrives. A chunk of output ends with the line that
 * brings it over 16 MiB. Cancelling the output, or leaving a loop over it, releases the input.
 *
 * Memory is bounded by the sum of `maxLineBytes`, a sample of 256 KiB or of the first two lines if they are longer, a
 * few times the larger of 256 KiB and an input chunk, and the cache of locations.
 *
 * The output fails with an `EnrichError` if the input does not fit the options, with a `BadLineError` if a line
 * cannot be read and `onBadLine` is `fail`, with an `InvalidDatabaseError` if the databases hold no locations, and
 * with any error of the input. Text that is not an address, or has no location, is not an error: it is counted.
 *
 * @param input bytes or text, in chunks of any size
 * @throws TypeError when the input is neither a stream nor iterable, the resolver is closed or missing, or an option
 *   is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function enrich(input: LineInput, options: EnrichRunOptions): Enrichment {
  checkOptionNames('enrich', options, ENRICH_OPTIONS)
  const set = resolverOf(options)[BORROW]()
  try {
    return enrichWith(set, input, options)
  } catch (error) {
    set.release()
    throw error
  }
}

/** @param set has the run as one of its users, until the run ends */
function enrichWith(set: DatabaseSet, input: LineInput, options: EnrichRunOptions): Enrichment {
  checkOptions(options)
  // Copy: the caller can change the object before the sample has been read.
  const planOptions: EnrichOptions = { ...options }
  const source = new LineSource(input)
  let notes: readonly string[] = []
  const run = new Run({
    inputs: [source],
    plan: (sample) => {
      const planned = makePlan(sample, planOptions)
      notes = planned.notes
      return planned.plan
    },
    maxLineBytes: planOptions.maxLineBytes,
    set,
    executor: new LocalExecutor(),
  })
  const { output, ended } = enrichedStream(source, run)
  const summary = ended
    .finally(() => set.release())
    .then((): EnrichSummary => {
      const [countries, ...details] = run.groups
      const [places, localHours] = details.map((totals) => countTable(totals))
      return {
        ...finishedCounts(run.counts),
        countries: countriesOf(countries),
        ...(places && { places, localHours }),
        format: run.format,
        notes,
      }
    })
  // The output fails with the same error, so do not report this rejection as unhandled.
  summary.catch(() => {})
  return { output, summary }
}

/**
 * {@link enrich} for `pipeThrough`: `file.stream().pipeThrough(enrichStream({ resolver }))`.
 *
 * @throws TypeError, InvalidLocaleError as `enrich` does
 */
export function enrichStream(options: EnrichRunOptions): EnrichTransform {
  checkOptionNames('enrichStream', options, ENRICH_OPTIONS)
  const { writable, readable: input } = new TransformStream<Uint8Array | string, Uint8Array | string>({
    // Copy: the writer may reuse the chunk's memory as soon as this returns.
    transform: (chunk, controller) =>
      controller.enqueue(chunk instanceof Uint8Array ? new Uint8Array(chunk) : chunk),
  })
  const { output, summary } = enrich(input, options)
  return { writable, readable: output, summary }
}

/** How lines are counted, and the resolver that finds their locations. */
export interface CountRunOptions extends CountOptions {
  /** Looks up the locations. The run does not close it. */
  readonly resolver: Resolver
}

/**
 * Counts the lines of a log by their locations, their times, or fields of the log. Reads what {@link enrich} reads, and resolves
 * each address once. Lines without a location are counted with `null` as its value; blank and unreadable lines have no row.
 *
 * Memory is bounded as that of `enrich`, and by `maxGroups`.
 *
 * Rejects with the errors that the output of `enrich` fails with, and with an `EnrichError` if a key is neither known nor a field
 * of the log.
 *
 * @param input bytes or text, in chunks of any size
 * @throws TypeError when the input is neither a stream nor iterable, the resolver is closed or missing, or an option
 *   is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export async function count(input: LineInput, options: CountRunOptions): Promise<CountResult> {
  const plan = checkedCountPlan(options)
  const set = resolverOf(options)[BORROW]()
  try {
    return await countLines(set, input, options, plan)
  } finally {
    set.release()
  }
}

/** How rows are read, what is added to them, and the resolver that finds the locations. */
export interface RowEnricherOptions extends RowOptions {
  /** Looks up the locations. The enricher does not close it. After it reloads a file, rows get the new locations. */
  readonly resolver: Resolver
}

/**
 * Adds the location to rows: see {@link createRowEnricher}.
 *
 * @throws TypeError when the rows are not bytes, or the resolver is closed
 */
export type RowEnricher = (rows: Uint8Array | readonly Uint8Array[]) => Uint8Array[]

/**
 * Makes a synchronous function that adds the location to rows. It returns exactly one row for each input row, in order,
 * even for rows that are blank, too long or unreadable. It guesses nothing: how a row is read depends on the options
 * alone, and never on other rows.
 *
 * The function takes an array of rows, or bytes in which a line feed ends each row; the last can lack it. The returned
 * rows have no line feeds, and share one buffer. A line feed or carriage return inside a row becomes a space, or `\n` and
 * `\r` if `quoting` is `none`. A carriage return at the end of a row is kept if the row keeps its bytes.
 *
 * @throws TypeError when an option is missing or wrong, or the resolver is closed
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 * @throws EnrichError when the format has no such field, or a row would have two members with one name
 * @throws InvalidDatabaseError when the databases have no locations
 */
export function createRowEnricher(options: RowEnricherOptions): RowEnricher {
  checkOptionNames('createRowEnricher', options, { ...optionsOf('rows'), resolver: true })
  const resolver = resolverOf(options)
  // The first use, so that a closed resolver and wrong options are refused now.
  let made = withDatabases(resolver, (set) => {
    const plan = makeRowPlan(options)
    return { plan, set, enricher: new RowWriter(plan, set) }
  })
  return (rows) =>
    withDatabases(resolver, (set) => {
      if (set !== made.set) made = { ...made, set, enricher: new RowWriter(made.plan, set) }
      if (isUint8Array(rows)) return made.enricher.rowsIn(rows)
      if (Array.isArray(rows)) return made.enricher.rows(rows)
      throw new TypeError('the rows must be a Uint8Array or an array of them')
    })
}

/** @throws TypeError when the resolver is missing */
function resolverOf(options: { readonly resolver: Resolver }): Resolver {
  const resolver: unknown = options?.resolver
  if (typeof resolver !== 'object' || resolver === null || !(BORROW in resolver)) {
    throw new TypeError('the option "resolver" must be a Resolver, as Resolver.open returns it')
  }
  return options.resolver
}
