import { setImmediate as turn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { encodeSeed } from '../../test/fuzz/seed.ts'
import type { Target } from '../../test/fuzz/target.ts'
import { Pulse } from './pulse.ts'
import { generate, SeededSource } from './seeded-source.ts'
import { smallest } from './smaller.ts'

/** What a worker is to do. */
export interface Assignment {
  readonly target: string
  readonly seed: number
  /** Milliseconds. */
  readonly time: number
  readonly memory: SharedArrayBuffer
}

/** What a worker has found: an input as a seed's text, and what it fails with. Nothing when the time was over. */
export interface Found {
  readonly seed: string
  readonly failure: string
}

/** Between two turns of the event loop, in which Node lets go of memory outside the heap. Milliseconds. */
const TURN = 50

/** Tries inputs of one target until the time is over or one fails. The body of a worker thread. */
export async function serve(targets: readonly Target[]): Promise<void> {
  const assignment: Assignment = workerData
  const target = targets.find(({ name }) => name === assignment.target)
  if (target === undefined) throw new TypeError(`there is no target ${assignment.target}`)
  parentPort?.postMessage(await new Worker(target, assignment).run())
}

class Worker {
  readonly #target: Target
  readonly #pulse: Pulse
  readonly #seeds: SeededSource
  readonly #end: number
  #lastTurn = 0

  constructor(target: Target, { seed, time, memory }: Assignment) {
    this.#target = target
    this.#pulse = new Pulse(memory)
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
    if (now > this.#lastTurn + TURN) {
      this.#lastTurn = now
      await turn()
    }
    return now < this.#end
  }

  #try(seed: number): Found | null {
    this.#pulse.begin(seed)
    const { inputs } = this.#target
    const value = generate(inputs, seed)
    const failed = this.#failureOf(value.value)
    if (failed === null) return null
    const { input, failure } = smallest(inputs, value, failed.failure, (smaller) => {
      this.#pulse.beat()
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
