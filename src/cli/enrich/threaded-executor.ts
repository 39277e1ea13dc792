import type { BlockEnricher, Enriched } from '../../enrich/block-enricher.ts'
import type { RunningCounts } from '../../enrich/counting/counts.ts'
import type { Executor } from '../../enrich/executor.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Allocate, Block } from '../../enrich/reading/splitter.ts'
import type { SharedDatabases } from '../../location/shared-databases.ts'
import { limitInlining } from '../v8-flags.ts'
import type { WorkerPool } from './worker-pool.ts'

/** Blocks in progress in addition to the workers' capacity: results of this thread wait for those of earlier blocks. */
const BLOCKS_AHEAD = 4
/** Blocks in memory without workers: one is written while the next is enriched. More would only take memory. */
const BLOCKS_ALONE = 2

/** Larger blocks take fewer messages, and fewer addresses are looked up by two threads, but they take more memory. */
const BLOCK_BYTES = 512 * 1024

/** The memory for outputs grows if it is less than this many times the last output, because the next can be larger. */
const SPARE_ROOM = 1.15
/** It then becomes this many times the last output. */
const OUTPUT_MARGIN = 1.3
/** The memory of larger outputs, those of long lines, is not kept. */
const MAX_OUTPUT_BYTES = 2 ** 25

/** Limit for all outputs in progress. Each thread can always have one, while another one is written. */
const MAX_OUTPUTS_BYTES = 48 * 1024 * 1024

/** Starts the threads that a run has besides its own; `null` if it has none, or is aborted. */
export async function workersFor(threads: number, signal: AbortSignal): Promise<WorkerPool | null> {
  if (threads === 1) return null
  const { WorkerPool } = await import('./worker-pool.ts')
  return signal.aborted ? null : new WorkerPool(threads - 1)
}

/**
 * Enriches in this thread, and in worker threads if there are any. Workers get blocks first, so that they never wait. This thread
 * enriches only when they are busy, since it also reads and writes for all.
 */
export class ThreadedExecutor implements Executor {
  readonly blockBytes = BLOCK_BYTES
  #enricher: BlockEnricher | null = null
  /**
   * Memory for reuse, of outputs that have been written and of blocks that are done. What workers see is shared with
   * them and not transferred: V8 counts transferred memory as new, and collects garbage more often.
   */
  readonly #outputs: ArrayBuffer[] = []
  readonly #sharedOutputs: SharedArrayBuffer[] = []
  readonly #blocks: ArrayBufferLike[] = []
  /** Size of the memory for an output. Bytes. */
  #outputBytes = 4 * BLOCK_BYTES

  /** @param databases for the workers, if there are any */
  constructor(
    private readonly databases: SharedDatabases | null,
    private readonly workers: WorkerPool | null,
  ) {}

  get capacity(): number {
    if (this.workers === null) return BLOCKS_ALONE
    const most = this.workers.capacity + BLOCKS_AHEAD
    const inMemory = Math.floor(MAX_OUTPUTS_BYTES / this.#outputBytes)
    return Math.min(most, Math.max(inMemory, this.threads + 1))
  }

  /** The threads that enrich. */
  get threads(): number {
    return 1 + (this.workers?.threads ?? 0)
  }

  usePlan(plan: Plan, enricher: BlockEnricher): void {
    this.#enricher = enricher
    if (this.databases !== null) this.workers?.usePlan(plan, this.databases)
    limitInlining()
  }

  async enrich(block: Block): Promise<Enriched> {
    if (this.#enricher === null) throw new TypeError('a block came before its plan')
    const { workers } = this
    // Pieces of overlong lines stay in this thread: a message would copy them, and their outputs need no other memory.
    const enriched = block.oversized
      ? this.#enricher.block(block)
      : workers === null || workers.isBusy
        ? this.#enricher.block(block, this.#spare(this.#outputs) ?? new ArrayBuffer(this.#outputBytes))
        : await workers.enrich(
            block,
            this.#spare(this.#sharedOutputs) ?? new SharedArrayBuffer(this.#outputBytes),
          )
    if (enriched.rest === null) this.#keepBlock(block.bytes.buffer)
    const { length } = enriched.output
    // Grow in large steps, because memory of the old size cannot be reused.
    if (length * SPARE_ROOM > this.#outputBytes) {
      this.#outputBytes = Math.min(Math.ceil(length * OUTPUT_MARGIN), MAX_OUTPUT_BYTES)
    }
    return enriched
  }

  async locationCounts(): Promise<readonly RunningCounts[]> {
    const ofWorkers = (await this.workers?.locationCounts()) ?? []
    return this.#enricher === null ? ofWorkers : [this.#enricher.locationCounts(), ...ofWorkers]
  }

  release({ buffer }: Uint8Array): void {
    if (buffer.byteLength > MAX_OUTPUT_BYTES) return
    if (buffer instanceof SharedArrayBuffer) this.#keep(buffer, this.#sharedOutputs)
    else this.#keep(buffer, this.#outputs)
  }

  readonly allocate: Allocate = (size) => {
    const spare = size === this.blockBytes ? this.#blocks.pop() : undefined
    return new Uint8Array(
      spare ?? (this.workers === null ? new ArrayBuffer(size) : new SharedArrayBuffer(size)),
    )
  }

  #spare<Memory extends ArrayBufferLike>(spares: Memory[]): Memory | null {
    const spare = spares.pop()
    return spare !== undefined && spare.byteLength >= this.#outputBytes ? spare : null
  }

  /** The memory of a block with a long line is larger, and is not kept. */
  #keepBlock(buffer: ArrayBufferLike): void {
    if (buffer.byteLength === this.blockBytes) this.#keep(buffer, this.#blocks)
  }

  #keep<Memory extends ArrayBufferLike>(memory: Memory, spares: Memory[]): void {
    if (spares.length < this.capacity) spares.push(memory)
  }

  /** Ends the threads at once, without completing blocks in progress, and gives up the memory for blocks. */
  stop(): void {
    this.workers?.stop()
    this.#enricher = null
    for (const spares of [this.#outputs, this.#sharedOutputs, this.#blocks]) spares.length = 0
  }
}
