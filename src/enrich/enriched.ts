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
  /** Physical lines that start in this part of the block, the header included. A CSV record can span several. */
  readonly lines: number
  /** The rest of the block, in the block's memory, to be enriched next. `null` when the block is done. */
  readonly rest: Block | null
}
