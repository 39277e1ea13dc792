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

/** A pipe or a terminal. Waits for a slow reader. */
export class StreamOutput implements Output {
  /** The waiting write and all further ones throw it. */
  #failure: Error | null = null
  /** Ends the write that is waiting: the stream need not call back when it fails. */
  #wake: (() => void) | null = null
  readonly #stopWatching: () => void

  /** @param isOwned whether to destroy the stream at the end */
  constructor(
    private readonly stream: Writable,
    private readonly name: string,
    private readonly isOwned = false,
  ) {
    // Reports errors, and a stream that other code destroyed or ended.
    this.#stopWatching = finished(stream, { readable: false }, (error) => this.fail(error))
  }

  /** @param cause why the stream failed, or what its output throws; none if it ended. @returns the failure */
  protected fail(cause?: unknown): Error {
    const code = cause ? codeOf(cause) : 'EPIPE'
    const isClosed = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code ?? '')
    const isTold = cause instanceof CommandFailure || cause instanceof ClosedPipe
    this.#failure = isTold ? cause : isClosed ? new ClosedPipe() : unwritable(this.name, cause)
    this.#wake?.()
    return this.#failure
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
    if (this.#failure !== null) throw this.#failure
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
export class CompressedOutput extends StreamOutput {
  /** Resolves when all compressed bytes are written. Rejects when the target does. */
  readonly #copied: Promise<void>

  constructor(
    private readonly transform: Transform,
    private readonly target: Output,
    name: string,
  ) {
    super(transform, name, true)
    const copy = async (): Promise<void> => {
      for await (const chunk of transform.iterator({ destroyOnReturn: false })) await target.write(chunk)
    }
    this.#copied = copy().catch((cause) => {
      throw this.fail(cause)
    })
    // The next write() or flush() throws it.
    this.#copied.catch(() => {})
  }

  override async flush(): Promise<void> {
    this.transform.end()
    await this.#copied
    await this.target.flush()
  }

  override async finish(): Promise<void> {
    await this.flush()
    await this.target.finish()
  }

  override discard(): void {
    super.discard()
    this.target.discard()
  }
}
