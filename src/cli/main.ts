#!/usr/bin/env node
import { run } from './program.ts'

/** Statuses from here on are those of signals: nothing is waited for then. */
const BY_SIGNAL = 128

const args = process.argv.slice(2)

/**
 * A reader that has had enough, such as `head`, closes the pipe: no error of ours, but for a check, whose status
 * is what it is run for. A full disk is an error.
 */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(args[0] === 'verify' ? 1 : 0)
  console.error(`geofix: the output cannot be written: ${error.message}`)
  process.exit(1)
})

/** Nobody reads the failures: the records still go out. */
process.stderr.on('error', () => {})

const status = await run(args, process)
if (status > BY_SIGNAL) process.exit(status)
process.exitCode = status
