import type { DatabaseSet } from '../location/database-set.ts'
import { checkAddresses } from './address-check.ts'
import { BlockEnricher } from './block-enricher.ts'
import { BlockReader, type ChunkSource } from './block-reader.ts'
import { emptyCounts, mergeCounts, type RunningCounts } from './counts.ts'
import { commonPlan, type EnrichOptions, type Format } from './options.ts'
import { makePlan } from './plan.ts'

/** Turns chunks of input into chunks of output, on one thread. */
export class Pipeline {
  /** Counts of the output so far. */
  readonly counts: RunningCounts = emptyCounts()
  /** `null` until the sample of the input has been read. */
  format: Format | null = null
  /** What was guessed, in words for the user. */
  notes: readonly string[] = []
  readonly #set: DatabaseSet
  readonly #options: EnrichOptions
  #isStopped = false

  /** @throws TypeError, InvalidLocaleError when an option that all formats have is wrong */
  constructor(set: DatabaseSet, options: EnrichOptions) {
    this.#set = set
    commonPlan(options)
    // Copy: the caller can change the object before the sample has been read.
    this.#options = { ...options }
  }

  /** The output, chunk by chunk. Call it once. */
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

  /** Stops before the next block, so that blocks still being read are not counted. */
  stop(): void {
    this.#isStopped = true
  }
}
