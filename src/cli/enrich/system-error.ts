import { CommandFailure, ExitStatus } from '../terminal.ts'

/** Explanations of system error codes. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBADF: 'the descriptor is not open, or not for reading or writing',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be too large',
  EIO: 'the device reports an error',
  EISDIR: 'it is a directory',
  ELOOP: 'too many symbolic links lead to it',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space is left on the device',
  ENOTDIR: 'a part of its path is not a directory',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ESTALE: 'the file is gone from the file server',
}

/** The error for an input that cannot be read. */
export function unreadableInput(name: string, cause: unknown): CommandFailure {
  return new CommandFailure(`${name} cannot be read: ${reasonOf(cause)}`, ExitStatus.input, cause)
}

/** The error for an output that cannot be written. */
export function unwritable(name: string, cause: unknown): CommandFailure {
  return new CommandFailure(`${name} cannot be written: ${reasonOf(cause)}`, ExitStatus.output, cause)
}

/** The error for a directory in place of a file. */
export function directoryError(): Error {
  return Object.assign(new Error('it is a directory'), { code: 'EISDIR' })
}

/** The code of a system error, such as `ENOSPC`; `undefined` for other values. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The reason of an error, for messages. */
export function reasonOf(cause: unknown): string {
  const code = codeOf(cause)
  const meaning = code === undefined ? undefined : MEANINGS[code]
  if (meaning !== undefined) return `${meaning} (${code})`
  return cause instanceof Error ? cause.message : String(cause)
}
