// The interface of outputs, and three of them: a file descriptor, a stream, and a compressor before another output.

import { close, fsync, writeFile } from 'node:fs'
import { finished, type Transform, type Writable } from 'node:stream'
import { promisify } from 'node:util'
import { codeOf } from '../../node/file-state.ts'
import { CommandFailure, unwritable } from '../terminal.ts'

/** Where enriched lines go. Make one call at a time. */
export interface Output {
  /** Resolves when the bytes are written, and their memory can be reused. @throws CommandFailure, ClosedPipe */
  write(bytes: Uint8Array): Promise<void>
  /** Writes buffered bytes. An atomic file is then durable, but does not have its name. @throws CommandFailure, ClosedPipe */
  flush(): Promise<void>
  /** Flushes. An atomic file then has its name. @throws CommandFailure, ClosedPipe */
  finish(): Promise<void>
  /** Gives up and removes an unfinished file. Synchronous, since the process may be exiting. Never throws. */
  discard(): void
}

/** The reader of the output closed it, as `head` does. Not a failure: the command exits with 0. */
export class ClosedPipe extends Error {
  override readonly name = 'ClosedPipe'
}

/** Writes all of the bytes, or fails: a disk that is nearly full accepts only a part. */
const writeAsync = promisify(writeFile)
const fsyncAsync = promisify(fsync)
const closeAsync = promisify(close)

/** An open file or device, written on the thread pool. Node's stream for standard output would block for these. */
export class DescriptorOutput implements Output {
  constructor(
    private readonly fd: number,
    private readonly name: string,
  ) {}

  async write(bytes: Uint8Array): Promise<void> {
    try {
      await writeAsync(this.fd, bytes)
    } catch (cause) {
      throw codeOf(cause) === 'EPIPE' ? new ClosedPipe() : unwritable(this.name, cause)
    }
  }

  async flush(): Promise<void> {}

  async finish(): Promise<void> {}

  discard(): void {}

  /** Resolves when the bytes are on the disk. */
  async sync(): Promise<void> {
    await fsyncAsync(this.fd)
  }

  async close(): Promise<void> {
    await closeAsync(this.fd)
  }
}

/** Waits for the writes to a stream. One that fails need not call back, so what watches it calls `fail`. */
class StreamWriter {
  /** Wrapped in an object, because the error can have any type. */
  #failure: { readonly cause: unknown } | null = null
  /** Resolves the write that is waiting. */
  #wake: (() => void) | null = null

  constructor(private readonly stream: Writable) {}

  /** The waiting write and all further ones throw this. */
  readonly fail = (cause: unknown): void => {
    this.#failure = { cause }
    this.#wake?.()
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failure === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.stream.write(bytes, (error) => {
          if (!error) resolve()
        })
      })
      this.#wake = null
    }
    if (this.#failure !== null) throw this.#failure.cause
  }
}

/** A pipe or a terminal. Waits for a slow reader. */
export class StreamOutput implements Output {
  readonly #writer: StreamWriter
  readonly #stopWatching: () => void

  /** @param isOwned whether to destroy the stream at the end */
  constructor(
    private readonly stream: Writable,
    name: string,
    private readonly isOwned = false,
  ) {
    this.#writer = new StreamWriter(stream)
    // Reports errors, and a stream that other code destroyed or ended.
    this.#stopWatching = finished(stream, { readable: false }, (error) => {
      const code = error ? codeOf(error) : 'EPIPE'
      const isClosed = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code ?? '')
      this.#writer.fail(isClosed ? new ClosedPipe() : unwritable(name, error))
    })
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#writer.write(bytes)
  }

  async flush(): Promise<void> {
    await this.write(new Uint8Array(0))
  }

  /** Resolves when all bytes are written. Does not close a stream that is not owned. */
  async finish(): Promise<void> {
    await this.flush()
    this.discard()
  }

  discard(): void {
    this.#stopWatching()
    if (this.isOwned) this.stream.destroy()
  }
}

/** Compresses on the thread pool, and writes the result to another output. */
export class CompressedOutput implements Output {
  readonly #writer: StreamWriter
  /** Resolves when all compressed bytes are written. Rejects when the target does. */
  readonly #copied: Promise<void>

  constructor(
    private readonly transform: Transform,
    private readonly target: Output,
    name: string,
  ) {
    this.#writer = new StreamWriter(transform)
    const copy = async (): Promise<void> => {
      for await (const chunk of transform) await target.write(chunk)
    }
    this.#copied = copy().catch((cause) => {
      throw cause instanceof CommandFailure || cause instanceof ClosedPipe ? cause : unwritable(name, cause)
    })
    // The next write() or finish() throws the error.
    this.#copied.catch(this.#writer.fail)
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#writer.write(bytes)
  }

  async flush(): Promise<void> {
    this.transform.end()
    await this.#copied
    await this.target.flush()
  }

  async finish(): Promise<void> {
    await this.flush()
    await this.target.finish()
  }

  discard(): void {
    this.transform.destroy()
    this.target.discard()
  }
}
