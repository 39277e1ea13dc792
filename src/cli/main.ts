#!/usr/bin/env node
import { run } from './program.ts'

/** Statuses from here on are those of signals: nothing is waited for then. */
const BY_SIGNAL = 128

/** A reader that has had enough, such as `head`, closes the pipe: no error of ours. A full disk is one. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  console.error(`geofix: the output cannot be written: ${error.message}`)
  process.exit(1)
})

/** Nobody reads the failures: the records still go out. */
process.stderr.on('error', () => {})

const status = await run(process.argv.slice(2), process)
if (status > BY_SIGNAL) process.exit(status)
process.exitCode = status
