// The entry `geofix/enrich`: the place beside every line of a log, over Web or Node streams.

import { type Counts, finishedCounts } from './enrich/counts.ts'
import { enrichedStream, type IterableStream } from './enrich/enriched-stream.ts'
import { type LineInput, sourceOf } from './enrich/line-source.ts'
import type { EnrichOptions, Format } from './enrich/options.ts'
import { Pipeline } from './enrich/pipeline.ts'
import { DATABASE_SET, type Resolver } from './resolver.ts'

export type {
  BadLine,
  CellCount,
  CityCount,
  CountryCount,
  Counts,
  Counts as Tally,
  FailureReason,
  RegionCount,
} from './enrich/counts.ts'
export type { IterableStream } from './enrich/enriched-stream.ts'
export { BadLineError, EnrichError, type EnrichErrorCode } from './enrich/errors.ts'
export type { LineInput } from './enrich/line-source.ts'
export type { EnrichOptions, Format, OnBadLine } from './enrich/options.ts'
export { LOCATION_FIELDS, type LocationField } from './enrich/options.ts'

/** How lines are read, what is added to them, and who knows the places. */
export interface EnrichRunOptions extends EnrichOptions {
  /** Answers; stays open, and the caller's. */
  readonly resolver: Resolver
}

/** What a run has come to. */
export interface EnrichSummary extends Counts {
  /** `null` when the reader stopped before it was known. */
  readonly format: Format | null
  /** What was guessed, in words that should be shown: the format, the field of the address. */
  readonly notes: readonly string[]
}

export interface Enrichment {
  /** The enriched lines as bytes; chunks are whole lines. Can be iterated on every platform. */
  readonly output: IterableStream<Uint8Array>
  /**
   * What was counted, when the output has ended or its reader has cancelled it. Rejected with the error that the
   * output fails with; need not be looked at.
   */
  readonly summary: Promise<EnrichSummary>
}

/** A pair for `pipeThrough`. */
export interface EnrichTransform {
  readonly writable: WritableStream<Uint8Array | string>
  readonly readable: IterableStream<Uint8Array>
  readonly summary: Enrichment['summary']
}

/**
 * Adds to every line of a log where its address is. NDJSON, CSV, TSV, access logs and lists of addresses, told by
 * their content; UTF-8, not compressed. Bytes of the input stay as they are, and so does the order of lines.
 *
 * The input is read as the output is, at most one chunk ahead. A line is given out 50 ms after the input pauses and
 * 200 ms after it came at the latest, provided that the output is read. Memory is bounded by `maxLineBytes`, a sample
 * of 256 KiB and its first two lines, a few times the larger of 256 KiB and the input's chunks, and what is remembered
 * of answers. A chunk of output ends with the line that brings it to 16 MiB. Cancelling the output, also by leaving a
 * loop over it, lets go of the input.
 *
 * The output fails with an `EnrichError` when the input does not fit the options, with a `BadLineError` when a line
 * cannot be read and `onBadLine` is `fail`, with an `InvalidDatabaseError` when the databases hold no locations, and
 * with whatever the input fails with. Text that is no address, or has no location, is no error: it is counted.
 *
 * @param input bytes or text, in chunks of any size
 * @throws TypeError when the input is no stream and cannot be iterated, the resolver is closed or none, or an
 *   option is wrong
 * @throws InvalidLocaleError when `locale` is not a BCP 47 tag
 */
export function enrich(input: LineInput, options: EnrichRunOptions): Enrichment {
  const pipeline = pipelineOf(options)
  const source = sourceOf(input)
  let settle: { resolve(summary: EnrichSummary): void; reject(error: unknown): void } | undefined
  const summary = new Promise<EnrichSummary>((resolve, reject) => {
    settle = { resolve, reject }
  })
  // Whoever reads the output is told of errors there.
  summary.catch(() => {})
  const output = enrichedStream(source, pipeline, {
    ended: () =>
      settle?.resolve({ ...finishedCounts(pipeline.counts), format: pipeline.format, notes: pipeline.notes }),
    failed: (error) => settle?.reject(error),
  })
  return { output, summary }
}

/**
 * The same for `pipeThrough`: `file.stream().pipeThrough(enrichStream({ resolver }))`.
 *
 * @throws TypeError, InvalidLocaleError as {@link enrich}
 */
export function enrichStream(options: EnrichRunOptions): EnrichTransform {
  const { writable, readable: input } = new TransformStream<Uint8Array | string, Uint8Array | string>({
    // The writer is told that its chunk was taken as soon as this returns, and may use its memory again.
    transform: (chunk, controller) =>
      controller.enqueue(chunk instanceof Uint8Array ? new Uint8Array(chunk) : chunk),
  })
  const { output, summary } = enrich(input, options)
  return { writable, readable: output, summary }
}

function pipelineOf(options: EnrichRunOptions): Pipeline {
  const resolver: unknown = options?.resolver
  if (typeof resolver !== 'object' || resolver === null || !(DATABASE_SET in resolver)) {
    throw new TypeError('the option "resolver" must be a Resolver, as Resolver.open gives it')
  }
  return new Pipeline(options.resolver[DATABASE_SET](), options)
}
