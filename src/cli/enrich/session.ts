import { once } from 'node:events'
import { CommandFailure, ExitStatus, messageLine, type Terminal } from '../terminal.ts'
import { ClosedPipe, type Output } from './output.ts'
import { type OutputContext, openOutputFile, openStandardOutput } from './output-file.ts'
import { type Position, Progress } from './statistics.ts'

/** One run of a command that writes files, with what it opens and tells its user. */
export abstract class Session {
  readonly #outputs: Output[] = []
  readonly #targets = new Set<string | number>()
  readonly #noted = new Set<string>()
  #progress: Progress | null = null
  /** `giveUp` aborts it. */
  readonly #end = new AbortController()
  protected readonly signal = this.#end.signal

  constructor(
    protected readonly terminal: Terminal,
    private readonly isQuiet = false,
  ) {}

  protected abstract complete(): Promise<void>

  /** The progress of the run, for the message about an interruption. */
  protected abstract readonly positionText: string

  /** Completes the run, unless a signal ends it. @throws what `complete` throws */
  async run(): Promise<ExitStatus> {
    const giveUp = (): void => this.giveUp()
    // Remove unfinished files even when other code ends the process.
    process.on('exit', giveUp)
    const stop = new AbortController()
    const interruptions = SIGNALS.map(async ([signal, status]) => {
      await once(process, signal, { signal: stop.signal })
      throw new Interruption(`interrupted by ${signal}`, status)
    })
    try {
      await Promise.race([this.complete(), ...interruptions])
      return ExitStatus.ok
    } catch (error) {
      this.giveUp()
      if (error instanceof ClosedPipe) return ExitStatus.ok
      if (!(error instanceof Interruption)) throw error
      // Do not wait for the write: a stalled reader would keep the process alive.
      this.terminal.stderr.write(messageLine(`${error.message} ${this.positionText}`))
      return error.status
    } finally {
      stop.abort()
      process.off('exit', giveUp)
    }
  }

  /** Removes unfinished files and stops everything. Synchronous; never throws. */
  protected giveUp(): void {
    this.#end.abort()
    for (const output of this.#outputs) output.discard()
    this.endProgress()
  }

  /** @param path `undefined` for standard output */
  protected async openOutput(
    path: string | undefined,
    read: Pick<OutputContext, 'inputs' | 'reads'> = {},
  ): Promise<Output> {
    const { signal, terminal, note } = this
    const context = { ...read, targets: this.#targets, terminal, note, signal }
    return this.keep(await (path === undefined ? openStandardOutput(context) : openOutputFile(path, context)))
  }

  /** Discards an output if the run gives up. */
  protected keep<Kept extends Output>(output: Kept): Kept {
    this.#outputs.push(output)
    if (this.signal.aborted) output.discard()
    return output
  }

  /** Shows the progress on a terminal. @param isMixed whether the output is on the same terminal */
  protected showProgress(position: () => Position, isMixed: boolean): void {
    const { stderr, stdout } = this.terminal
    if (stderr.isTTY === true && !this.isQuiet && !(isMixed && stdout.isTTY === true))
      this.#progress = new Progress(stderr, position)
  }

  protected endProgress(): void {
    this.#progress?.stop()
  }

  /** Tells the user something that is not an error. */
  protected readonly note = (text: string): void => {
    if (this.isQuiet) return
    this.#progress?.clear()
    this.terminal.stderr.write(messageLine(text))
  }

  /** {@link note}, unless the note was given before. */
  protected readonly noteOnce = (text: string): void => {
    if (this.#noted.has(text)) return
    this.#noted.add(text)
    this.note(text)
  }
}

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
  return new WholeFile(path, bytes, terminal).run()
}

class WholeFile extends Session {
  constructor(
    private readonly path: string,
    private readonly bytes: Uint8Array,
    terminal: Terminal,
  ) {
    super(terminal)
  }

  protected override async complete(): Promise<void> {
    const output = await this.openOutput(this.path)
    if (this.signal.aborted) return
    await output.write(this.bytes)
    await output.finish()
  }

  protected override get positionText(): string {
    return `while ${this.path} was written`
  }
}

const SIGNALS = [
  ['SIGHUP', ExitStatus.hangup],
  ['SIGINT', ExitStatus.interrupted],
  ['SIGTERM', ExitStatus.terminated],
] as const

/** A signal that ends the run. */
class Interruption extends CommandFailure {}
