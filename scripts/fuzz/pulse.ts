const EXECUTIONS = 0
const SEED = 1
const NUMBERS = 2

/** Memory that a worker and its watchdog share: how far it is, and what it is busy with, also when it hangs. */
export class Pulse {
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(memory = new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory)
  }

  /** Inputs tried, those of making one smaller included. */
  get executions(): number {
    return Atomics.load(this.#numbers, EXECUTIONS)
  }

  /** Of the input that is tried now, or was last. */
  get seed(): number {
    return Atomics.load(this.#numbers, SEED)
  }

  begin(seed: number): void {
    Atomics.store(this.#numbers, SEED, seed)
    this.beat()
  }

  /** Once more with an input that has no seed. */
  beat(): void {
    Atomics.add(this.#numbers, EXECUTIONS, 1)
  }
}
