import type { DatabaseSet } from '../location/database-set.ts'
import { checkAddresses } from './address-check.ts'
import { BlockEnricher } from './block-enricher.ts'
import { BlockReader, type ChunkSource } from './block-reader.ts'
import { emptyCounts, mergeCounts, type RunningCounts } from './counts.ts'
import { commonPlan, type EnrichOptions, type Format } from './options.ts'
import { makePlan } from './plan.ts'

/** From chunks of an input to chunks of output, on one thread. */
export class Pipeline {
  /** What was counted so far. */
  readonly counts: RunningCounts = emptyCounts()
  /** `null` until enough of the input is known. */
  format: Format | null = null
  /** What was guessed, in words. */
  notes: readonly string[] = []
  readonly #set: DatabaseSet
  readonly #options: EnrichOptions
  #isStopped = false

  /** @throws TypeError, InvalidLocaleError when an option is wrong that all formats have */
  constructor(set: DatabaseSet, options: EnrichOptions) {
    this.#set = set
    commonPlan(options)
    // A copy: the caller's object may change before the sample is there.
    this.#options = { ...options }
  }

  /** The output, piece by piece as it is asked for. To be called once. */
  async *outputs(source: ChunkSource): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = new BlockReader(source, true, this.#options.maxLineBytes)
    const { plan, enricher } = await reader.plan((sample, isWhole) => {
      const { plan, notes } = makePlan(sample, isWhole, this.#options)
      const enricher = new BlockEnricher(plan, this.#set)
      checkAddresses(enricher, plan, sample, isWhole)
      this.format = plan.format
      this.notes = notes
      return { plan, enricher }
    })
    for await (const block of reader.blocks(plan)) {
      if (this.#isStopped) return
      for (const { output, counts } of enricher.pieces(block)) {
        mergeCounts(this.counts, counts)
        if (output.length > 0) yield output
      }
    }
  }

  /** Counts nothing more, whatever is still under way. */
  stop(): void {
    this.#isStopped = true
  }
}
