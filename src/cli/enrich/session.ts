import { ExitStatus, messageLine, type Terminal } from '../terminal.ts'
import { Interruption, SignalWatch } from './interruption.ts'
import { ClosedPipe } from './output.ts'

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
