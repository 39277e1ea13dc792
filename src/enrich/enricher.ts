import type { RunningCounts } from './counting/counts.ts'
import type { Block } from './reading/splitter.ts'

/** The output for a block, or for the first part of one. */
export interface Enriched {
  /** The output: in the memory given for it, or in new memory. */
  readonly output: Uint8Array
  /** If the block has columns: where the output has objects in place of rows, the start and the end of each. Absent if it has no rows. */
  readonly objects?: readonly number[] | undefined
  /** The thread that made the output. A packed row can refer to the text of a location in an earlier row of the same thread. */
  readonly source?: number
  /** Counts of this output only, see `block`. Lines are numbered from its start, from 1. */
  readonly counts: RunningCounts
  /** Counts of the other addresses of each line; absent if one is located. */
  readonly others?: readonly RunningCounts[]
  /** Physical lines that start in this part of the block, the header included. A CSV record can span several. */
  readonly lines: number
  /** The rest of the block, in the block's memory, to be enriched next. `null` when the block is done. */
  readonly rest: Block | null
}

/**
 * Enriches blocks of lines by a plan. Blocks are independent: each has the state that the directives before it made. Any
 * enricher of the same plan can take any block.
 */
export abstract class Enricher {
  /**
   * Enriches a block until the output exceeds 16 MiB.
   *
   * @param memory reused for the output if it is large enough; its content is overwritten
   * @throws BadLineError when a line cannot be read and the plan's `onBadLine` is `fail`; its number is in this part
   */
  abstract block(block: Block, memory?: ArrayBufferLike | null): Enriched
  /** The counts of the locations, the times and the fields of all lines since the last call, and nothing else. */
  abstract locationCounts(): RunningCounts
  /** Forgets what `locationCounts` would give. */
  abstract forgetCounts(): void

  /** Enriches a whole block, piece by piece. @param memory for each output @throws BadLineError as `block` does */
  *pieces(block: Block, memory: ArrayBufferLike | null = null): Generator<Enriched> {
    for (let rest: Block | null = block; rest !== null; ) {
      const enriched: Enriched = this.block(rest, memory)
      yield enriched
      rest = enriched.rest
    }
  }
}
