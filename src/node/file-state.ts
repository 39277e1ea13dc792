import { type BigIntStats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/**
 * What tells one content of a file from the next, without reading it: which file its path leads to, its size,
 * and when it was written, to the nanosecond where the system knows it. Equal texts are equal states.
 */
export type FileState = string

const MISSING = 'missing: '

/** The state of the file that a path leads to, through symbolic links; of a missing one, why. */
export async function fileState(path: string): Promise<FileState> {
  try {
    return stateOf(await stat(path, { bigint: true }))
  } catch (error) {
    return `${MISSING}${error}`
  }
}

/** The same at once. */
export function fileStateSync(path: string): FileState {
  try {
    return stateOf(statSync(path, { bigint: true }))
  } catch (error) {
    return `${MISSING}${error}`
  }
}

/** Whether there was no file, or none that may be looked at. */
export function isMissing(state: FileState): boolean {
  return state.startsWith(MISSING)
}

function stateOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): FileState {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':')
}
