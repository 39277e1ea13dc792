import type { DatabaseSet } from '../record/database-set.ts'
import { checkAddresses } from './address-check.ts'
import { commonPlan } from './common-plan.ts'
import { Enricher } from './enricher.ts'
import type { Format } from './format.ts'
import type { EnrichOptions } from './options.ts'
import { makePlan } from './plan.ts'
import { type Block, Splitter } from './splitter.ts'
import { emptyTally, mergeTally, type Tally } from './tally.ts'

/** What format and fields are told by. Bytes. */
export const SAMPLE_BYTES = 256 * 1024

/** Small, so that other work of the thread gets its turn after a few milliseconds. Bytes. */
const BLOCK_BYTES = 256 * 1024

/** From chunks of an input to chunks of output, on one thread. */
export class Pipeline {
  /** What was counted so far. */
  readonly tally: Tally = emptyTally()
  /** `null` until enough of the input is known. */
  format: Format | null = null
  /** What was guessed, in words. */
  notes: readonly string[] = []
  readonly #set: DatabaseSet
  readonly #options: EnrichOptions
  #sample: Uint8Array[] = []
  #sampleBytes = 0
  #work: { readonly splitter: Splitter; readonly enricher: Enricher } | null = null

  /** @throws TypeError, InvalidLocaleError when an option is wrong that all formats have */
  constructor(set: DatabaseSet, options: EnrichOptions) {
    this.#set = set
    commonPlan(options)
    // A copy: the caller's object may change before the sample is there.
    this.#options = { ...options }
  }

  /** Takes a chunk and gives what it completes, piece by piece as it is asked for. */
  *push(chunk: Uint8Array): Generator<Uint8Array> {
    if (this.#work === null) {
      this.#sample.push(chunk)
      this.#sampleBytes += chunk.length
      if (this.#sampleBytes >= SAMPLE_BYTES) yield* this.#begin(false)
    } else yield* this.#enrich(this.#work, this.#work.splitter.push(chunk))
  }

  /** The rest, when the input has ended. */
  *end(): Generator<Uint8Array> {
    if (this.#work === null) yield* this.#begin(true)
    if (this.#work !== null) yield* this.#enrich(this.#work, this.#work.splitter.end())
  }

  *#begin(isWhole: boolean): Generator<Uint8Array> {
    const chunks = this.#sample
    this.#sample = []
    const sample = joined(chunks, this.#sampleBytes)
    const { plan, notes } = makePlan(sample, isWhole, this.#options)
    this.format = plan.format
    this.notes = notes
    const work = { splitter: new Splitter(plan, BLOCK_BYTES), enricher: new Enricher(plan, this.#set) }
    checkAddresses(work.enricher, plan, sample, isWhole)
    this.#work = work
    for (const chunk of chunks) yield* this.#enrich(work, work.splitter.push(chunk))
  }

  *#enrich({ enricher }: { readonly enricher: Enricher }, blocks: readonly Block[]): Generator<Uint8Array> {
    for (const block of blocks) {
      for (const { output, tally } of enricher.pieces(block)) {
        mergeTally(this.tally, tally)
        if (output.length > 0) yield output
      }
    }
  }
}

/** The chunks as one, but no more of the last than the sample wants. */
function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(Math.min(size, SAMPLE_BYTES))
  let at = 0
  for (const chunk of chunks) {
    const part = chunk.subarray(0, bytes.length - at)
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
