import { Worker } from 'node:worker_threads'
import type { Enriched } from '../../enrich/block-enricher.ts'
import type { RunningCounts } from '../../enrich/counting/counts.ts'
import { BadLineError } from '../../enrich/errors.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/reading/splitter.ts'
import type { SharedDatabases } from '../../location/shared-databases.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'

/**
 * A message to a worker. A plan applies to the blocks that follow it. The worker answers each message, in order.
 */
export type WorkerRequest =
  | { readonly kind: 'plan'; readonly plan: Plan; readonly databases: SharedDatabases }
  | { readonly kind: 'block'; readonly block: Block; readonly memory: SharedArrayBuffer }
  | { readonly kind: 'location-counts' }

/** A message from a worker. A bad line is sent as data, because errors lose their class between threads. Another error ends the worker. */
export type WorkerReply =
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'enriched' } & Enriched)
  | { readonly kind: 'bad-line'; readonly line: number; readonly fault: string }

/** One in progress, and two queued: a worker has work while the main thread enriches a block. */
const BLOCKS_PER_WORKER = 3

/** A third of V8's default, because threads keep few objects. Saves memory in each thread. MB. */
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

  /** @param databases the same for all plans */
  usePlan(plan: Plan, databases: SharedDatabases): void {
    for (const member of this.#members) post(member, { kind: 'plan', plan, databases })
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
    const least = (ready.length > 0 ? ready : this.#members).reduce((best, member) =>
      member.pending.length < best.pending.length ? member : best,
    )
    least.hasLocations = true
    return ask(least, { kind: 'block', block, memory })
  }

  /** The counts of the locations and groups of all blocks so far, once. @throws CommandFailure when a thread failed */
  locationCounts(): Promise<RunningCounts[]> {
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
      else if (reply.kind === 'enriched') pending.shift()?.resolve(reply)
      else pending.shift()?.reject(new BadLineError(reply.line, reply.fault))
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

function post({ worker }: Member, request: WorkerRequest): void {
  worker.postMessage(request)
}

function ask(member: Member, request: WorkerRequest): Promise<Enriched> {
  return new Promise((resolve, reject) => {
    post(member, request)
    member.pending.push({ resolve, reject })
  })
}

/**
 * Starts a worker thread. The build makes the thread's script a separate file. When running from source, the script is
 * TypeScript, which a thread of Node 20 can only load after it has registered tsx.
 */
function startWorker(): Worker {
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB }
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./cli-enrich-worker.cjs', import.meta.url), { resourceLimits })
  }
  const script = JSON.stringify(new URL('./worker.ts', import.meta.url).href)
  const code = `import('tsx/esm/api').then(({ register }) => { register(); return import(${script}) })`
  return new Worker(code, { eval: true, resourceLimits })
}
