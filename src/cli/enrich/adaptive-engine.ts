import type { Enriched } from '../../enrich/block-enricher.ts'
import type { Plan } from '../../enrich/formats/formats.ts'
import type { Block } from '../../enrich/splitter.ts'
import type { DatabaseInfo } from '../../location/database-info.ts'
import { checkLocations } from '../location-databases.ts'
import { LocalEngine } from './engine.ts'
import { openShared, type SharedDatabase } from './shared-database.ts'
import { WorkerEngine } from './worker-engine.ts'

/** How many threads a run may have, and from when on. */
export interface Threads {
  readonly count: number
  /** Bytes of input that are enriched without further threads: until then starting them takes longer. */
  readonly from: number
}

/** Starts the threads for an input that is known to be large enough for them; `null` for others. */
export function workersFor(bytes: number | null, { count, from }: Threads): WorkerEngine | null {
  return bytes !== null && bytes > from && count > 1 ? new WorkerEngine(count - 1) : null
}

/** Further blocks whose results wait for those of workers, which come before them. */
const AHEAD = 2

/**
 * Works in its own thread; with worker threads besides from when the input turns out to be large. Theirs is the
 * first choice, so that they never wait; this thread enriches when they have enough, and reads and writes for all.
 */
export class AdaptiveEngine {
  readonly #threads: Threads
  readonly #databases: readonly SharedDatabase[]
  readonly #local: LocalEngine
  #workers: WorkerEngine | null = null
  #plan: Plan | null = null
  #bytes = 0
  /** Memory of outputs that are written. */
  readonly #spares: ArrayBuffer[] = []

  /**
   * @param workers that were started already, see {@link workersFor}
   * @throws InvalidDatabaseError when a file is no MMDB database
   * @throws CommandFailure when one holds no locations
   */
  constructor(databases: readonly SharedDatabase[], threads: Threads, workers: WorkerEngine | null = null) {
    this.#threads = threads
    this.#databases = databases
    const set = openShared(databases)
    checkLocations(set)
    this.#local = new LocalEngine(set)
    this.#workers = workers
    workers?.useDatabases(databases)
  }

  /** The databases, in their order. */
  get databases(): readonly DatabaseInfo[] {
    return this.#local.databases
  }

  get capacity(): number {
    return this.#workers === null ? this.#local.capacity : this.#workers.capacity + AHEAD
  }

  get threads(): number {
    return this.#local.threads + (this.#workers?.threads ?? 0)
  }

  /** @throws InvalidDatabaseError when the databases hold no locations */
  usePlan(plan: Plan): void {
    this.#plan = plan
    // Also where workers do the work: what is wrong with a plan or a database is found out here, with its class.
    this.#local.usePlan(plan)
    this.#workers?.usePlan(plan)
  }

  /** @throws EnrichError when there are no addresses at the start of an input */
  checkAddresses(plan: Plan, sample: Uint8Array, isWhole: boolean): void {
    this.#local.checkAddresses(plan, sample, isWhole)
  }

  enrich(block: Block): Promise<Enriched> {
    this.#bytes += block.bytes.length
    if (this.#bytes > this.#threads.from) this.#startWorkers()
    const workers = this.#workers
    const engine = workers === null || workers.isBusy ? this.#local : workers
    return engine.enrich(block, this.#spares.pop() ?? null)
  }

  /** Takes the memory of an output that nobody reads any more, for others. */
  release(memory: ArrayBuffer): void {
    if (memory.byteLength > 0 && this.#spares.length < this.capacity) this.#spares.push(memory)
  }

  stop(): void {
    this.#workers?.stop()
  }

  #startWorkers(): void {
    if (this.#workers !== null || this.#threads.count === 1) return
    this.#workers = new WorkerEngine(this.#threads.count - 1)
    this.#workers.useDatabases(this.#databases)
    if (this.#plan !== null) this.#workers.usePlan(this.#plan)
  }
}
