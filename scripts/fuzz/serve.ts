import { setImmediate as turn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { encodeSeed } from '../../test/fuzz/seed.ts'
import type { Target } from '../../test/fuzz/target.ts'
import { type Choices, generate } from './choices.ts'
import { BlockCoverage } from './coverage.ts'
import { mutatedChoices } from './mutated-choices.ts'
import { Pulse } from './pulse.ts'
import { seededRandom } from './seeded-random.ts'
import { smallest } from './smaller.ts'

/** What a worker is to do. */
export interface Assignment {
  readonly target: string
  readonly seed: number
  /** Milliseconds. */
  readonly time: number
  readonly guided: boolean
  readonly memory: SharedArrayBuffer
}

/** What a worker has found: an input as a seed's text, and what it fails with. Nothing when the time was over. */
export interface Found {
  readonly seed: string
  readonly failure: string
}

/** Between two turns of the event loop, in which Node lets go of memory outside the heap. Milliseconds. */
const TURN = 50
/** Inputs tried between two looks at the coverage. */
const BATCH = 24
const NOTHING = new Int32Array(0)

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
  readonly #random: (bound: number) => number
  readonly #end: number
  readonly #guided: boolean
  #lastTurn = 0

  constructor(target: Target, { seed, time, guided, memory }: Assignment) {
    this.#target = target
    this.#pulse = new Pulse(memory)
    this.#random = seededRandom(seed)
    this.#end = performance.now() + time
    this.#guided = guided
  }

  run(): Promise<Found | null> {
    return this.#guided ? this.#runGuided() : this.#runBlind()
  }

  async #runBlind(): Promise<Found | null> {
    while (await this.#hasTime()) {
      const found = this.#try({ words: NOTHING, seed: this.#random(2 ** 31) })
      if (found !== null) return found
    }
    return null
  }

  /** Keeps the choices of inputs that reach new code, and mostly changes those. */
  async #runGuided(): Promise<Found | null> {
    const coverage = new BlockCoverage(import.meta.url)
    const seen = coverage.take()
    const corpus: Int32Array[] = []
    const random = this.#random
    try {
      while (await this.#hasTime()) {
        const batch = Array.from({ length: BATCH }, (): Choices => {
          const words = corpus.length === 0 || random(4) === 0 ? NOTHING : mutatedChoices(corpus, random)
          return { words, seed: random(2 ** 31) }
        })
        for (const choices of batch) {
          const found = this.#try(choices)
          if (found !== null) return found
        }
        // Most have nothing new: then one look was enough for all.
        const fresh = [...coverage.take()].filter((part) => !seen.has(part))
        if (fresh.length === 0) continue
        for (const choices of batch) {
          if (this.#try(choices) !== null) break
          const ran = coverage.take()
          if (!fresh.some((part) => ran.has(part) && !seen.has(part))) continue
          for (const part of ran) seen.add(part)
          corpus.push(generate(this.#target.inputs, choices).taken)
        }
        for (const part of fresh) seen.add(part)
        this.#pulse.reached(corpus.length, seen.size)
      }
      return null
    } finally {
      coverage.stop()
    }
  }

  async #hasTime(): Promise<boolean> {
    const now = performance.now()
    if (now > this.#lastTurn + TURN) {
      this.#lastTurn = now
      await turn()
    }
    return now < this.#end
  }

  #try(choices: Choices): Found | null {
    this.#pulse.begin(choices)
    const { inputs } = this.#target
    const { value } = generate(inputs, choices)
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
