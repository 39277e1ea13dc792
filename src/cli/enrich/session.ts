import { CommandFailure, ExitStatus, messageLine, type Terminal } from '../terminal.ts'
import { ClosedPipe, type Output } from './output.ts'
import { openOutputFile } from './output-file.ts'

/** One run of a command that reads lines, with the files and threads that it opened. */
export interface Session {
  complete(): Promise<void>
  /** Removes unfinished files and stops everything. Synchronous; never throws. */
  giveUp(): void
  /** The progress of the run, for the message about an interruption. */
  readonly positionText: string
}

/** Completes a session, unless a signal ends it. @throws what `complete` throws */
export async function runSession(session: Session, terminal: Terminal): Promise<ExitStatus> {
  const giveUp = (): void => session.giveUp()
  // Remove unfinished files even when other code ends the process.
  process.on('exit', giveUp)
  const signals = new SignalWatch(giveUp)
  try {
    await Promise.race([session.complete(), signals.signalled])
    return ExitStatus.ok
  } catch (error) {
    session.giveUp()
    if (error instanceof ClosedPipe) return ExitStatus.ok
    if (!(error instanceof Interruption)) throw error
    // Do not wait for the write: a stalled reader would keep the process alive.
    terminal.stderr.write(messageLine(`${error.message} ${session.positionText}`))
    return error.status
  } finally {
    signals.stop()
    process.off('exit', giveUp)
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
  const end = new AbortController()
  const { signal } = end
  const { add: note } = new Notes(terminal, false, () => {})
  let output: Output | null = null
  const complete = async (): Promise<void> => {
    output = await openOutputFile(path, { terminal, inputs: [], note, signal })
    if (signal.aborted) return output.discard()
    await output.write(bytes)
    await output.finish()
  }
  const giveUp = (): void => {
    end.abort()
    output?.discard()
  }
  return runSession({ complete, giveUp, positionText: `while ${path} was written` }, terminal)
}

const SIGNALS = [
  ['SIGHUP', ExitStatus.hangup],
  ['SIGINT', ExitStatus.interrupted],
  ['SIGTERM', ExitStatus.terminated],
] as const

/** A signal that ends the run. */
export class Interruption extends CommandFailure {}

/** Listens for signals while a run goes on. */
export class SignalWatch {
  /** Rejects with an {@link Interruption} at the first signal; never resolves. */
  readonly signalled: Promise<never>
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[]

  /** @param last called before a second signal ends the process at once */
  constructor(last: () => void) {
    let reject: ((interruption: Interruption) => void) | null = null
    this.signalled = new Promise((_, rejects) => {
      reject = rejects
    })
    // A rejection that nothing awaits would end the process with an error.
    this.signalled.catch(() => {})
    this.#listeners = SIGNALS.map(([signal, status]) => {
      const take = (): void => {
        if (reject === null) {
          last()
          process.exit(status)
        }
        reject(new Interruption(`interrupted by ${signal}`, status))
        reject = null
      }
      return [signal, take]
    })
    for (const [signal, take] of this.#listeners) process.on(signal, take)
  }

  stop(): void {
    for (const [signal, take] of this.#listeners) process.off(signal, take)
  }
}

/** Notes of a command to its user, on standard error. */
export class Notes {
  readonly #noted = new Set<string>()

  /** @param before called before each note, such as to erase the progress from the terminal */
  constructor(
    private readonly terminal: Terminal,
    private readonly isQuiet: boolean,
    private readonly before: () => void,
  ) {}

  readonly add = (note: string): void => {
    if (this.isQuiet) return
    this.before()
    this.terminal.stderr.write(messageLine(note))
  }

  /** The same, but not for a note that was given before. */
  readonly addOnce = (note: string): void => {
    if (this.#noted.has(note)) return
    this.#noted.add(note)
    this.add(note)
  }
}
