// Whether a file has changed, and why the system cannot read one. A file of its own, so that geofix/http does not load what
// opens databases.
import { type BigIntStats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isError, messageOf } from '../realm.ts'

/**
 * A text that changes when a file does, without reading it: the file that its path leads to, its size, and its times
 * in nanoseconds if the system has them.
 */
export type FileState = string

/** The file of a source. */
export interface SourceFile {
  readonly path: string
  /** Before the file was read. */
  readonly state: FileState
}

const MISSING = 'missing: '

/** The state of the file at a path, through symbolic links. For a missing file, it has the reason. */
export async function fileState(path: string): Promise<FileState> {
  try {
    return stateOf(await stat(path, { bigint: true }))
  } catch (error) {
    return `${MISSING}${error}`
  }
}

/** The synchronous form of {@link fileState}. */
export function fileStateSync(path: string): FileState {
  try {
    return stateOf(statSync(path, { bigint: true }))
  } catch (error) {
    return `${MISSING}${error}`
  }
}

/** Whether the file did not exist or was not accessible. */
export function isMissing(state: FileState): boolean {
  return state.startsWith(MISSING)
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileState {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':')
}

/** Makes a function that runs each task after the earlier ones. */
export function oneAtATime(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(() => {})
    return result
  }
}

/** Makes an error of a callback an uncaught exception, as with event listeners, so that following files continues. */
export function callSafely(call: () => void): void {
  try {
    call()
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}

/** Explanations of system error codes. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'another process listens there',
  EADDRNOTAVAIL: 'this machine does not have the address',
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

/** The code of a system error, such as `ENOSPC`; `undefined` for other values. */
export function codeOf(error: unknown): string | undefined {
  if (!isError(error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The reason of an error, for messages. */
export function reasonOf(cause: unknown): string {
  const code = codeOf(cause)
  const meaning = code === undefined ? undefined : MEANINGS[code]
  if (meaning !== undefined) return `${meaning} (${code})`
  return messageOf(cause)
}
