// Streams of named pipes and terminals, on the event loop. Node's file functions run on the thread pool, where a call
// blocks until the other end of a pipe opens or writes; until then not even process.exit() ends the process.
// Import this file lazily: it loads node:net.
import { closeSync, constants, open, openSync } from 'node:fs'
// biome-ignore lint/style/noRestrictedImports: Node's only stream for an open pipe. It connects to nothing.
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { isatty, ReadStream } from 'node:tty'
import { promisify } from 'node:util'
import { codeOf } from '../../node/file-state.ts'

const openAsync = promisify(open)

/** On Linux, a non-blocking descriptor waits for the first writer. Other systems would report the end at once. */
const READ_FLAGS =
  process.platform === 'linux' ? constants.O_RDONLY | constants.O_NONBLOCK : constants.O_RDONLY

const WRITE_FLAGS = constants.O_WRONLY | constants.O_NONBLOCK

/** The interval between two attempts to open a pipe that has no reader. */
const RETRY_MS = 20

/**
 * Opens a named pipe for reading. The stream ends when the last writer closes it.
 *
 * @param signal destroys the stream
 */
export async function openPipeToRead(path: string, signal?: AbortSignal): Promise<Socket> {
  const fd = await openAsync(path, READ_FLAGS)
  return new Socket({ fd, readable: true, writable: false, signal })
}

/**
 * Waits until a named pipe has a reader, then opens it for writing.
 *
 * @param signal ends the wait and destroys the stream
 */
export async function openPipeToWrite(path: string, signal: AbortSignal): Promise<Socket> {
  for (;;) {
    try {
      return pipeWriter(await openAsync(path, WRITE_FLAGS), signal)
    } catch (error) {
      if (codeOf(error) !== 'ENXIO') throw error
    }
    await setTimeout(RETRY_MS, undefined, { signal })
  }
}

/** The stream that writes into an open pipe or socket. */
export function pipeWriter(fd: number, signal: AbortSignal): Socket {
  const stream = new Socket({ fd, readable: false, writable: true, signal })
  // write() reports errors to its caller. Ignore an error after the last write.
  return stream.on('error', () => {})
}

/** Opens a terminal for reading. @returns `null` for other devices */
export function openTerminal(path: string): Readable | null {
  const fd = openSync(path, 'r')
  if (isatty(fd)) return new ReadStream(fd)
  closeSync(fd)
  return null
}
