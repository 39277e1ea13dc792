import { Run, type RunInput, type RunSettings } from '../../enrich/run.ts'
import { inWords } from './command-errors.ts'
import type { Output } from './output.ts'

/** Bytes on their way to the run; `null` is the end. */
interface Handover {
  readonly bytes: Uint8Array | null
  /** The run has read them, and their memory can be reused. */
  readonly taken: () => void
}

/** Locates one more address in the lines that a run writes: an output whose lines are the input of a run of its own. */
export class NextRun implements Output {
  readonly run: Run
  readonly #target: Output
  #offered: Handover | null = null
  #reading: Handover | null = null
  /** Wakes the run, which waits for bytes. */
  #wake: (() => void) | null = null
  /** Resolves when the run has written its last line. `null` before the first line. */
  #completed: Promise<void> | null = null
  #isEnded = false

  /**
   * @param name of the lines, for messages
   * @param isLive whether the lines can pause
   */
  constructor(target: Output, name: string, isLive: boolean, settings: Omit<RunSettings, 'inputs'>) {
    this.#target = target
    const input: RunInput = { name, isLive, read: () => this.#read() }
    this.run = new Run({ ...settings, inputs: [input] })
  }

  /** @throws CommandFailure, ClosedPipe and what else the run fails with */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0) await this.#offer(bytes)
  }

  async flush(): Promise<void> {
    if (this.#completed !== null && !this.#isEnded) {
      this.#isEnded = true
      await this.#offer(null)
      await this.#completed
    }
    await this.#target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.#target.finish()
  }

  discard(): void {
    this.run.stop()
    this.#target.discard()
  }

  async #offer(bytes: Uint8Array | null): Promise<void> {
    this.#completed ??= this.#complete()
    const taken = new Promise<void>((resolve) => {
      this.#offered = { bytes, taken: resolve }
    })
    this.#wake?.()
    // A run that has failed reads no more.
    await Promise.race([taken, this.#completed])
  }

  #complete(): Promise<void> {
    const completed = this.run.complete(this.#target).catch((error) => {
      throw inWords(error, this.run.input?.name ?? '')
    })
    // The next write or flush throws the error.
    completed.catch(() => {})
    return completed
  }

  async #read(): Promise<Uint8Array | null> {
    this.#reading?.taken()
    this.#reading = null
    while (this.#offered === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#reading = this.#offered
    this.#offered = null
    if (this.#reading.bytes === null) this.#reading.taken()
    return this.#reading.bytes
  }
}
