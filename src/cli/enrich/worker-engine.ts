import type { Worker } from 'node:worker_threads'
import type { Enriched } from '../../enrich/block-enricher.ts'
import { BadLineError } from '../../enrich/errors.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/splitter.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'
import type { Engine } from './engine.ts'
import type { SharedDatabase } from './shared-database.ts'
import type { Answer, Order } from './worker-messages.ts'
import { startWorker } from './worker-script.ts'

/** One to work on and one that waits: a worker is never without work while the main thread reads. */
const BLOCKS_PER_WORKER = 2

/** A block that a worker has. */
interface Pending {
  readonly resolve: (enriched: Enriched) => void
  readonly reject: (error: Error) => void
}

interface Member {
  readonly worker: Worker
  /** In the order in which the worker answers. */
  readonly pending: Pending[]
  /** Whether it has come up. */
  isReady: boolean
}

/** Works in worker threads, which share one copy of the databases. */
export class WorkerEngine implements Engine {
  readonly capacity: number
  readonly threads: number
  readonly #members: readonly Member[]
  #fault: CommandFailure | null = null
  #isStopped = false

  /** Starts the threads. They come up while the caller reads the databases. */
  constructor(threads: number) {
    this.threads = threads
    this.capacity = threads * BLOCKS_PER_WORKER + 1
    this.#members = Array.from({ length: threads }, () => this.#start())
  }

  /** Before the first plan. */
  useDatabases(databases: readonly SharedDatabase[]): void {
    for (const { worker } of this.#members) post(worker, { kind: 'databases', databases })
  }

  usePlan(plan: Plan): void {
    for (const { worker } of this.#members) post(worker, { kind: 'plan', plan })
  }

  /** Whether all of them have what they can take, or are still coming up: lines would wait for that. */
  get isBusy(): boolean {
    if (this.#fault !== null) return false
    return this.#members.every(({ pending, isReady }) => !isReady || pending.length >= BLOCKS_PER_WORKER)
  }

  enrich(block: Block, memory: ArrayBuffer | null): Promise<Enriched> {
    if (this.#fault !== null) return Promise.reject(this.#fault)
    const ready = this.#members.filter(({ isReady }) => isReady)
    const [first, ...others] = ready.length > 0 ? ready : this.#members
    if (first === undefined) return Promise.reject(new TypeError('there are no threads'))
    const least = others.reduce(
      (best, member) => (member.pending.length < best.pending.length ? member : best),
      first,
    )
    return new Promise((resolve, reject) => {
      const transfer = memory === null ? [block.bytes.buffer] : [block.bytes.buffer, memory]
      post(least.worker, { kind: 'block', block, memory }, transfer)
      least.pending.push({ resolve, reject })
    })
  }

  stop(): void {
    this.#isStopped = true
    for (const { worker } of this.#members) void worker.terminate()
  }

  #start(): Member {
    const worker = startWorker()
    const member: Member = { worker, pending: [], isReady: false }
    const { pending } = member
    worker.on('message', (answer: Answer) => {
      if (answer.kind === 'ready') member.isReady = true
      else {
        const next = pending.shift()
        if (next !== undefined) settle(next, answer)
      }
    })
    worker.on('messageerror', (error) => this.#fail(error.message, error))
    worker.on('error', (error) => this.#fail(error.message, error))
    worker.on('exit', (code) => this.#fail(`it ended with ${code}`))
    return member
  }

  /** A thread that died takes its blocks with it: the run cannot go on. */
  #fail(why: string, cause?: unknown): void {
    if (this.#isStopped || this.#fault !== null) return
    this.#fault = new CommandFailure(`a worker thread failed: ${why}`, ExitStatus.failed, cause)
    for (const { pending } of this.#members) {
      for (const { reject } of pending.splice(0)) reject(this.#fault)
    }
  }
}

function post(worker: Worker, order: Order, transfer: readonly ArrayBuffer[] = []): void {
  worker.postMessage(order, transfer)
}

function settle({ resolve, reject }: Pending, answer: Exclude<Answer, { kind: 'ready' }>): void {
  if (answer.kind === 'enriched') resolve(answer)
  else if (answer.kind === 'bad-line') reject(new BadLineError(answer.line, answer.fault))
  else reject(new CommandFailure(`a worker thread failed: ${answer.message}`, ExitStatus.failed))
}
