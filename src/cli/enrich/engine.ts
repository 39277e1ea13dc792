import { checkAddresses } from '../../enrich/address-check.ts'
import { BlockEnricher, type Enriched } from '../../enrich/block-enricher.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/splitter.ts'
import type { DatabaseInfo } from '../../location/database-info.ts'
import type { DatabaseSet } from '../../location/database-set.ts'

/** Enriches blocks, here or elsewhere. */
export interface Engine {
  /** Blocks that may be under way together: enough to keep it busy, few enough to bound memory. */
  readonly capacity: number
  readonly threads: number
  /** Holds for the blocks that come after. */
  usePlan(plan: Plan): void
  /**
   * Enriches a block, or the first piece of it: the rest is to be given again.
   *
   * @param memory for the output, if it is large enough; it must not be used elsewhere
   * @throws BadLineError when a line cannot be read and the plan says to fail then
   * @throws CommandFailure when a thread ended
   */
  enrich(block: Block, memory: ArrayBuffer | null): Promise<Enriched>
  /** Ends at once, whatever is under way. */
  stop(): void
}

/** Works in the thread of its caller. */
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

  /** @throws EnrichError when there are no addresses at the start of an input; see {@link checkAddresses} */
  checkAddresses(plan: Plan, sample: Uint8Array, isWhole: boolean): void {
    checkAddresses(new BlockEnricher(plan, this.#set), plan, sample, isWhole)
  }

  async enrich(block: Block, memory: ArrayBuffer | null): Promise<Enriched> {
    if (this.#enricher === null) throw new TypeError('a block came before its plan')
    return this.#enricher.block(block, memory)
  }

  stop(): void {}
}
