import { type Choices, MAX_WORDS } from './choices.ts'

const EXECUTIONS = 0
const SEED = 1
const WORDS = 2
const KEPT = 3
const BLOCKS = 4
const HEADER = 5

/** Memory that a worker and its watchdog share: how far it is, and what it is busy with, also when it hangs. */
export class Pulse {
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(memory = new SharedArrayBuffer((HEADER + MAX_WORDS) * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory)
  }

  /** Inputs tried, those of making one smaller included. */
  get executions(): number {
    return Atomics.load(this.#numbers, EXECUTIONS)
  }

  /** Inputs that were kept because they reached new code. */
  get kept(): number {
    return Atomics.load(this.#numbers, KEPT)
  }

  /** Parts of the code that were reached. */
  get blocks(): number {
    return Atomics.load(this.#numbers, BLOCKS)
  }

  /** The input that is tried now, or was last. */
  get choices(): Choices {
    const words = this.#numbers.slice(HEADER, HEADER + Atomics.load(this.#numbers, WORDS))
    return { words, seed: Atomics.load(this.#numbers, SEED) }
  }

  begin({ words, seed }: Choices): void {
    this.#numbers.set(words.subarray(0, MAX_WORDS), HEADER)
    Atomics.store(this.#numbers, WORDS, Math.min(words.length, MAX_WORDS))
    Atomics.store(this.#numbers, SEED, seed)
    this.beat()
  }

  /** Once more with an input that is no choices. */
  beat(): void {
    Atomics.add(this.#numbers, EXECUTIONS, 1)
  }

  reached(kept: number, blocks: number): void {
    Atomics.store(this.#numbers, KEPT, kept)
    Atomics.store(this.#numbers, BLOCKS, blocks)
  }
}
