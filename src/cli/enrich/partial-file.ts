import { randomBytes } from 'node:crypto'
import { fchmodSync, fchownSync, openSync, rmSync, type Stats } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DescriptorOutput } from './descriptor-output.ts'
import type { Output } from './output.ts'
import { unwritable } from './system-error.ts'

/** File systems allow 255 bytes in a name; what is put behind the target's takes 26. */
const LONGEST_NAME = 200

/**
 * A file that gets its name when it is whole. Until then it is another one in the same folder, so that a run
 * that was killed leaves nothing under the name that looks finished, and a file that was there stays.
 */
export class PartialFile implements Output {
  readonly #target: string
  /** Beside the target, since only within a file system a rename takes the place of a file at once. */
  readonly #path: string
  readonly #file: DescriptorOutput
  #isOver = false

  /**
   * @param replaced the file that has the name now, whose owner and permissions are kept
   * @throws CommandFailure when the folder cannot be written
   */
  constructor(target: string, replaced: Stats | null = null) {
    this.#target = target
    this.#path = partialPath(target)
    try {
      // `x`: never into a file that is there, nor through a link that somebody put there.
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

  /** The bytes reach the disk before the name does, also where the power fails. */
  async finish(): Promise<void> {
    try {
      await this.#file.sync()
      if (this.#isOver) return
      await this.#file.close()
      await rename(this.#path, this.#target)
      this.#isOver = true
      await syncFolder(dirname(this.#target))
    } catch (cause) {
      throw unwritable(this.#target, cause)
    }
  }

  discard(): void {
    if (this.#isOver) return
    this.#isOver = true
    // The descriptor stays open where a write may be under way: its number must not go to another file.
    rmSync(this.#path, { force: true })
  }
}

/**
 * Who could not read the old file cannot read the new one. Not every system and not every user can give a file away:
 * where that fails, it stays its maker's alone.
 */
function keepAccess(fd: number, { uid, gid, mode }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
    fchmodSync(fd, mode & 0o7777)
  } catch {}
}

function partialPath(target: string): string {
  const name = Array.from(basename(target))
    .slice(0, LONGEST_NAME / 4)
    .join('')
  return join(dirname(target), `${name}.${randomBytes(6).toString('hex')}.partial`)
}

/** A rename lasts when its folder is on the disk. Not every system can, and then it is its own matter. */
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
