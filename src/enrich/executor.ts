// Executors enrich blocks, in this thread or in others. A queue keeps their results in order.
import { Pacer } from '../bytes/long-work.ts'
import type { DatabaseSet } from '../location/database-set.ts'
import { BlockEnricher } from './block-enricher.ts'
import { emptyCounts, type RunningCounts } from './counting/counts.ts'
import { type Enriched, Enricher } from './enricher.ts'
import { definitionFor, type Plan } from './formats/formats.ts'
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
  usePlan(plan: Plan, enricher: Enricher): void
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
  #enricher: Enricher | null = null
  #spare: Uint8Array | null = null
  /** Lets a page react and timers run while an input that never pauses is enriched. */
  readonly #pacer = new Pacer()

  usePlan(_: Plan, enricher: Enricher): void {
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
  readonly #executor: Executor
  readonly #receive: Receive
  /** One for each block in progress, the oldest first: resolves when its result is received. */
  readonly #results: Promise<void>[] = []
  /** The last of them. Each result waits for the one before it. */
  #last: Promise<void> = Promise.resolve()
  #fail: (error: unknown) => void = () => {}

  constructor(executor: Executor, receive: Receive) {
    this.failed = new Promise((_, reject) => {
      this.#fail = reject
    })
    this.failed.catch(() => {})
    this.#executor = executor
    this.#receive = receive
  }

  /**
   * Resolves when there is room for a further block.
   *
   * @throws the error of the executor or the receiver for an earlier block; no later block is received
   */
  async add(block: Block): Promise<void> {
    const enriched = this.#executor.enrich(block)
    // The error is handled in #pass, in the order of the blocks.
    enriched.catch(() => {})
    this.#last = this.#pass(this.#last, enriched, block)
    this.#last.catch(this.#fail)
    this.#results.push(this.#last)
    while (this.#results.length >= this.#executor.capacity) await this.#results.shift()
  }

  /** Resolves when all results are received. */
  async drain(): Promise<void> {
    await this.#last
  }

  async #pass(before: Promise<void>, enriched: Promise<Enriched>, block: Block): Promise<void> {
    await before
    let result = await enriched
    await this.#receive(result, block)
    // Enrich the parts of a block one after another: this bounds the outputs in memory.
    while (result.rest !== null) {
      this.#executor.release(result.output)
      result = await this.#executor.enrich(result.rest)
      await this.#receive(result, block)
    }
    this.#executor.release(result.output)
  }
}

/** A block that the first plans have located already, and the block that must be enriched after it. */
interface RestBlock extends Block {
  readonly stage?: number
  readonly after?: RestBlock | null
}

/** Makes the enricher of a plan, and of those that follow it. @throws InvalidDatabaseError when the databases hold no locations */
export function enricherOf(plan: Plan, set: DatabaseSet): Enricher {
  return plan.next === undefined ? new BlockEnricher(plan, set) : new AddressChain(plan, set)
}

class AddressChain extends Enricher {
  readonly #plans: readonly Plan[]
  readonly #stages: readonly BlockEnricher[]

  constructor(plan: Plan, set: DatabaseSet) {
    super()
    const plans: Plan[] = []
    for (let each: Plan | undefined = plan; each !== undefined; each = each.next) plans.push(each)
    this.#plans = plans
    this.#stages = plans.map((each) => new BlockEnricher(each, set))
  }

  block(block: RestBlock, memory: ArrayBufferLike | null = null): Enriched {
    const begin = block.stage ?? 0
    const counts: RunningCounts[] = this.#stages.map(() => emptyCounts())
    let current: Block = block
    let rest = block.after ?? null
    let lines = 0
    for (let stage = begin; stage < this.#stages.length; stage++) {
      const isLast = stage === this.#stages.length - 1
      const enriched = this.#stages[stage]?.block(current, isLast ? memory : null)
      if (enriched === undefined) break
      counts[stage] = enriched.counts
      if (stage === 0) lines = enriched.lines
      // The rest of a later plan comes before the rest of an earlier plan.
      if (enriched.rest !== null) rest = { ...enriched.rest, stage, after: rest }
      current = this.#nextBlock(current, enriched.output, stage)
    }
    const [first = emptyCounts(), ...others] = counts
    return { output: current.bytes, counts: first, others, lines, rest }
  }

  locationCounts(): RunningCounts {
    return this.#stages[0]?.locationCounts() ?? emptyCounts()
  }

  forgetCounts(): void {
    for (const stage of this.#stages) stage.forgetCounts()
  }

  /** What a plan has written of a block, for the next one. */
  #nextBlock(block: Block, bytes: Uint8Array, stage: number): Block {
    const plan = this.#plans[stage]
    const next = this.#plans[stage + 1]
    if (plan === undefined || next === undefined) return { ...block, bytes }
    return {
      ...block,
      bytes,
      oversized: block.oversized && this.#stages[stage]?.keepsPieces === true,
      state: block.state === undefined ? undefined : definitionFor(plan).stateAfterAdded?.(plan, block.state),
    }
  }
}
