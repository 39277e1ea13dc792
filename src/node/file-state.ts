// Whether a file has changed. A file of its own, so that geofix/http does not load what opens databases.
import { type BigIntStats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

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
