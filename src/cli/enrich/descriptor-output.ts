import { close, fsync, write } from 'node:fs'
import { promisify } from 'node:util'
import { ClosedPipe, type Output } from './output.ts'
import { codeOf, unwritable } from './system-error.ts'

const writeTo = promisify(write)
const sync = promisify(fsync)
const closeIt = promisify(close)

/** An open file or device, written on the thread pool: standard output's own stream blocks for those. */
export class DescriptorOutput implements Output {
  readonly #fd: number
  readonly #name: string

  constructor(fd: number, name: string) {
    this.#fd = fd
    this.#name = name
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      // A disk that is nearly full takes a part; the next attempt gives the error.
      for (let at = 0; at < bytes.length; ) {
        at += (await writeTo(this.#fd, bytes, at, bytes.length - at)).bytesWritten
      }
    } catch (cause) {
      throw codeOf(cause) === 'EPIPE' ? new ClosedPipe() : unwritable(this.#name, cause)
    }
  }

  async finish(): Promise<void> {}

  discard(): void {}

  /** Returns when the bytes are on the disk. */
  async sync(): Promise<void> {
    await sync(this.#fd)
  }

  async close(): Promise<void> {
    await closeIt(this.#fd)
  }
}
