// Executors enrich blocks, in this thread or in others. A queue keeps their results in order.
import { Pacer } from '../bytes/long-work.ts'
import type { BlockEnricher, Enriched } from './block-enricher.ts'
import type { RunningCounts } from './counting/counts.ts'
import type { Plan } from './formats/formats.ts'
import type { Allocate, Block } from './reading/splitter.ts'

/** Enriches blocks. */
export interface Executor {
  /** The number of blocks that may be in progress at a time. Bounds memory. */
  readonly capacity: number
  /**
   * Sets the plan for the next blocks.
   *
   * @param enricher of the plan, for this thread
   */
  usePlan(plan: Plan, enricher: BlockEnricher): void
  /**
   * Enriches a block, or the first part of it. The caller passes `rest` of the result to another call.
   *
   * @throws BadLineError when a line cannot be read and `onBadLine` of the plan is `fail`
   */
  enrich(block: Block): Promise<Enriched>
  /** The counts of the locations, which results do not have. Call it when no block is in progress, and before another plan is used. */
  locationCounts(): Promise<readonly RunningCounts[]>
  /** Takes back the memory of an output that has been written. */
  release(output: Uint8Array): void
  /** The approximate size of a block. Bytes. */
  readonly blockBytes: number
  /** Gives memory for a block, often that of one that is done. */
  readonly allocate: Allocate
}

/** Enriches one block at a time, in this thread. The receiver of an output can keep it. */
export class LocalExecutor implements Executor {
  readonly capacity = 1
  /** Small, so that a block does not hold up other work of the thread for long. */
  readonly blockBytes = 256 * 1024
  #enricher: BlockEnricher | null = null
  #spare: Uint8Array | null = null
  /** Lets a page react and timers run while an input that never pauses is enriched. */
  readonly #pacer = new Pacer()

  usePlan(_: Plan, enricher: BlockEnricher): void {
    this.#enricher = enricher
  }

  async enrich(block: Block): Promise<Enriched> {
    if (this.#enricher === null) throw new TypeError('a block came before its plan')
    await this.#pacer.pause()
    const enriched = this.#enricher.block(block)
    if (enriched.rest === null) this.#spare = new Uint8Array(block.bytes.buffer)
    return enriched
  }

  async locationCounts(): Promise<readonly RunningCounts[]> {
    return this.#enricher === null ? [] : [this.#enricher.locationCounts()]
  }

  release(): void {}

  readonly allocate: Allocate = (size) => {
    const spare = this.#spare
    this.#spare = null
    return spare?.length === size ? spare : new Uint8Array(size)
  }
}

/** Receives the result of a block, or of a part of it. Calls have the order of the input, and do not overlap. */
export type Receive = (enriched: Enriched, block: Block) => Promise<void>

/**
 * Passes blocks to an executor, and their results to a receiver in the order of the blocks. Bounds the number of blocks
 * in progress.
 */
export class OrderedQueue {
  /** Rejects with the first error of the executor or the receiver. Never resolves. */
  readonly failed: Promise<never>
  /** One for each block in progress, the oldest first: resolves when its result is received. */
  readonly #results: Promise<void>[] = []
  /** The last of them. Each result waits for the one before it. */
  #last: Promise<void> = Promise.resolve()
  #fail: (error: unknown) => void = () => {}

  constructor(
    private readonly executor: Executor,
    private readonly receive: Receive,
  ) {
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => {})
  }

  /**
   * Resolves when there is room for a further block.
   *
   * @throws the error of the executor or the receiver for an earlier block; no later block is received
   */
  async add(block: Block): Promise<void> {
    const enriched = this.executor.enrich(block)
    // The error is handled in #pass, in the order of the blocks.
    enriched.catch(() => {})
    this.#last = this.#pass(this.#last, enriched, block)
    this.#last.catch(this.#fail)
    this.#results.push(this.#last)
    while (this.#results.length >= this.executor.capacity) await this.#results.shift()
  }

  /** Resolves when all results are received. */
  async drain(): Promise<void> {
    await this.#last
  }

  async #pass(before: Promise<void>, enriched: Promise<Enriched>, block: Block): Promise<void> {
    await before
    let result = await enriched
    await this.receive(result, block)
    // Enrich the parts of a block one after another: this bounds the outputs in memory.
    while (result.rest !== null) {
      this.executor.release(result.output)
      result = await this.executor.enrich(result.rest)
      await this.receive(result, block)
    }
    this.executor.release(result.output)
  }
}
