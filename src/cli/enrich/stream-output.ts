import { finished, type Writable } from 'node:stream'
import { ClosedPipe, type Output } from './output.ts'
import { codeOf, unwritable } from './system-error.ts'

/** A pipe or a terminal: waits where its reader is slower. */
export class StreamOutput implements Output {
  readonly #stream: Writable
  readonly #name: string
  readonly #isOurs: boolean
  #fault: Error | null = null
  /** Wakes who waits for the bytes to be taken. */
  #wake: (() => void) | null = null
  readonly #stopWatching: () => void

  /** @param isOurs whether it was opened for this, and is closed at the end */
  constructor(stream: Writable, name: string, isOurs = false) {
    this.#stream = stream
    this.#name = name
    this.#isOurs = isOurs
    // Tells of errors and of a stream that somebody destroyed.
    this.#stopWatching = finished(stream, { readable: false }, (error) => {
      this.#fault = error === null || error === undefined ? new ClosedPipe() : this.#failure(error)
      this.#wake?.()
    })
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#fault !== null) throw this.#fault
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      // Errors come by `finished`.
      this.#stream.write(bytes, (error) => {
        if (error === null || error === undefined) resolve()
      })
    })
    this.#wake = null
    if (this.#fault !== null) throw this.#fault
  }

  /** A stream that is not ours goes on; what it holds is written before the process ends. */
  async finish(): Promise<void> {
    await this.write(new Uint8Array(0))
    this.discard()
  }

  discard(): void {
    this.#stopWatching()
    if (this.#isOurs) this.#stream.destroy()
  }

  #failure(error: Error): Error {
    const isClosed = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(codeOf(error) ?? '')
    return isClosed ? new ClosedPipe() : unwritable(this.#name, error)
  }
}
