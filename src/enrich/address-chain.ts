// Several addresses of a line: each is located in the lines that the plan before writes, block by block.
import type { DatabaseSet } from '../location/database-set.ts'
import { BlockEnricher, type Enriched, type Enricher } from './block-enricher.ts'
import { emptyCounts, type RunningCounts } from './counting/counts.ts'
import { definitionFor, layoutOf, type Plan } from './formats/formats.ts'
import type { Block } from './reading/splitter.ts'

/** A block that is not located by the first plans any more, and what is to be enriched after it. */
interface RestBlock extends Block {
  readonly stage?: number
  readonly after?: RestBlock | null
}

/** Makes the enricher of a plan, and of those that follow it. @throws InvalidDatabaseError when the databases hold no locations */
export function enricherOf(plan: Plan, set: DatabaseSet): Enricher {
  return plan.next === undefined ? new BlockEnricher(plan, set) : new AddressChain(plan, set)
}

class AddressChain implements Enricher {
  readonly #plans: readonly Plan[]
  readonly #stages: readonly BlockEnricher[]

  constructor(plan: Plan, set: DatabaseSet) {
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
      // What a later plan has left comes before what an earlier one has left.
      if (enriched.rest !== null) rest = { ...enriched.rest, stage, after: rest }
      current = this.#nextBlock(current, enriched.output, stage)
    }
    const [first = emptyCounts(), ...others] = counts
    return { output: current.bytes, counts: first, others, lines, rest }
  }

  *pieces(block: Block): Generator<Enriched> {
    for (let rest: Block | null = block; rest !== null; ) {
      const enriched: Enriched = this.block(rest)
      yield enriched
      rest = enriched.rest
    }
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
      // Objects have no header, and a line that is too long is an object of its start.
      headerLine: layoutOf(next).headerLine === 0 ? 0 : block.headerLine,
      oversized: block.oversized && plan.format === next.format,
      state: block.state === undefined ? undefined : definitionFor(plan).stateAfterAdded?.(plan, block.state),
    }
  }
}
