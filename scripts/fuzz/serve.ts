import { setImmediate as turn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { encodeSeed } from '../../test/fuzz/seed.ts'
import type { Target } from '../../test/fuzz/target.ts'
import { generate, SeededSource, smallest } from './generate.ts'
import { Heartbeat } from './heartbeat.ts'

/** The task of a worker. */
export interface Assignment {
  readonly target: string
  readonly seed: number
  /** Milliseconds. */
  readonly time: number
  readonly memory: SharedArrayBuffer
}

/** A finding: an input as a seed's text, and its failure. */
export interface Found {
  readonly seed: string
  readonly failure: string
}

/** How often the worker yields to the event loop, which lets Node free memory outside the heap. */
const TURN_INTERVAL_MS = 50

/** Runs inputs of one target until the time is over or one fails. The body of a worker thread. */
export async function serve(targets: readonly Target[]): Promise<void> {
  const assignment: Assignment = workerData
  const target = targets.find(({ name }) => name === assignment.target)
  if (target === undefined) throw new TypeError(`there is no target ${assignment.target}`)
  parentPort?.postMessage(await new Worker(target, assignment).run())
}

class Worker {
  readonly #target: Target
  readonly #heartbeat: Heartbeat
  readonly #seeds: SeededSource
  readonly #end: number
  #lastTurn = 0

  constructor(target: Target, { seed, time, memory }: Assignment) {
    this.#target = target
    this.#heartbeat = new Heartbeat(memory)
    this.#seeds = new SeededSource(seed)
    this.#end = performance.now() + time
  }

  async run(): Promise<Found | null> {
    while (await this.#hasTime()) {
      const found = this.#try(this.#seeds.next())
      if (found !== null) return found
    }
    return null
  }

  async #hasTime(): Promise<boolean> {
    const now = performance.now()
    if (now > this.#lastTurn + TURN_INTERVAL_MS) {
      this.#lastTurn = now
      await turn()
    }
    return now < this.#end
  }

  #try(seed: number): Found | null {
    this.#heartbeat.begin(seed)
    const { inputs } = this.#target
    const value = generate(inputs, seed)
    const failed = this.#failureOf(value.value)
    if (failed === null) return null
    const { input, failure } = smallest(inputs, value, failed.failure, (smaller) => {
      this.#heartbeat.beat()
      return this.#failureOf(smaller)
    })
    const message = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)
    return { seed: encodeSeed({ note: noteOf(failure), input }), failure: message }
  }

  #failureOf(input: unknown): { readonly failure: unknown } | null {
    try {
      this.#target.check(input)
      return null
    } catch (failure) {
      return { failure }
    }
  }
}

function noteOf(failure: unknown): string {
  const [line = ''] = String(failure).split('\n')
  return `Found by npm run fuzz: ${line.slice(0, 200)}`
}
