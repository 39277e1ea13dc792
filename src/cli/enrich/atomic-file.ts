import { fchmodSync, fchownSync, openSync, rmSync, type Stats } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { forgetTemporary, temporaryPath } from './leftovers.ts'
import { DescriptorOutput, type Output } from './output.ts'
import { unwritable } from './system-error.ts'

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
   * @throws CommandFailure when the folder is not writable
   */
  constructor(target: string, replaced: Stats | null = null) {
    this.#target = target
    this.#path = temporaryPath(target)
    try {
      // `x` fails on an existing file or link, such as one that an attacker made.
      const fd = openSync(this.#path, 'wx', replaced === null ? 0o666 : 0o600)
      if (replaced !== null) keepAccess(fd, replaced)
      this.#file = new DescriptorOutput(fd, target)
    } catch (cause) {
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
      forgetTemporary(this.#path)
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
    forgetTemporary(this.#path)
  }
}

/**
 * Gives the new file the owner and permissions of the old one, so that no other user can read it. Where the system
 * or the user's rights do not allow it, the file stays readable by its creator only.
 */
function keepAccess(fd: number, { uid, gid, mode }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
    fchmodSync(fd, mode & 0o7777)
  } catch {}
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
