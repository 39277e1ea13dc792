import type { Transform } from 'node:stream'
import type { Output } from './output.ts'
import { unwritable } from './system-error.ts'

/** Compresses on the thread pool on the way to another output. */
export class CompressedOutput implements Output {
  readonly #transform: Transform
  readonly #target: Output
  readonly #name: string
  /** Ends when all that comes out is written; it fails with the target. */
  readonly #pump: Promise<void>
  /** The failure, in an object: nothing is known of it. */
  #fault: { readonly cause: unknown } | null = null
  /** Wakes who waits for the bytes to be taken. */
  #wake: (() => void) | null = null

  constructor(transform: Transform, target: Output, name: string) {
    this.#transform = transform
    this.#target = target
    this.#name = name
    this.#pump = this.#passOn()
    // Who writes next, or finishes, meets the error.
    this.#pump.catch((cause) => {
      this.#fault = { cause }
      this.#wake?.()
    })
  }

  async write(bytes: Uint8Array): Promise<void> {
    // Where the target has failed nothing is taken any more.
    if (this.#fault === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#transform.write(bytes, (error) => {
          if (error === null || error === undefined) resolve()
        })
      })
      this.#wake = null
    }
    if (this.#fault !== null) throw this.#fault.cause
  }

  async finish(): Promise<void> {
    this.#transform.end()
    await this.#pump
    await this.#target.finish()
  }

  discard(): void {
    this.#transform.destroy()
    this.#target.discard()
  }

  async #passOn(): Promise<void> {
    const pieces: AsyncIterator<unknown> = this.#transform[Symbol.asyncIterator]()
    for (;;) {
      let piece: IteratorResult<unknown>
      try {
        piece = await pieces.next()
      } catch (cause) {
        throw unwritable(this.#name, cause)
      }
      if (piece.done) return
      if (piece.value instanceof Uint8Array) await this.#target.write(piece.value)
    }
  }
}
