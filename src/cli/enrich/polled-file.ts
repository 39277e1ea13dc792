// Pipes and terminals, which can keep their reader or writer waiting, on the event loop. In the thread pool of Node's
// own file functions a call waits for the other end, and the process cannot end before it has returned, not even by
// process.exit(). Imported where there is one: it loads Node's module for networks, as standard input does for a pipe.
import { closeSync, constants, open, openSync } from 'node:fs'
// biome-ignore lint/style/noRestrictedImports: Node has no other stream over a pipe that is open; it connects nowhere.
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { isatty, ReadStream } from 'node:tty'
import { promisify } from 'node:util'
import { codeOf } from './system-error.ts'

const openIt = promisify(open)

/** Linux lets a descriptor that does not block wait for the first writer; elsewhere it would read an end. */
const READ_FLAGS =
  process.platform === 'linux' ? constants.O_RDONLY | constants.O_NONBLOCK : constants.O_RDONLY

const WRITE_FLAGS = constants.O_WRONLY | constants.O_NONBLOCK

/** Between two attempts to open a pipe that nobody reads. */
const RETRY_MS = 20

/**
 * Opens a named pipe for reading. Its stream ends with the last writer.
 *
 * @param signal destroys the stream
 */
export async function openPipeToRead(path: string, signal?: AbortSignal): Promise<Socket> {
  const fd = await openIt(path, READ_FLAGS)
  return new Socket({ fd, readable: true, writable: false, signal })
}

/**
 * Opens a named pipe for writing, as soon as somebody reads it.
 *
 * @param signal ends the wait, and destroys the stream
 */
export async function openPipeToWrite(path: string, signal: AbortSignal): Promise<Socket> {
  for (;;) {
    try {
      return pipeWriter(await openIt(path, WRITE_FLAGS), signal)
    } catch (error) {
      if (codeOf(error) !== 'ENXIO') throw error
    }
    await setTimeout(RETRY_MS, undefined, { signal })
  }
}

/** The stream that writes into an open pipe or socket. */
export function pipeWriter(fd: number, signal: AbortSignal): Socket {
  const stream = new Socket({ fd, readable: false, writable: true, signal })
  // Who writes is told of errors; one that comes after the last write matters to nobody.
  return stream.on('error', () => {})
}

/** Opens a device for reading if it is a terminal, and else gives `null`. */
export function openTerminal(path: string): Readable | null {
  const fd = openSync(path, 'r')
  if (isatty(fd)) return new ReadStream(fd)
  closeSync(fd)
  return null
}
