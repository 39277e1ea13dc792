import { type ExitStatus, messageLine, type Terminal } from '../terminal.ts'
import type { Output } from './output.ts'
import { openOutputFile } from './output-file.ts'
import { runSession, type Session } from './session.ts'

/**
 * Writes a file that is made already. A signal ends the run, and leaves no temporary file.
 *
 * Call `checkOutputFile` before the work that makes the bytes. That work need not give way to signals: nothing is open then, so
 * a signal can end the process at once.
 *
 * @returns 0, or the status for a signal
 * @throws CommandFailure when it cannot be written
 */
export function writeWholeFile(path: string, bytes: Uint8Array, terminal: Terminal): Promise<ExitStatus> {
  return runSession(new WholeFile(path, bytes, terminal), terminal)
}

class WholeFile implements Session {
  readonly #path: string
  readonly #bytes: Uint8Array
  readonly #terminal: Terminal
  readonly #end = new AbortController()
  #output: Output | null = null

  constructor(path: string, bytes: Uint8Array, terminal: Terminal) {
    this.#path = path
    this.#bytes = bytes
    this.#terminal = terminal
  }

  async complete(): Promise<void> {
    const output = await openOutputFile(this.#path, {
      terminal: this.#terminal,
      inputs: [],
      note: (text) => void this.#terminal.stderr.write(messageLine(text)),
      signal: this.#end.signal,
    })
    this.#output = output
    if (this.#end.signal.aborted) return output.discard()
    await output.write(this.#bytes)
    await output.finish()
  }

  giveUp(): void {
    this.#end.abort()
    this.#output?.discard()
  }

  get positionText(): string {
    return `while ${this.#path} was written`
  }
}
