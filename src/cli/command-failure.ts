import type { ExitStatus } from './terminal.ts'

/** Ends a command with a message for the user and a status. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure'
  readonly status: ExitStatus

  constructor(message: string, status: ExitStatus, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
  }
}

/** What an option was given is wrong; the message says what to write. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
