// Files that appear under their names when they are complete, their temporary names, and what killed runs left.
import {
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { crc32 } from '../../bytes/extract.ts'
import { codeOf, reasonOf } from '../../node/file-state.ts'
import { unwritable } from '../terminal.ts'
import { DescriptorOutput, type Output } from './output.ts'

/**
 * A file that appears under its name when it is complete. Until then, the bytes are in a temporary file in the same
 * folder: a killed run leaves no incomplete file under the name, and an existing file stays as it is.
 */
export class AtomicFile implements Output {
  readonly #target: string
  /** A path in the target's folder, because a rename is atomic only within one file system. */
  readonly #path: string
  readonly #file: DescriptorOutput
  #isFlushed = false
  /** Whether it has its name, or is discarded. */
  #isClosed = false

  /**
   * @param replaced the existing file, whose owner and permissions are kept
   * @param isSecret whether only its owner can read a new file, and whose readers must stay those of the replaced one
   * @throws CommandFailure when the folder is not writable, or a secret file cannot keep its readers
   */
  constructor(target: string, replaced: Stats | null = null, isSecret = false) {
    this.#target = target
    this.#path = temporaryPath(target)
    try {
      // `x` fails on an existing file or link, such as one that an attacker made.
      const fd = openSync(this.#path, 'wx', replaced === null && !isSecret ? 0o666 : 0o600)
      this.#file = new DescriptorOutput(fd, target)
      if (replaced !== null) keepAccess(fd, replaced, isSecret)
    } catch (cause) {
      this.discard()
      throw unwritable(target, cause)
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#file.write(bytes)
  }

  /** Syncs the bytes before the rename, so that a power failure cannot leave an incomplete file. */
  async flush(): Promise<void> {
    if (this.#isFlushed) return
    try {
      await this.#file.sync()
      if (this.#isClosed) return
      await this.#file.close()
      this.#isFlushed = true
    } catch (cause) {
      throw unwritable(this.#target, cause)
    }
  }

  async finish(): Promise<void> {
    await this.flush()
    if (this.#isClosed) return
    try {
      await rename(this.#path, this.#target)
      this.#isClosed = true
      own.delete(this.#path)
      await syncFolder(dirname(this.#target))
    } catch (cause) {
      throw unwritable(this.#target, cause)
    }
  }

  discard(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    // Do not close the descriptor: a pending write could then hit another file with the same number.
    rmSync(this.#path, { force: true })
    own.delete(this.#path)
  }
}

/**
 * Gives the new file the owner and permissions of the old one, so that no other user can read it. Where the system
 * or the user's rights do not allow it, the file stays readable by its creator only.
 */
function keepAccess(fd: number, { uid, gid, mode }: Stats, isSecret: boolean): void {
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    if (!isSecret) return
    // A group without rights does not matter. The owner of the new file is often not in the group of the old one.
    const made = fstatSync(fd)
    if (made.uid !== uid || (made.gid !== gid && (mode & 0o070) !== 0)) throw error
  }
  try {
    fchmodSync(fd, mode & 0o7777)
  } catch (error) {
    if (isSecret) throw error
  }
}

/** Makes the rename durable. Some systems cannot sync a folder; ignore that. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  } catch {}
}

/** File systems allow 255 bytes in a name, and the suffix takes at most 36. */
const MAX_STEM_BYTES = 200

/** A UTF-8 character has at most 4 bytes. */
const MAX_STEM_CHARACTERS = MAX_STEM_BYTES / 4

/** The end of a temporary name: where the process runs, its number, and a random part. */
const SUFFIX = /^\.([\da-f]{8})-(\d{1,10})-[\da-f]{6}\.partial$/

/** The temporary files of this process that still exist. */
const own = new Set<string>()

/** A new temporary path in the folder of an output. It names this process, so that others see whether it still runs. */
function temporaryPath(target: string): string {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(3))).toString('hex')
  const path = join(dirname(target), `${stemOf(target)}.${processSpace()}-${process.pid}-${random}.partial`)
  own.add(path)
  return path
}

/**
 * Removes the temporary files of an output whose processes have ended.
 *
 * A file of a process that still runs is left alone, and so is one from another machine or container, where the number of
 * its process means nothing here.
 *
 * @param isLocked whether only this run may write the output. Then all temporary files go: a process that has lost the lock cannot
 *   give its file the name
 * @returns what to tell the user about each file
 * @throws Error when a file cannot be removed and the output is locked
 */
export function removeLeftovers(target: string, isLocked = false): string[] {
  const folder = dirname(target)
  const stem = stemOf(target)
  return namesIn(folder).flatMap((name) => {
    const [, from, pid] = (name.startsWith(stem) ? SUFFIX.exec(name.slice(stem.length)) : null) ?? []
    const path = join(folder, name)
    const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false
    if (from === undefined || !isFile || (own.has(path) && !isLocked)) return []
    if (from !== processSpace() && !isLocked) {
      return [
        `${path} is left over if the run that wrote it, on another machine or in another container, has ended: remove it then`,
      ]
    }
    // A file with the number of this process, which this process did not make, is from an earlier process.
    if (Number(pid) !== process.pid && !isLocked && isRunning(Number(pid))) return []
    try {
      rmSync(path, { force: true })
      return [`${path} was left over from a run that did not end by itself; it is removed`]
    } catch (error) {
      if (isLocked) throw error
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

/** Eight hexadecimal digits for the set of processes that this process can see. */
export function processSpace(): string {
  // A checksum distinguishes them well enough, and does not load `node:crypto`.
  return crc32(Buffer.from(`${hostname()}\0${processNamespace()}`))
    .toString(16)
    .padStart(8, '0')
}

/** The namespace of process numbers, which containers on one machine do not share. Linux; elsewhere ''. */
function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Whether a process with this number runs, of those that this process can see. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is a process of another user.
    return codeOf(error) !== 'ESRCH'
  }
}
