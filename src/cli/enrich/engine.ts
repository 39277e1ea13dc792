import { checkAddresses } from '../../enrich/address-check.ts'
import { BlockEnricher, type Enriched } from '../../enrich/block-enricher.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/splitter.ts'
import type { DatabaseInfo } from '../../location/database-info.ts'
import type { DatabaseSet } from '../../location/database-set.ts'

/** Enriches blocks, in this thread or in others. */
export interface Engine {
  /** The number of blocks that may be in progress at a time. Bounds memory. */
  readonly capacity: number
  readonly threads: number
  /** Sets the plan for the blocks after it. */
  usePlan(plan: Plan): void
  /**
   * Enriches a block, or the first part of it. The caller passes `rest` of the result to another call.
   *
   * @param memory for the output, if it is large enough; the caller must not use it after this
   * @throws BadLineError when a line cannot be read and `onBadLine` of the plan is `fail`
   * @throws CommandFailure when a thread failed
   */
  enrich(block: Block, memory: ArrayBuffer | null): Promise<Enriched>
  /** Ends the threads at once, without completing blocks in progress. */
  stop(): void
}

/** Enriches in the thread of its caller. */
export class LocalEngine implements Engine {
  readonly capacity = 2
  readonly threads = 1
  readonly #set: DatabaseSet
  #enricher: BlockEnricher | null = null

  constructor(set: DatabaseSet) {
    this.#set = set
  }

  get databases(): readonly DatabaseInfo[] {
    return this.#set.info
  }

  usePlan(plan: Plan): void {
    this.#enricher = new BlockEnricher(plan, this.#set)
  }

  /** @throws EnrichError when the first records have no address; see {@link checkAddresses} */
  checkAddresses(plan: Plan, sample: Uint8Array, isWhole: boolean): void {
    checkAddresses(new BlockEnricher(plan, this.#set), plan, sample, isWhole)
  }

  async enrich(block: Block, memory: ArrayBuffer | null): Promise<Enriched> {
    if (this.#enricher === null) throw new TypeError('a block came before its plan')
    return this.#enricher.block(block, memory)
  }

  stop(): void {}
}
