// The lock of a file of keys, for the commands that change it.
import { closeSync, fstatSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { isRunning, place, startOf } from '../enrich/running-process.ts'
import { codeOf } from '../enrich/system-error.ts'
import { CommandFailure, ExitStatus } from '../terminal.ts'

/** How long to wait for other commands, and how often to look. */
const WAIT_MS = 5000
const INTERVAL_MS = 20

/** What a lock says about its process: where it runs, its number, and when it started. */
const OWNER = /^([\da-f]{8}) (\d{1,10}) (\d*)\n$/

/** The lock of this process. */
export interface KeysLock {
  /** Whether it is still there: people delete locks. */
  readonly isHeld: () => boolean
  readonly release: () => void
}

/**
 * Makes the lock of a file. Waits for another command that has it. The lock of a process that was killed is taken over.
 *
 * @throws CommandFailure when another command keeps it too long, or nobody can know whether that command still runs
 */
export async function lockKeys(file: string): Promise<KeysLock> {
  const path = `${file}.lock`
  for (let waited = 0; ; waited += INTERVAL_MS) {
    try {
      return make(path)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
      const owner = ownerOf(path)
      if (owner === null) rmSync(path, { force: true })
      else if (waited >= WAIT_MS)
        throw new CommandFailure(`${path} exists: ${owner}`, ExitStatus.failed, error)
    }
    await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))
  }
}

function make(path: string): KeysLock {
  // `wx` fails on an existing file or link.
  const fd = openSync(path, 'wx', 0o600)
  try {
    writeSync(fd, `${place()} ${process.pid} ${startOf(process.pid)}\n`)
    // It stays open, so that no other file gets its number.
    const made = fstatSync(fd)
    const isHeld = (): boolean => {
      const found = statSync(path, { throwIfNoEntry: false })
      return made.ino === found?.ino && made.dev === found.dev
    }
    return {
      isHeld,
      release: () => {
        if (isHeld()) rmSync(path, { force: true })
        closeSync(fd)
      },
    }
  } catch (error) {
    rmSync(path, { force: true })
    closeSync(fd)
    throw error
  }
}

/** Who has a lock, and what to do. @returns `null` if its process has ended, or the lock is gone */
function ownerOf(path: string): string | null {
  let text: string
  try {
    text = readFileSync(path, 'latin1')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  const [, where, pid, start] = OWNER.exec(text) ?? []
  if (where !== place()) {
    return 'a command on another machine or in another container may be changing the keys: if none is running, delete that file'
  }
  if (!isRunning(Number(pid)) || startOf(Number(pid)) !== start) return null
  return `process ${pid} is changing the keys: wait for it, or end it`
}
