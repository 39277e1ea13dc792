/** Where enriched lines go. One call at a time. */
export interface Output {
  /** Resolves when the bytes are taken, and their memory can be used for others. @throws CommandFailure, ClosedPipe */
  write(bytes: Uint8Array): Promise<void>
  /** Writes what is held back, and makes it last. @throws CommandFailure, ClosedPipe */
  finish(): Promise<void>
  /** Gives up: a file that was begun is removed. At once, since the process may be about to end. Never throws. */
  discard(): void
}

/** Whoever read the output has had enough of it, such as `head`. No error. */
export class ClosedPipe extends Error {
  override readonly name = 'ClosedPipe'
}
