// Enriches in this thread, and in a pool of worker threads if the input is large enough.
import { Worker } from 'node:worker_threads'
import type { BlockEnricher, Enriched } from '../../enrich/block-enricher.ts'
import type { Counts } from '../../enrich/counts.ts'
import { BadLineError } from '../../enrich/errors.ts'
import { type Executor, isDone } from '../../enrich/executor.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Allocate, Block } from '../../enrich/splitter.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'
import { expanded, type SharedDatabase } from './shared-database.ts'

/**
 * A message to a worker. The databases come first. A plan applies to the blocks that follow it. The worker answers each
 * plan, each block and each request for the counts of locations, in order.
 */
export type WorkerRequest =
  | { readonly kind: 'databases'; readonly databases: readonly SharedDatabase[] }
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'block'; readonly block: Block; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'location-counts' }

/** A message from a worker. Errors are sent as data, because they lose their class between threads. */
export type WorkerReply =
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'enriched' } & Enriched)
  | { readonly kind: 'bad-line'; readonly line: number; readonly fault: string }
  | { readonly kind: 'failed'; readonly message: string }

/** How many threads a run can have, and when it starts them. */
export interface Threads {
  readonly count: number
  /** Start workers for inputs larger than this: for others it takes longer than it saves. Bytes. */
  readonly from: number
}

/** Starts the workers for an input whose size is known and large enough. `null` for other inputs. */
export function workersFor(bytes: number | null, { count, from }: Threads): WorkerPool | null {
  return bytes !== null && bytes > from && count > 1 ? new WorkerPool(count - 1) : null
}

/** Blocks in progress in addition to the workers' capacity: results of this thread wait for those of earlier blocks. */
const BLOCKS_AHEAD = 4

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

/**
 * Enriches in this thread, and in worker threads once the input is large. Workers get blocks first, so that they never
 * wait. This thread enriches only when they are busy, since it also reads and writes for all.
 */
export class AdaptiveExecutor implements Executor {
  readonly blockBytes = BLOCK_BYTES
  readonly #threads: Threads
  readonly #databases: readonly SharedDatabase[]
  #workers: WorkerPool | null = null
  #plan: Plan | null = null
  #enricher: BlockEnricher | null = null
  #bytes = 0
  /**
   * Memory for reuse, of outputs that have been written and of blocks that are done. What workers see is shared with
   * them and not transferred: V8 counts transferred memory as new, and collects garbage more often.
   */
  readonly #outputs: ArrayBuffer[] = []
  readonly #sharedOutputs: SharedArrayBuffer[] = []
  readonly #blocks: ArrayBufferLike[] = []
  /** Size of the memory for an output. Bytes. */
  #outputBytes = 4 * BLOCK_BYTES

  /**
   * @param databases expanded if there are workers; later ones get them expanded
   * @param workers that are already running, see {@link workersFor}
   */
  constructor(databases: readonly SharedDatabase[], threads: Threads, workers: WorkerPool | null = null) {
    this.#threads = threads
    this.#databases = databases
    this.#workers = workers
    workers?.useDatabases(databases)
  }

  get capacity(): number {
    const most = (this.#workers?.capacity ?? 0) + BLOCKS_AHEAD
    const inMemory = Math.floor(MAX_OUTPUTS_BYTES / this.#outputBytes)
    return Math.min(most, Math.max(inMemory, this.threads + 1))
  }

  /** The threads that enrich. */
  get threads(): number {
    return 1 + (this.#workers?.threads ?? 0)
  }

  usePlan(plan: Plan, enricher: BlockEnricher): void {
    this.#plan = plan
    this.#enricher = enricher
    this.#workers?.usePlan(plan)
  }

  async enrich(block: Block): Promise<Enriched> {
    if (this.#enricher === null) throw new TypeError('a block came before its plan')
    this.#bytes += block.bytes.length
    if (this.#bytes > this.#threads.from) this.#startWorkers()
    const workers = this.#workers
    const enriched =
      workers === null || workers.isBusy
        ? this.#enricher.block(block, this.#spare(this.#outputs) ?? new ArrayBuffer(this.#outputBytes), false)
        : await workers.enrich(
            block,
            this.#spare(this.#sharedOutputs) ?? new SharedArrayBuffer(this.#outputBytes),
          )
    const { buffer } = block.bytes
    // The memory of a block with a long line is larger, and is not kept.
    if (isDone(block, enriched) && buffer.byteLength === this.blockBytes) this.#keep(buffer, this.#blocks)
    const { length } = enriched.output
    // Grow in large steps, because memory of the old size cannot be reused.
    if (length * SPARE_ROOM > this.#outputBytes) {
      this.#outputBytes = Math.min(Math.ceil(length * OUTPUT_MARGIN), MAX_OUTPUT_BYTES)
    }
    return enriched
  }

  async locationCounts(): Promise<readonly Counts[]> {
    const ofWorkers = (await this.#workers?.locationCounts()) ?? []
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
      spare ?? (this.#workers === null ? new ArrayBuffer(size) : new SharedArrayBuffer(size)),
    )
  }

  #spare<Memory extends ArrayBufferLike>(spares: Memory[]): Memory | null {
    const spare = spares.pop()
    return spare !== undefined && spare.byteLength >= this.#outputBytes ? spare : null
  }

  #keep<Memory extends ArrayBufferLike>(memory: Memory, spares: Memory[]): void {
    if (spares.length < this.capacity) spares.push(memory)
  }

  /** Ends the threads at once, without completing blocks in progress. */
  stop(): void {
    this.#workers?.stop()
  }

  #startWorkers(): void {
    if (this.#workers !== null || this.#threads.count === 1) return
    this.#workers = new WorkerPool(this.#threads.count - 1)
    this.#workers.useDatabases(this.#databases.map(expanded))
    if (this.#plan !== null) this.#workers.usePlan(this.#plan)
  }
}

/** One in progress, and two queued: a worker has work while the main thread enriches a block. */
const BLOCKS_PER_WORKER = 3

/** A third of the default, which saves 30 MB a thread and takes no more time. MB. */
const YOUNG_GENERATION_MB = 12

/** The promise of a result that a worker has not sent. */
interface PendingResult {
  readonly resolve: (enriched: Enriched) => void
  readonly reject: (error: Error) => void
}

interface Member {
  readonly worker: Worker
  /** The oldest first: a worker answers in order. */
  readonly pending: PendingResult[]
  /** Whether it has opened the databases. */
  isReady: boolean
  /** Whether it got blocks whose locations are not counted. */
  hasLocations: boolean
}

/** Enriches in worker threads, which share one copy of the databases. */
export class WorkerPool {
  readonly capacity: number
  readonly threads: number
  readonly #members: readonly Member[]
  #failure: CommandFailure | null = null
  #isStopped = false

  /** Starts the threads at once: they start up while the caller reads the databases. */
  constructor(threads: number) {
    this.threads = threads
    this.capacity = threads * BLOCKS_PER_WORKER + 1
    this.#members = Array.from({ length: threads }, () => this.#start())
  }

  /** Call this before the first `usePlan`. */
  useDatabases(databases: readonly SharedDatabase[]): void {
    for (const { worker } of this.#members) post(worker, { kind: 'databases', databases })
  }

  usePlan(plan: Plan): void {
    for (const { worker } of this.#members) post(worker, { kind: 'plan', plan })
  }

  /** Whether each worker has all the blocks that it can take, or is still starting. */
  get isBusy(): boolean {
    if (this.#failure !== null) return false
    return this.#members.every(({ pending, isReady }) => !isReady || pending.length >= BLOCKS_PER_WORKER)
  }

  /**
   * @param memory for the output, if it is large enough
   * @throws BadLineError when a line cannot be read and `onBadLine` of the plan is `fail`
   * @throws CommandFailure when a thread failed
   */
  enrich(block: Block, memory: SharedArrayBuffer): Promise<Enriched> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    const ready = this.#members.filter(({ isReady }) => isReady)
    const [first, ...others] = ready.length > 0 ? ready : this.#members
    if (first === undefined) return Promise.reject(new TypeError('there are no threads'))
    const least = others.reduce(
      (best, member) => (member.pending.length < best.pending.length ? member : best),
      first,
    )
    least.hasLocations = true
    return ask(least, { kind: 'block', block, memory })
  }

  /** The counts of the locations of all blocks so far, once. @throws CommandFailure when a thread failed */
  locationCounts(): Promise<Counts[]> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    // A thread that got no block can still be starting: do not wait for it.
    const members = this.#members.filter(({ hasLocations }) => hasLocations)
    return Promise.all(
      members.map(async (member) => {
        member.hasLocations = false
        return (await ask(member, { kind: 'location-counts' })).counts
      }),
    )
  }

  /** Ends the threads at once. */
  stop(): void {
    this.#isStopped = true
    for (const { worker } of this.#members) void worker.terminate()
  }

  #start(): Member {
    const worker = startWorker()
    const member: Member = { worker, pending: [], isReady: false, hasLocations: false }
    const { pending } = member
    worker.on('message', (reply: WorkerReply) => {
      if (reply.kind === 'ready') member.isReady = true
      else {
        const next = pending.shift()
        if (next !== undefined) settle(next, reply)
      }
    })
    worker.on('messageerror', (error) => this.#fail(error.message, error))
    worker.on('error', (error) => this.#fail(error.message, error))
    worker.on('exit', (code) => this.#fail(`it exited with code ${code}`))
    return member
  }

  /** Fails all pending results. The run cannot go on, because the blocks of a dead thread are lost. */
  #fail(why: string, cause?: unknown): void {
    if (this.#isStopped || this.#failure !== null) return
    this.#failure = new CommandFailure(`a worker thread failed: ${why}`, ExitStatus.failed, cause)
    for (const { pending } of this.#members) {
      for (const { reject } of pending.splice(0)) reject(this.#failure)
    }
  }
}

function post(worker: Worker, request: WorkerRequest): void {
  worker.postMessage(request)
}

function ask({ worker, pending }: Member, request: WorkerRequest): Promise<Enriched> {
  return new Promise((resolve, reject) => {
    post(worker, request)
    pending.push({ resolve, reject })
  })
}

function settle({ resolve, reject }: PendingResult, reply: Exclude<WorkerReply, { kind: 'ready' }>): void {
  if (reply.kind === 'enriched') resolve(reply)
  else if (reply.kind === 'bad-line') reject(new BadLineError(reply.line, reply.fault))
  else reject(new CommandFailure(`a worker thread failed: ${reply.message}`, ExitStatus.failed))
}

/**
 * Starts a worker thread. The build makes the thread's script a separate file. When running from source, the script is
 * TypeScript, which a thread of Node 20 can only load after it has registered tsx.
 */
function startWorker(): Worker {
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB }
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./cli-enrich-worker.js', import.meta.url), { resourceLimits })
  }
  const script = JSON.stringify(new URL('./worker.ts', import.meta.url).href)
  const code = `import('tsx/esm/api').then(({ register }) => { register(); return import(${script}) })`
  return new Worker(code, { eval: true, resourceLimits })
}
