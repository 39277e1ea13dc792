#!/usr/bin/env node
import { ExitStatus, statusOf, unwritable } from './terminal.ts'

/** Higher statuses are those of signals. The process then exits at once. */
const SIGNAL_STATUS = 128

/** How long a service that has ended may take to write what is left to its streams. */
const LAST_WRITES_MS = 250

/**
 * What only an address can be: options begin with a hyphen, and commands have neither a dot nor a colon. The parser of the command
 * line is not loaded for addresses alone: `geofix 81.2.69.142` takes 0.91 of the time without it (57.6 ms of processor time).
 */
const ADDRESS = /^[\da-f]*[.:][\da-f.:]*$/i

const args = process.argv.slice(2)

/**
 * A reader such as `head` closes the pipe when it has enough. That is not an error, except for `verify`, whose result
 * is its status. A full disk is an error, except for `serve`: a service outlives the reader of its log.
 */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (args[0] === 'serve') return
  // A key that cannot be printed is not added: `addKey` says so.
  if (args[0] === 'keys' && args[1] !== 'list') return
  // `enrich` notices it by itself, and can have files to finish. With `--explain`, it has none.
  if (error.code === 'EPIPE' && args[0] === 'enrich' && !args.includes('--explain')) return
  if (error.code === 'EPIPE') process.exit(args[0] === 'verify' ? 1 : 0)
  const { message, status } = unwritable('standard output', error)
  console.error(`geofix: ${message}`)
  process.exit(status)
})

/** Ignored, so that the records are written even if standard error is closed. */
process.stderr.on('error', () => {})

// For an event loop that ends although the command does not.
process.exitCode = ExitStatus.failed
/** Never resolves, since the process ends first. */
export const ended = main()

/** Runs the command, and ends the process. */
async function main(): Promise<void> {
  const isService = args[0] === 'serve'
  // Loaded for this command only: it loads modules for networks.
  if (isService) (await import('./serve/reload-requests.ts')).reloadRequests()
  const isLookup = args.length > 0 && args.every((each) => ADDRESS.test(each))
  const status = await (isLookup
    ? (await import('./lookup-command.ts'))
        .runLookup(args, {}, process)
        .catch((error) => statusOf(error, process))
    : (await import('./program.ts')).run(args, process))
  if (status > SIGNAL_STATUS) process.exit(status)
  const flushed = Promise.all([flush(process.stdout), flush(process.stderr)])
  // Text that nobody reads would keep the service alive.
  await (isService
    ? Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, LAST_WRITES_MS))])
    : flushed)
  // A stream says later that a write failed.
  await new Promise(setImmediate)
  // Exit now, and not at the end of the event loop: there, Node waits for V8's background compiler, which can wait for a garbage
  // collection of this thread, for ever (https://github.com/nodejs/node/issues/54918).
  process.exit(status)
}

/** Waits until the stream has written what it holds, or has failed. */
async function flush(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve))
}
