const EXECUTIONS = 0
const SEED = 1
const NUMBERS = 2

/** Progress that a worker shares with its watchdog in memory, so that it can be read even if the worker hangs. */
export class Heartbeat {
  readonly memory: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(memory = new SharedArrayBuffer(NUMBERS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#numbers = new Int32Array(memory)
  }

  /** Inputs tried, including those of minimising. */
  get executions(): number {
    return Atomics.load(this.#numbers, EXECUTIONS)
  }

  /** Seed of the current or last input. */
  get seed(): number {
    return Atomics.load(this.#numbers, SEED)
  }

  begin(seed: number): void {
    Atomics.store(this.#numbers, SEED, seed)
    this.beat()
  }

  /** Counts an input without a seed. */
  beat(): void {
    Atomics.add(this.#numbers, EXECUTIONS, 1)
  }
}
