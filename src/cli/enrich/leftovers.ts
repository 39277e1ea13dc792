// The temporary names of outputs. Finds the files with such names that killed runs left.
import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isRunning, place } from './running-process.ts'
import { reasonOf } from './system-error.ts'

/** File systems allow 255 bytes in a name, and the suffix takes at most 36. */
const MAX_STEM_BYTES = 200

/** A UTF-8 character has at most 4 bytes. */
const MAX_STEM_CHARACTERS = MAX_STEM_BYTES / 4

/** The end of a temporary name: where the process runs, its number, and a random part. */
const SUFFIX = /^\.([\da-f]{8})-(\d{1,10})-[\da-f]{6}\.partial$/

/** The temporary files of this process that still exist. */
const own = new Set<string>()

/** A new temporary path in the folder of an output. It names this process, so that others see whether it still runs. */
export function temporaryPath(target: string): string {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(3))).toString('hex')
  const path = join(dirname(target), `${stemOf(target)}.${place()}-${process.pid}-${random}.partial`)
  own.add(path)
  return path
}

/** Call this when a temporary file of this process has its final name, or is removed. */
export function forgetTemporary(path: string): void {
  own.delete(path)
}

/**
 * Removes the temporary files of an output whose processes have ended.
 *
 * A file of a process that still runs is left alone, and so is one from another machine or container, where the number of
 * its process means nothing here.
 *
 * @returns what to tell the user about each file
 */
export function removeLeftovers(target: string): string[] {
  const folder = dirname(target)
  const stem = stemOf(target)
  return namesIn(folder).flatMap((name) => {
    const [, from, pid] = (name.startsWith(stem) ? SUFFIX.exec(name.slice(stem.length)) : null) ?? []
    const path = join(folder, name)
    if (from === undefined || own.has(path) || !isFile(path)) return []
    if (from !== place()) {
      return [
        `${path} is left over if the run that wrote it, on another machine or in another container, has ended: remove it then`,
      ]
    }
    // A file with the number of this process, which this process did not make, is from an earlier process.
    if (Number(pid) !== process.pid && isRunning(Number(pid))) return []
    try {
      rmSync(path, { force: true })
      return [`${path} was left over from a run that did not end by itself; it is removed`]
    } catch (error) {
      return [
        `${path} is left over from a run that did not end by itself, and cannot be removed: ${reasonOf(error)}`,
      ]
    }
  })
}

function stemOf(target: string): string {
  return Array.from(basename(target)).slice(0, MAX_STEM_CHARACTERS).join('')
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Opening the output reports it.
    return []
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
