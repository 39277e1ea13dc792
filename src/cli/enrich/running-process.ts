// Which process it is, for the names of temporary files and for locks.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { crc32 } from '../../bytes/gzip-member.ts'
import { codeOf } from './system-error.ts'

/** Eight hexadecimal digits for the set of processes that this process can see. */
export function place(): string {
  // Not a cryptographic hash: `node:crypto` takes long to load.
  return crc32(Buffer.from(`${hostname()}\0${processSpace()}`))
    .toString(16)
    .padStart(8, '0')
}

/** The namespace of process numbers, which containers on one machine do not share. Linux; elsewhere ''. */
function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Whether a process runs at this place. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is a process of another user.
    return codeOf(error) !== 'ESRCH'
  }
}

/** When a process started, in a unit of the system, so that a later process with its number differs. Linux; elsewhere ''. */
export function startOf(pid: number): string {
  try {
    // The name of the program is in parentheses, and can have any character. The start is the 20th field after it.
    return (
      readFileSync(`/proc/${pid}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ')[19] ?? ''
    )
  } catch {
    return ''
  }
}
